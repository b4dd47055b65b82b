package editor

import (
	"errors"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/assist"
)

// NewContext returns the context of a part of a rule. The engine e must be compiled from crd, which must include its
// descriptions. NewContext returns nil if the CRD has no rules at that path. An error is always internal.
func NewContext(e *engine.Engine, crd *apiextensionsv1.CustomResourceDefinition, at *RuleAt, optionalOldSelf bool, functions *assist.Functions) (*assist.Context, error) {
	if at.Version < 0 || at.Version >= len(crd.Spec.Versions) || crd.Spec.Versions[at.Version].Schema == nil {
		return nil, nil
	}
	v := &crd.Spec.Versions[at.Version]
	c, err := assist.NewContext(e, v.Schema.OpenAPIV3Schema, v.Name, engine.FormatPath(at.Steps))
	var bug *engine.InternalError
	switch {
	case errors.As(err, &bug):
		return nil, err
	case err != nil: // the schema has changed since it was last valid
		return nil, nil
	}
	c.Part, c.OptionalOldSelf, c.Functions = at.Part(), optionalOldSelf, functions
	return c, nil
}

package roundtrip

import (
	"context"
	"errors"
	"fmt"
	"maps"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis"
)

type crdForms struct {
	plainEngine *engine.Engine
	plain       *apiextensionsv1.CustomResourceDefinition
	// stored holds engines for conversion, by storage version.
	stored  map[string]*engine.Engine
	schemas map[string]*apiextensionsv1.JSONSchemaProps
	// versions are the versions that are served or stored; hub is the storage version.
	versions []string
	hub      string
}

func newForms(crd *apiextensionsv1.CustomResourceDefinition, c engine.Converter) (*crdForms, error) {
	w := &crdForms{stored: map[string]*engine.Engine{}, schemas: map[string]*apiextensionsv1.JSONSchemaProps{}, plain: forValidation(crd)}
	var err error
	var broken *engine.CompileErrors
	if w.plainEngine, err = engine.Compile(w.plain, engine.Config{}); err != nil && !errors.As(err, &broken) {
		return nil, err
	}
	for _, v := range crd.Spec.Versions {
		if !v.Served && !v.Storage {
			continue
		}
		if v.Storage {
			w.hub = v.Name
		}
		w.versions = append(w.versions, v.Name)
		w.schemas[v.Name] = v.Schema.OpenAPIV3Schema
		if w.stored[v.Name], err = engine.Compile(withoutRulesAndDefaults(w.plain, v.Name), engine.Config{Converter: c}); err != nil {
			return nil, err
		}
	}
	if len(w.versions) < 2 {
		return nil, fmt.Errorf("%s: nothing to convert (got only version %s, want two that are served or stored)", crd.Name, w.hub)
	}
	return w, nil
}

// forValidation returns the CRD with the status as an ordinary field, so that objects are validated as a
// whole, and with conversion by a webhook.
func forValidation(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	reviews := []string{"v1", "v1beta1"}
	if c := crd.Spec.Conversion; c != nil && c.Webhook != nil {
		reviews = c.Webhook.ConversionReviewVersions
	}
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook:  &apiextensionsv1.WebhookConversion{ConversionReviewVersions: reviews},
	}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		v.Served = v.Served || v.Storage
		if v.Subresources != nil {
			v.Subresources.Status = nil
		}
	}
	return crd
}

func withoutRulesAndDefaults(crd *apiextensionsv1.CustomResourceDefinition, stored string) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		v.Storage = v.Name == stored
		strip(v.Schema.OpenAPIV3Schema)
	}
	return crd
}

func strip(s *apiextensionsv1.JSONSchemaProps) {
	s.Default, s.XValidations = nil, nil
	for name, p := range s.Properties {
		strip(&p)
		s.Properties[name] = p
	}
	if s.Items != nil && s.Items.Schema != nil {
		strip(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		strip(s.AdditionalProperties.Schema)
	}
}

func (w *crdForms) samples(ctx context.Context, version string, seed uint64, n int, yield func(map[string]any) bool) error {
	a, err := analysis.New(w.plain, w.plainEngine, version, analysis.Config{Seed: seed})
	if err != nil {
		return err
	}
	return a.Samples(ctx, n, yield)
}

// admits validates an object and returns it with defaults if it is accepted. Both results are nil
// if the work limit is exceeded.
func (w *crdForms) admits(ctx context.Context, obj map[string]any) (whole map[string]any, res *engine.Result, err error) {
	res, err = w.plainEngine.Validate(ctx, engine.Request{Object: obj, FieldValidation: "Ignore"})
	var limit *engine.WorkLimitError
	if errors.As(err, &limit) {
		return nil, nil, nil
	}
	if err != nil || !res.Allowed {
		return nil, res, err
	}
	whole = maps.Clone(res.Object)
	whole["metadata"] = obj["metadata"]
	return whole, res, nil
}

package compare

import (
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// A hybrid is a CRD with only one side's version, to which the rule of a goal is added.
type hybrid struct {
	crd *apiextensionsv1.CustomResourceDefinition
	ref engine.RuleRef
}

// hybridOf adds a goal's rule to a side. It returns nil if the path does not exist.
func hybridOf(s *side, g *goal) *hybrid {
	h := &hybrid{}
	rule := aRule{Rule: g.rule}
	if g.from != nil {
		rule.OptionalOldSelf = g.from.OptionalOldSelf
	}
	root, ok := crdcopy.Schema(s.schema(), g.at.steps, func(p *props) {
		p.XValidations = append(slices.Clip(p.XValidations), rule)
		h.ref = engine.RuleRef{
			Version: s.version.Name, Path: engine.FormatPath(g.at.steps), Index: len(p.XValidations) - 1,
			Rule: rule.Rule, OptionalOldSelf: optional(&rule),
		}
	})
	if !ok {
		return nil
	}
	h.crd = alone(s, root)
	return h
}

// alone returns a side's CRD with only its version and the given root schema.
func alone(s *side, root *props) *apiextensionsv1.CustomResourceDefinition {
	crd := *s.crd
	v := *s.version
	v.Served, v.Storage = true, true
	v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: s.pinned(root)}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{v}
	crd.Spec.Conversion = nil
	return &crd
}

// pinned returns a root schema in which apiVersion and kind have their only possible value as an enum.
func (s *side) pinned(root *props) *props {
	for name, only := range map[string]string{"apiVersion": s.crd.Spec.Group + "/" + s.version.Name, "kind": s.crd.Spec.Names.Kind} {
		root, _ = crdcopy.Schema(root, []engine.Step{{Name: name}}, func(p *props) {
			p.Enum = []apiextensionsv1.JSON{{Raw: strconv.AppendQuote(nil, only)}}
		})
	}
	return root
}

// decoded decodes a JSON value as engines do.
func decoded(raw []byte) (any, error) {
	obj, err := engine.Decode(slices.Concat([]byte(`{"v":`), raw, []byte("}")))
	if err != nil {
		return nil, err
	}
	return obj["v"], nil
}

package compare

import (
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// A hybrid is a CRD with only one side's version, to which the rule of a goal is added.
type hybrid struct {
	crd *apiextensionsv1.CustomResourceDefinition
	ref engine.RuleRef
	// grafted is set if the rule needed fields that the side does not have. They were added, but
	// objects cannot have them.
	grafted bool
}

// hybridOf adds a goal's rule to a side. If addPath is set, it also adds fields that the rule's own
// side has at the path and this side does not have; no object of this side has them. ok is false if
// the path does not exist.
func hybridOf(s *side, g *goal, addPath bool) (h *hybrid, ok bool) {
	h = &hybrid{grafted: addPath}
	rule := aRule{Rule: g.rule}
	if g.from != nil {
		rule.OptionalOldSelf = g.from.OptionalOldSelf
	}
	root, ok := crdcopy.Schema(s.schema(), g.at.steps, func(p *props) {
		if addPath {
			*p = *p.DeepCopy()
			addMissingFields(p, g.schema)
		}
		p.XValidations = append(slices.Clip(p.XValidations), rule)
		h.ref = engine.RuleRef{
			Version: s.version.Name, Path: engine.FormatPath(g.at.steps), Index: len(p.XValidations) - 1,
			Rule: rule.Rule, OptionalOldSelf: optional(&rule),
		}
	})
	if !ok {
		return nil, false
	}
	h.crd = alone(s, root)
	return h, true
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

// pinned returns a root schema in which apiVersion and kind have their only possible value as an
// enum.
func (s *side) pinned(root *props) *props {
	for name, only := range map[string]string{"apiVersion": s.crd.Spec.Group + "/" + s.version.Name, "kind": s.crd.Spec.Names.Kind} {
		root, _ = crdcopy.Schema(root, []engine.Step{{Name: name}}, func(p *props) {
			p.Enum = []apiextensionsv1.JSON{{Raw: strconv.AppendQuote(nil, only)}}
		})
	}
	return root
}

// addMissingFields adds fields of src that dst does not have, and rules that forbid them. Fields with a
// scalar default must have it instead, because every object gets it.
func addMissingFields(dst, src *props) {
	if src == nil {
		return
	}
	if dst.Items != nil && src.Items != nil && dst.Items.Schema != nil {
		addMissingFields(dst.Items.Schema, src.Items.Schema)
	}
	if below := valuesOf(dst); below != nil {
		addMissingFields(below, valuesOf(src))
	}
	for _, name := range sortedKeys(src.Properties) {
		field := src.Properties[name]
		if own, ok := dst.Properties[name]; ok {
			addMissingFields(&own, &field)
			dst.Properties[name] = own
			continue
		}
		ident, ok := types.Escape(name)
		if !ok || dst.Type != "object" || valuesOf(dst) != nil {
			continue
		}
		rule := "!has(self." + ident + ")"
		switch defaultValue(&field).(type) {
		case string, int64, float64, bool:
			rule = "self." + ident + " == " + literal(field.Default.Raw, field.Type)
		default:
			field.Default = nil
		}
		field = *field.DeepCopy()
		if dst.Properties == nil {
			dst.Properties = map[string]props{}
		}
		dst.Properties[name] = field
		dst.XValidations = append(dst.XValidations, aRule{Rule: rule})
	}
}

// defaultValue returns the default of a schema, or nil.
func defaultValue(s *props) any {
	if s.Default == nil {
		return nil
	}
	v, _ := decoded(s.Default.Raw)
	return v
}

// decoded decodes a JSON value as engines do.
func decoded(raw []byte) (any, error) {
	obj, err := engine.Decode(slices.Concat([]byte(`{"v":`), raw, []byte("}")))
	if err != nil {
		return nil, err
	}
	return obj["v"], nil
}

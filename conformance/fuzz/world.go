package fuzz

import (
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/types"
)

// world is one made-up schema with rules, an object, and perhaps an old one.
type world struct {
	seed   uint64
	props  *props
	schema *schema.Structural
	obj    map[string]any
	old    map[string]any // nil: a create
}

// newWorld is nil where the schema came out as one that no CRD can have.
func newWorld(seed uint64, lib *library) *world {
	c := newChoice(seed)
	w := &world{seed: seed, props: c.rootSchema()}
	bare := structural(w.props)
	if bare == nil {
		return nil
	}
	c.addRules(lib, w.props, types.FromSchema(bare, types.ResourceRoot), 0)
	w.schema = structural(w.props)
	w.objects(c)
	return w
}

func (w *world) objects(c choice) {
	wrong := pick(c, []int{0, 0, 40, 12})
	w.obj = identified(c.fields(w.props, wrong), c)
	if c.one(3) {
		return
	}
	old, ok := c.mutate(w.obj, w.props, pick(c, []int{4, 12, 1000})).(map[string]any)
	if !ok {
		old = map[string]any{}
	}
	w.old = identified(old, c)
}

// identified makes a resource of a made-up object.
func identified(obj map[string]any, c choice) map[string]any {
	obj["apiVersion"], obj["kind"] = group+"/"+version, kind
	obj["metadata"] = map[string]any{"name": "thing", "namespace": "default"}
	if c.one(8) {
		obj["metadata"].(map[string]any)["labels"] = map[string]any{"a": "b"}
	}
	return obj
}

const (
	group   = "fuzz.example.com"
	version = "v1"
	kind    = "Thing"
)

func structural(p *props) *schema.Structural {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(p, internal, nil); err != nil {
		return nil
	}
	s, err := schema.NewStructural(internal)
	if err != nil {
		return nil
	}
	return s
}

// addRules puts rules on a node, and on those below it.
func (c choice) addRules(lib *library, p *props, d *types.Decl, depth int) {
	if d.Kind != types.Hidden && (depth == 0 || c.one(3)) {
		for range 1 + c.IntN(3) {
			p.XValidations = append(p.XValidations, c.rule(lib, d))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Properties)) {
		prop := p.Properties[name]
		if d.Root && name == "metadata" {
			continue // no CRD may have rules there
		}
		if f := d.Fields[name]; f != nil {
			c.addRules(lib, &prop, f.Decl, depth+1)
		}
		p.Properties[name] = prop
	}
	if d.Elem == nil {
		return
	}
	if p.Items != nil && p.Items.Schema != nil {
		c.addRules(lib, p.Items.Schema, d.Elem, depth+1)
	}
	if p.AdditionalProperties != nil && p.AdditionalProperties.Schema != nil {
		c.addRules(lib, p.AdditionalProperties.Schema, d.Elem, depth+1)
	}
}

func (c choice) rule(lib *library, d *types.Decl) apiextensionsv1.ValidationRule {
	transition := c.one(3)
	w := newWriter(c, lib, d, transition)
	r := apiextensionsv1.ValidationRule{Rule: w.rule()}
	if transition && !w.mentionsOld(r.Rule) {
		r.Rule = "(" + r.Rule + ") || self == oldSelf"
	}
	if transition && c.one(4) {
		yes := true
		r.OptionalOldSelf = &yes
		r.Rule = "!oldSelf.hasValue() || (" + optionalForm(r.Rule) + ")"
	}
	if c.one(2) {
		r.Message = pick(c, []string{"no", " spaced ", "must be so"})
	}
	if c.one(4) {
		w.guards = nil
		r.MessageExpression = pick(c, []string{"'it is ' + " + w.stringOf(), w.stringOf(), "'a\\nb'", "''"})
	}
	if c.one(5) {
		r.Reason = pick(c, reasons)
	}
	if c.one(6) && d.Kind == types.Object && len(d.FieldNames()) > 0 {
		r.FieldPath = "." + pick(c, d.FieldNames())
	}
	return r
}

var reasons = []*apiextensionsv1.FieldValueErrorReason{
	reason(apiextensionsv1.FieldValueInvalid), reason(apiextensionsv1.FieldValueForbidden), reason(apiextensionsv1.FieldValueRequired), reason(apiextensionsv1.FieldValueDuplicate),
}

func reason(r apiextensionsv1.FieldValueErrorReason) *apiextensionsv1.FieldValueErrorReason {
	return &r
}

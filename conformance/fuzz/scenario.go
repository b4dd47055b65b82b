package fuzz

import (
	"maps"
	"math/rand/v2"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/types"
)

// Scenario is a generated CRD with rules, an object, and sometimes an old object.
type Scenario struct {
	seed   uint64
	props  *props
	schema *schema.Structural
	obj    map[string]any
	old    map[string]any // nil for a create
	// second is the schema of another version.
	second *props
}

// NewScenario returns the scenario of a seed, or nil if no CRD can have the generated schemas. The rules
// call any function in the library.
func NewScenario(seed uint64, lib *Library) *Scenario {
	c := newChoice(seed)
	w := &Scenario{seed: seed, props: c.rootSchema()}
	c.keyedStatus(w.props)
	if w.schema = c.withRules(lib, w.props); w.schema == nil {
		return nil
	}
	w.objects(c)
	w.second = c.rootSchema()
	c.keyedStatus(w.second)
	if !c.one(3) {
		spec := w.props.Properties["spec"]
		w.second.Properties["spec"] = *spec.DeepCopy()
	}
	if c.withRules(lib, w.second) == nil {
		return nil
	}
	return w
}

// withRules returns nil if the schema is not valid.
func (c choice) withRules(lib *Library, p *props) *schema.Structural {
	bare := structural(p)
	if bare == nil || len(schema.ValidateStructural(nil, bare)) > 0 {
		return nil
	}
	c.addRules(lib, p, types.FromSchema(bare, types.ResourceRoot), 0)
	if c.one(3) {
		p.XValidations = append(p.XValidations, apiextensionsv1.ValidationRule{Rule: c.comparison(p)})
	}
	return structural(p)
}

// comparison returns a root rule that compares fields that an author cannot select: metadata
// including managedFields and selfLink.
func (c choice) comparison(p *props) string {
	rule := pick(c, []string{"self.metadata == oldSelf.metadata", "self.metadata != oldSelf.metadata", "self == oldSelf"})
	if _, ok := p.Properties["status"]; ok { // so that the status can be written at all
		rule = "!has(oldSelf.status) || " + rule
	}
	return rule
}

// Writes can reorder lists of type set and map.
func (c choice) keyedStatus(s *props) {
	if c.one(2) {
		return
	}
	status, ok := s.Properties["status"]
	if !ok || status.Properties == nil {
		status = props{Type: "object", Properties: map[string]props{}}
	}
	status.Properties["tags"] = props{Type: "array", XListType: text("set"), Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &props{Type: "string"}}}
	status.Properties["parts"] = *c.mapList(1)
	s.Properties["status"] = status
}

func (w *Scenario) objects(c choice) {
	wrong := pick(c, []int{0, 0, 40, 12})
	w.obj = identified(c.fields(w.props, wrong), w.group()+"/"+version, c)
	if c.one(3) {
		return
	}
	old, ok := c.mutate(w.obj, w.props, pick(c, []int{4, 12, 1000})).(map[string]any)
	if !ok {
		old = map[string]any{}
	}
	w.old = identified(old, w.group()+"/"+version, c)
}

func identified(obj map[string]any, apiVersion string, c choice) map[string]any {
	obj["apiVersion"], obj["kind"] = apiVersion, kind
	obj["metadata"] = map[string]any{"name": "thing", "namespace": "default"}
	if c.one(8) {
		obj["metadata"].(map[string]any)["labels"] = map[string]any{"a": "b"}
	}
	return obj
}

const (
	version = "v1"
	other   = "v2"
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

func (c choice) addRules(lib *Library, p *props, d *types.Decl, depth int) {
	if d.Kind != types.Hidden && (depth == 0 || c.one(3)) {
		for range 1 + c.IntN(3) {
			p.XValidations = append(p.XValidations, c.rule(lib, d))
		}
	}
	for i := range p.AllOf {
		c.addNested(lib, &p.AllOf[i], d)
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

// addNested adds rules where CRD admission forbids them. The server evaluates them in a stored CRD.
func (c choice) addNested(lib *Library, p *props, d *types.Decl) {
	if d.Kind != types.Hidden && c.one(4) {
		p.XValidations = append(p.XValidations, c.rule(lib, d))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Properties)) {
		if f := d.Fields[name]; f != nil {
			prop := p.Properties[name]
			c.addNested(lib, &prop, f.Decl)
			p.Properties[name] = prop
		}
	}
	if d.Elem != nil && p.Items != nil && p.Items.Schema != nil {
		c.addNested(lib, p.Items.Schema, d.Elem)
	}
}

func (c choice) rule(lib *Library, d *types.Decl) apiextensionsv1.ValidationRule {
	transition := c.one(3)
	w := newWriter(c, lib, d, transition)
	r := apiextensionsv1.ValidationRule{Rule: w.rule()}
	if c.lenient && !c.one(8) {
		r.Rule = "(" + r.Rule + ") || true"
	}
	if transition && !w.mentionsOld(r.Rule) {
		r.Rule = "(" + r.Rule + ") || self == oldSelf"
	}
	yes := true
	switch {
	case transition && c.one(4):
		r.OptionalOldSelf = &yes
		r.Rule = "!oldSelf.hasValue() || (" + optionalForm(r.Rule) + ")"
	case !transition && c.one(16): // only possible in a stored CRD
		r.OptionalOldSelf = &yes
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

// Write is a request for an object of a scenario.
type Write struct {
	Version, OldVersion, Subresource, FieldValidation string
	Object, Old                                       map[string]any // Old is nil for a create
}

// Writes returns n random requests for either version.
func (w *Scenario) Writes(n int) []Write {
	c := newChoice(^w.seed)
	c.lenient = isLenient(w.seed)
	out := make([]Write, n)
	for i := range out {
		out[i] = w.write(c)
	}
	return out
}

func (w *Scenario) write(c choice) Write {
	one := Write{Version: version, FieldValidation: pick(c, []string{"", "Ignore", "Warn", "Strict"})}
	schema := w.props
	if c.one(3) {
		one.Version, schema = other, w.second
	}
	wrong := pick(c, []int{0, 0, 0, 40, 12})
	if c.lenient {
		wrong = pick(c, []int{0, 0, 0, 0, 40})
	}
	one.Object = c.resource(c.fields(schema, wrong), w.group()+"/"+one.Version, wrong)
	if c.one(3) {
		one.mistype(c)
		return one
	}
	if old, ok := c.mutate(one.Object, schema, pick(c, []int{6, 20, 1000})).(map[string]any); ok {
		// In any other version, the old object may have been pruned.
		one.OldVersion = pick(c, []string{one.Version, w.storage()})
		if c.one(4) {
			old, _ = c.reorder(one.Object, schema).(map[string]any)
		}
		one.Old = c.resource(old, w.group()+"/"+one.OldVersion, 0)
	}
	if one.Old != nil && w.hasStatus() && c.one(2) {
		one.Subresource = "status"
	}
	one.mistype(c)
	return one
}

func (w *Write) mistype(c choice) {
	if c.one(20) {
		name := pick(c, []string{"apiVersion", "kind"})
		if name == "apiVersion" {
			w.Version = other // the preferred version, which the server assumes for an object without apiVersion
		}
		w.Object[name] = pick(c, []any{nil, int64(1), 1.5, true, []any{}, map[string]any{}, "", "other", "a/b/c"})
	}
}

func (c choice) reorder(v any, s *props) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			var sub *props
			if s != nil {
				sub = below(s, name)
			}
			out[name] = c.reorder(v[name], sub)
		}
		return out
	case []any:
		out := slices.Clone(v)
		var sub *props
		if s != nil && s.Items != nil {
			sub = s.Items.Schema
		}
		for i := range out {
			out[i] = c.reorder(out[i], sub)
		}
		if s != nil && s.XListType != nil && *s.XListType != "atomic" {
			c.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		return out
	}
	return v
}

func (c choice) resource(obj map[string]any, apiVersion string, wrong int) map[string]any {
	obj = identified(obj, apiVersion, c)
	metadata := obj["metadata"].(map[string]any)
	often := 12
	if c.lenient {
		often = 40
	}
	for _, name := range slices.Sorted(maps.Keys(metadataValues)) {
		if c.one(often) || name == "selfLink" && c.one(12) {
			metadata[name] = pick(c, metadataValues[name])
		}
		if wrong > 0 && c.one(wrong*8) {
			metadata[name] = c.anything(2)
		}
	}
	if c.one(8) {
		obj[pick(c, names[:17])] = c.anything(1) // not metadata
	}
	obj["apiVersion"], obj["kind"] = apiVersion, kind
	return obj
}

var metadataValues = map[string][]any{
	"labels":      {map[string]any{"a": "b"}, map[string]any{"a/b/c": "d"}, map[string]any{"app.example.com/name": "-"}, nil},
	"annotations": {map[string]any{"a": "b\n"}, map[string]any{"A b": "c"}, map[string]any{}},
	"finalizers":  {[]any{"example.com/a"}, []any{"short"}, []any{"example.com/a", "foregroundDeletion"}, []any{"in valid"}},
	"ownerReferences": {
		[]any{owner("1", false)}, []any{owner("1", false), owner("1", false)}, []any{owner("1", true), owner("2", true)},
		[]any{map[string]any{"name": "x"}},
	},
	"selfLink":   {"/apis/example.com/v1/things/thing", "", int64(1)},
	"generation": {int64(77), int64(0)},
	"unknown":    {"x", int64(1)},
}

func owner(uid string, controller bool) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid, "controller": controller}
}

// shuffled returns the scenario with rebuilt objects, because the iteration order of a small Go map
// depends on how the map was built. For n = 0, keys are inserted in sorted order.
func (w *Scenario) shuffled(n int) *Scenario {
	order := rand.New(rand.NewPCG(w.seed, uint64(n)))
	out := *w
	out.obj, _ = rebuilt(w.obj, n, order).(map[string]any)
	out.old, _ = rebuilt(w.old, n, order).(map[string]any)
	return &out
}

func rebuilt(v any, n int, order *rand.Rand) any {
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		keys := slices.Sorted(maps.Keys(v))
		if n > 0 {
			order.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		}
		out := make(map[string]any, len(v))
		for _, key := range keys {
			out[key] = rebuilt(v[key], n, order)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = rebuilt(item, n, order)
		}
		return out
	}
	return v
}

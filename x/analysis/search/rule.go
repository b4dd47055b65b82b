package search

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine"
	parts "github.com/celadon-cel/celadon/engine/x/rule"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

// rule is one rule of a version.
type rule struct {
	ref      engine.RuleRef
	steps    []engine.Step
	optional bool

	compiled bool
	program  *program
	err      error
}

// rulesOf are the rules of a schema, by place, as the engine names them.
func rulesOf(version string, s *schema.Structural) (all []*rule) {
	var walk func(s *schema.Structural, steps []engine.Step)
	walk = func(s *schema.Structural, steps []engine.Step) {
		for i := range s.XValidations {
			x := &s.XValidations[i]
			optional := parts.OptionalOldSelf(x.OptionalOldSelf)
			all = append(all, &rule{
				ref:      engine.RuleRef{Version: version, Path: engine.FormatPath(steps), Index: i, Rule: x.Rule, OptionalOldSelf: optional},
				steps:    slices.Clone(steps),
				optional: optional,
			})
		}
		if s.Items != nil {
			walk(s.Items, append(steps, engine.Step{Any: true}))
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			prop := s.Properties[name]
			walk(&prop, append(steps, engine.Step{Name: name}))
		}
		if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
			walk(s.AdditionalProperties.Structural, append(steps, engine.Step{Any: true}))
		}
	}
	walk(s, nil)
	return all
}

// compile compiles the rule when it is first asked for.
func (r *rule) compile(e *engine.Engine) error {
	if !r.compiled {
		r.compiled = true
		r.program, r.err = compileRule(e, r.ref, r.optional)
	}
	return r.err
}

func (r *rule) usesOld() bool { return r.program != nil && r.program.expr.UsesOldSelf() }

// transition rules run only where there is an old value.
func (r *rule) transition() bool { return r.usesOld() && !r.optional }

// instance is a place where a rule runs; before is what its oldSelf is.
type instance struct {
	self   place
	before place
	hasOld bool
}

// instances are all places where the rule runs in a world or, with old, in the
// old object when that is created.
func (r *rule) instances(w *candidate, root node, old bool) (all []instance) {
	for _, p := range w.places(place{old: old, node: root}, r.steps, nil) {
		if v, _ := w.get(p); v == nil {
			continue
		}
		in := instance{self: p}
		if !old && w.old != nil {
			in.before, in.hasOld = w.correlate(p, root)
		}
		if in.hasOld || !r.transition() {
			all = append(all, in)
		}
	}
	return all
}

// maxInstances bounds how many places of one rule are looked at.
const maxInstances = 1000

// correlate finds what the server would take for a place's old value.
func (w *candidate) correlate(p place, root node) (place, bool) {
	before := place{old: true, node: root}
	at := place{node: root}
	for _, s := range p.path {
		n := at.node
		at = at.step(s)
		if !n.isList() {
			if n.s != nil && n.s.XMapType != nil && *n.s.XMapType == "atomic" {
				return place{}, false
			}
			before = before.step(s)
			continue
		}
		i, ok := w.sameKeys(n, at, before)
		if !ok {
			return place{}, false
		}
		before = before.item(i)
	}
	v, ok := w.get(before)
	return before, ok && v != nil
}

// sameKeys finds, in an old map list, the item with the keys of another.
func (w *candidate) sameKeys(n node, item, oldList place) (int, bool) {
	keys := n.listKeys()
	v, _ := w.get(item)
	obj, isObj := v.(map[string]any)
	list, _ := w.get(oldList)
	items, _ := list.([]any)
	if !isObj || len(keys) == 0 {
		return 0, false
	}
	i := slices.IndexFunc(items, func(v any) bool {
		other, ok := v.(map[string]any)
		return ok && !slices.ContainsFunc(keys, func(k string) bool { return !equalJSON(obj[k], other[k]) })
	})
	return i, i >= 0
}

// at evaluates the rule at one place.
func (r *rule) at(ctx context.Context, w *candidate, in instance, m *work.Meter) outcome {
	self, ok := w.get(in.self)
	if !ok {
		return passes
	}
	var before any
	if in.hasOld {
		before, _ = w.get(in.before)
	}
	out := r.program.outcome(ctx, r.optional, self, before)
	m.Spend(r.program.cost / costPerUnit)
	return out
}

// mentionsStatus: the rule, which stands at the root, reads the status.
func (r *rule) mentionsStatus() bool {
	return len(r.steps) == 0 && readsField(r.program.parts.Root(), "status")
}

// isStatus: the rule stands in the status.
func (r *rule) isStatus() bool { return len(r.steps) > 0 && r.steps[0].Name == "status" }

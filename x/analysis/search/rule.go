package search

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

type rule struct {
	ref   engine.RuleRef
	steps []engine.Step

	compiled bool
	program  *program
	err      error
}

// rulesOf returns the rules of a schema, parents first, with references as in the engine.
func rulesOf(version string, s *schema.Structural) (all []*rule) {
	var walk func(s *schema.Structural, steps []engine.Step)
	walk = func(s *schema.Structural, steps []engine.Step) {
		for i, x := range s.XValidations {
			ref := engine.RuleRef{Version: version, Path: engine.FormatPath(steps), Index: i, Rule: x.Rule}
			ref.OptionalOldSelf = expr.HasOptionalOldSelf(x.OptionalOldSelf)
			all = append(all, &rule{ref: ref, steps: slices.Clone(steps)})
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

func (r *rule) compile(s *Search) error {
	if !r.compiled {
		r.compiled = true
		r.program, r.err = s.compile(r.ref)
	}
	return r.err
}

func (r *rule) usesOld() bool { return r.program != nil && r.program.expr.UsesOldSelf() }

// transition reports whether the rule only runs if there is an old value. The rule must be compiled.
func (r *rule) transition() bool { return r.usesOld() && !r.ref.OptionalOldSelf }

// An instance is a path at which a rule runs. before is the path of its oldSelf.
type instance struct {
	self   objectPath
	before objectPath
	hasOld bool
}

// instances returns the paths at which the rule runs in a candidate. If old is set, these are the paths at which it
// runs when the old object is created.
func (r *rule) instances(w *candidate, root node, old bool) (all []instance) {
	for _, p := range w.matchingPaths(objectPath{old: old, node: root}, r.steps, nil) {
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

const maxInstances = 1000

// correlate returns the path in the old object that the API server correlates with p, and reports whether it has a
// value.
func (w *candidate) correlate(p objectPath, root node) (objectPath, bool) {
	before := objectPath{old: true, node: root}
	at := objectPath{node: root}
	for _, s := range p.path {
		n := at.node
		at = at.step(s)
		if !n.isList() {
			if n.s != nil && n.s.XMapType != nil && *n.s.XMapType == "atomic" {
				return objectPath{}, false
			}
			before = before.step(s)
			continue
		}
		i, ok := w.sameKeys(n, at, before)
		if !ok {
			return objectPath{}, false
		}
		before = before.item(i)
	}
	v, ok := w.get(before)
	return before, ok && v != nil
}

func (w *candidate) sameKeys(n node, item, oldList objectPath) (int, bool) {
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

// at evaluates the rule at the path of an instance. The result is Accepted if the path has no value.
func (r *rule) at(ctx context.Context, w *candidate, in instance, m *work.Meter) Want {
	self, ok := w.get(in.self)
	if !ok {
		return Accepted
	}
	var before any
	if in.hasOld {
		before, _ = w.get(in.before)
	}
	out := r.program.outcome(ctx, r.ref.OptionalOldSelf, self, before)
	m.Spend(r.program.cost / costPerUnit)
	return out
}

func (r *rule) mentionsStatus() bool {
	return len(r.steps) == 0 && readsField(r.program.parts.Root(), "status")
}

func (r *rule) isStatus() bool { return len(r.steps) > 0 && r.steps[0].Name == "status" }

package search

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine"
)

// maxRepairs limits the number of complaints that are repaired before the engine validates again.
const maxRepairs = 12

// repair tries to fix the complaints about a write that are not wanted.
func (h *solver) repair(w *candidate, v *verdict) {
	seen := map[string]bool{}
	for _, c := range v.complaints {
		if h.targets(c) {
			continue
		}
		id := c.id()
		if seen[id] || len(seen) >= maxRepairs {
			continue
		}
		seen[id] = true
		h.stuck[id]++
		var before any
		if c.old {
			before = copied(w.old)
		}
		by := h
		if c.other {
			by = h.as(h.other)
		}
		if c.cause.Rule != nil {
			by.repairRule(w, c, h.stuck[id])
		} else {
			by.repairSchema(w, c, h.stuck[id])
		}
		if c.old && h.maker.rng.IntN(4) > 0 {
			w.obj = followed(before, w.old, w.obj).(map[string]any)
		}
	}
}

// as returns a solver that uses the schema and rules of s, the other form of the CRD.
func (h *solver) as(s *Search) *solver {
	seen := *h
	seen.Search = s
	return &seen
}

// followed applies the difference between before and after to obj where obj equals before.
func followed(before, after, obj any) any {
	if equalJSON(before, after) {
		return obj
	}
	if equalJSON(before, obj) {
		return copied(after)
	}
	switch obj := obj.(type) {
	case map[string]any:
		was, ok1 := before.(map[string]any)
		is, ok2 := after.(map[string]any)
		if !ok1 || !ok2 {
			return obj
		}
		for _, name := range sortedKeys(is) {
			old, had := was[name]
			mine, have := obj[name]
			switch {
			case have && had:
				obj[name] = followed(old, is[name], mine)
			case !have && !had:
				obj[name] = copied(is[name])
			}
		}
		for name, old := range was {
			if _, still := is[name]; !still && equalJSON(obj[name], old) {
				delete(obj, name)
			}
		}
	case []any:
		was, _ := before.([]any)
		is, _ := after.([]any)
		for i := range min(len(obj), len(was), len(is)) {
			obj[i] = followed(was[i], is[i], obj[i])
		}
	}
	return obj
}

func (c *complaint) id() string {
	id := c.cause.Field + " " + string(c.cause.Reason)
	if c.old {
		id = "old " + id
	}
	if c.other {
		id = "other " + id
	}
	if r := c.cause.Rule; r != nil {
		id += " " + r.Path + " " + r.Rule
	}
	return id
}

// repairRule makes a rule true that rejects the write, or removes the values that it checks.
func (h *solver) repairRule(w *candidate, c complaint, times int) {
	r := h.byRef[*c.cause.Rule]
	if r == nil || r.compile(h.compilers) != nil {
		return
	}
	for _, in := range r.instances(w, h.root, c.old) {
		if r.at(h.ctx, w, in, h.work) == passes {
			continue
		}
		b := h.newAdjuster(w, r, in)
		b.repairing = true
		if h.maker.rng.IntN(8) == 0 || times > 6 && h.maker.rng.IntN(2) == 0 {
			if h.remove(b, in.self) {
				return // later items have moved
			}
		}
		if !b.truth(r.program.parts.Root(), nil, true) && h.maker.rng.IntN(2) == 0 && h.remove(b, in.self) {
			return
		}
	}
}

// remove removes p or its closest optional parent, and reports whether it did. It keeps paths that
// the target rule needs.
func (h *solver) remove(b *adjuster, p objectPath) bool {
	for ; len(p.path) > 0; p = p.parent(h.root) {
		if h.needed(p) {
			return false
		}
		if b.optional(p) {
			return b.w.drop(p)
		}
	}
	return false
}

// needed reports whether p is on the path of the target rule.
func (h *solver) needed(p objectPath) bool {
	if h.rule == nil || len(p.path) > len(h.rule.steps) {
		return false
	}
	for i, s := range p.path {
		if want := h.rule.steps[i]; !want.Any && want.Name != s.Name {
			return false
		}
	}
	return true
}

// repairSchema fixes a value that violates its schema.
func (h *solver) repairSchema(w *candidate, c complaint, times int) {
	p, ok := h.pathOf(w, c)
	if !ok {
		return
	}
	b := h.newAdjuster(w, h.rule, instance{})
	switch {
	case c.cause.Type == field.ErrorTypeRequired:
		b.ensure(p)
		return
	case c.cause.Type == field.ErrorTypeDuplicate && h.maker.rng.IntN(2) == 0:
		w.drop(p)
		return
	case times > 3 && b.optional(p) && !h.needed(p) && h.maker.rng.IntN(2) == 0:
		w.drop(p)
		return
	}
	v, ok := w.get(p)
	if !ok {
		b.ensure(p)
		return
	}
	more := h.validations(w, p)
	if times > 4 {
		if fresh := h.maker.value(p.node, more, 0); fresh != nil {
			w.put(p, fresh)
		}
		return
	}
	h.fix(b, p, v, more)
}

// pathOf returns the path to which a cause points.
func (h *solver) pathOf(w *candidate, c complaint) (objectPath, bool) {
	steps, err := engine.ParsePath(strings.ReplaceAll(c.cause.Field, ".[", "["))
	if err != nil || len(steps) > 0 && steps[0].Name == "<nil>" {
		return objectPath{}, len(steps) > 0
	}
	p := objectPath{old: c.old, node: h.root}
	for _, s := range steps {
		p = p.step(s)
	}
	return p, true
}

// validations returns the validations for p from allOf, anyOf, and oneOf of its parents.
// Alternatives are chosen randomly.
func (h *solver) validations(w *candidate, p objectPath) (more []*nested) {
	at := objectPath{old: p.old, node: h.root}
	for _, s := range p.path {
		f := h.maker.facts(at.node, more)
		if at.node.isList() {
			more = f.items()
		} else {
			more = f.below(s.Name)
		}
		at = at.step(s)
	}
	return more
}

// fix changes a value as little as necessary to satisfy its schema.
func (h *solver) fix(b *adjuster, p objectPath, v any, more []*nested) {
	f := h.maker.facts(p.node, more)
	switch v := v.(type) {
	case map[string]any:
		h.fixObject(b, p, v, f)
	case []any:
		h.fixList(b, p, v, f)
	default:
		if fresh := h.maker.value(p.node, more, 0); fresh != nil {
			b.w.put(p, fresh)
		}
	}
}

func (h *solver) fixObject(b *adjuster, p objectPath, v map[string]any, f *facts) {
	for _, name := range f.required {
		if _, ok := v[name]; !ok {
			if fresh := h.maker.value(p.node.field(name), f.below(name), 0); fresh != nil {
				b.w.put(p.field(name), fresh)
			}
		}
	}
	for _, name := range sortedKeys(v) {
		at := p.field(name)
		switch {
		case f.excluded[name] && !h.needed(at):
			b.w.drop(at)
		case f.maxProperties >= 0 && len(v) > f.maxProperties && b.optional(at) && !h.needed(at):
			b.w.drop(at)
		}
	}
	for _, name := range f.constrained() {
		if below, ok := b.w.get(p.field(name)); ok {
			h.fix(b, p.field(name), below, f.below(name))
		}
	}
	for _, name := range shuffled(p.node.names(), h.maker.rng) {
		if len(v) >= f.minProperties {
			break
		}
		if !f.excluded[name] {
			b.ensure(p.field(name))
		}
	}
	if p.node.isMap() {
		for range f.minProperties - len(v) {
			if b.m.left <= 0 || b.m.work.Empty() {
				break
			}
			b.add(p)
		}
	}
	if p.node.s != nil && p.node.s.XEmbeddedResource {
		embedded(v)
	}
}

func (h *solver) fixList(b *adjuster, p objectPath, list []any, f *facts) {
	out := itemsOf(p.node, []any{})
	for _, item := range list {
		if f.maxItems >= 0 && len(out.items) >= f.maxItems {
			break
		}
		if !out.takes(item) {
			if item = h.maker.distinguish(out, item, p.node); !out.takes(item) {
				continue
			}
		}
		out.add(item)
	}
	for n := len(out.items); n < f.minItems; n++ {
		if h.maker.another(out, p.node, f, 0); len(out.items) <= n {
			break
		}
	}
	b.w.put(p, out.items)
}

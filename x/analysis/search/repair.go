package search

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine"
)

const maxRepairs = 12

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
		by := h
		if c.other {
			by = h.as(h.other)
		}
		if c.cause.Rule != nil {
			by.repairRule(w, c, h.stuck[id])
		} else {
			by.repairSchema(w, c, h.stuck[id])
		}
	}
}

// as returns a copy of the solver that uses the schema and rules of s.
func (h *solver) as(s *Search) *solver {
	seen := *h
	seen.Search = s
	return &seen
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

func (h *solver) repairRule(w *candidate, c complaint, times int) {
	r := h.byRef[*c.cause.Rule]
	if r == nil || r.compile(h.Search) != nil {
		return
	}
	for _, in := range r.instances(w, h.root, c.old) {
		if r.at(h.ctx, w, in, h.work) == Accepted {
			continue
		}
		b := h.newAdjuster(w, r, in)
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

// remove removes p or its closest optional parent, unless the target rule needs it.
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
	if !hasPath(w, p) {
		b.ensure(p)
	} else if fresh := h.maker.value(p.node, nil, 0); fresh != nil {
		w.put(p, fresh)
	}
}

func (h *solver) pathOf(w *candidate, c complaint) (objectPath, bool) {
	steps, err := engine.ParsePath(strings.ReplaceAll(c.cause.Field, ".[", "["))
	if err != nil || len(steps) > 0 && steps[0].Name == "<nil>" {
		return objectPath{}, len(steps) > 0
	}
	return objectPath{c.old, steps, h.root.at(steps)}, true
}

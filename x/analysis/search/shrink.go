package search

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
)

const shrinkSteps = 3000

// shrinkSteps returns a lower limit for OverBudget, because each of those writes takes long.
func (h *solver) shrinkSteps() int {
	if h.want == OverBudget {
		return shrinkSteps / 20
	}
	return shrinkSteps
}

// shrink removes fields and items that are not needed, simplifies the remaining values, and sets scalars to their old
// values. Reaching the step limit ends it without an error.
func (h *solver) shrink(w *candidate, alone bool) (*candidate, *verdict, error) {
	h.oracle = h.newOracle(h.shrinkSteps())
	last, err := h.oracle.decide(w)
	if err != nil {
		return nil, nil, err
	}
	h.oracle.strict = true
	s := &shrinker{solver: h, w: w, last: last, alone: alone, failed: map[string]bool{}}
	for changed := true; changed && err == nil; {
		if changed, err = s.applyEverywhere("drop", s.drop); !changed && err == nil {
			changed, err = s.applyEverywhere("simplify", s.simplify)
		}
	}
	for changed := true; changed && err == nil; {
		if changed, err = s.applyEverywhere("alike", s.alike); changed && err == nil {
			_, err = s.applyEverywhere("drop", s.drop)
		}
	}
	if err != nil && !errors.Is(err, errSpent) {
		return nil, nil, err
	}
	return s.w, s.last, nil
}

type shrinker struct {
	*solver
	w     *candidate
	last  *verdict
	alone bool
	// failed holds the changes that failed since the latest change that held.
	failed map[string]bool
}

// applyEverywhere applies change to each path, outermost first. A change returns gone if it removed the path; the
// next path then takes its index.
func (s *shrinker) applyEverywhere(
	name string, change func(objectPath) (held, gone bool, err error),
) (changed bool, err error) {
	for _, old := range []bool{false, true} {
		paths := removable(s.w.root(old))
		for at := 0; ; {
			if s.work.Spend(at + 1); at >= len(paths) || s.work.Empty() {
				break
			}
			p := objectPath{old: old, path: paths[at]}
			key := name + handle{objectPath: p}.id()
			if s.failed[key] {
				at++
				continue
			}
			held, gone, err := change(p)
			if err != nil {
				return changed, err
			}
			if s.failed[key] = true; held {
				changed, paths = true, removable(s.w.root(old))
				clear(s.failed)
			}
			if !gone {
				at++
			}
		}
	}
	return changed, nil
}

// drop tries to remove the value at p, unless the candidate certainly needs it.
func (s *shrinker) drop(p objectPath) (held, gone bool, err error) {
	p.node = s.root.at(p.path)
	holdsRule := !p.old && s.needed(p) && !slices.ContainsFunc(s.rule.steps[:len(p.path)], func(step engine.Step) bool { return step.Any })
	if !p.node.hasDefault() && (holdsRule || p.required(s.root)) {
		return false, false, nil
	}
	return s.remove(p)
}

func (s *shrinker) remove(p objectPath) (held, gone bool, err error) {
	held, err = s.try(p, func(w *candidate, p objectPath) bool { return w.drop(p) })
	return held, held, err
}

func (s *shrinker) simplify(p objectPath) (held, gone bool, err error) {
	v, _ := s.w.get(p)
	s.work.Spend(len(p.path))
	for _, small := range s.maker.smaller(s.root.at(p.path), v) {
		held, err = s.try(p, func(w *candidate, p objectPath) bool {
			now, ok := w.get(p)
			return ok && equalJSON(now, v) && w.put(p, small)
		})
		if held || err != nil {
			return held, false, err
		}
	}
	return false, false, nil
}

// alike sets a scalar to its value in the old object, so that only relevant differences remain.
func (s *shrinker) alike(p objectPath) (held, gone bool, err error) {
	was, ok := s.w.get(objectPath{old: true, path: p.path})
	if ok && !p.old && isScalar(was) {
		held, err = s.try(p, func(w *candidate, p objectPath) bool {
			now, _ := w.get(p)
			return !p.old && !equalJSON(now, was) && w.put(p, copied(was))
		})
	}
	return held, false, err
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// try applies a change to both objects or, if that fails or p is in the old object, to the object of p.
// It keeps the change if the write still demonstrates the outcome.
func (s *shrinker) try(p objectPath, change func(*candidate, objectPath) bool) (bool, error) {
	ways := [][]bool{{p.old}}
	if s.w.old != nil && !p.old {
		ways = [][]bool{{false, true}, {false}}
	}
	for _, way := range ways {
		w := s.w.changeable(p)
		changed := false
		for _, old := range way {
			p.old = old
			changed = change(w, p) || changed
		}
		if !changed {
			continue
		}
		v, err := s.oracle.decide(w)
		if err != nil {
			return false, err
		}
		first, second, shown := s.suits(v)
		if !first && (s.alone || !second) {
			continue
		}
		if !shown {
			seen := w.clone()
			if s.settle(seen); !s.showing(seen) {
				continue
			}
		}
		s.w, s.last = w, v
		return true, nil
	}
	return false, nil
}

func (m *maker) smaller(n node, v any) (all []any) {
	switch v := v.(type) {
	case string:
		for _, s := range m.smallerTexts(n, v) {
			all = append(all, s)
		}
	case int64:
		for _, to := range []int64{1, 0, v / 1000, v / 10, v / 2} {
			if v != 0 && v != 1 && max(to, -to) < max(v, -v) {
				all = append(all, to)
			}
		}
	case float64:
		if v != math.Trunc(v) {
			all = append(all, int64(1), int64(0))
		}
	}
	return all
}

func (m *maker) smallerTexts(n node, s string) []string {
	if len(s) <= 1 {
		return nil
	}
	f := m.facts(n, nil)
	if len(f.enum) > 0 {
		return nil
	}
	var pool []string
	if short := m.texts.all(f.text); len(short) > 0 {
		pool = slices.Clone(short[:1])
	}
	runes := []rune(s)
	for _, n := range []int{1, len(runes) / 8, len(runes) / 2, len(runes) * 7 / 8, len(runes) - 1} {
		pool = union(pool, []string{string(runes[:n]), string(runes[len(runes)-n:])})
	}
	own := &facts{text: anyText()}
	if n.s != nil && n.s.ValueValidation != nil {
		own.sizes(n.s.ValueValidation)
		own.words(n.s.ValueValidation)
	}
	return slices.DeleteFunc(pool, func(t string) bool {
		blank := strings.TrimSpace(t) != t || t == "" // blanks at the ends are hard to see
		return blank || len(t) >= len(s) || !m.texts.has(own.text, t)
	})
}

// removable returns the paths of an object's values, except apiVersion, kind, and metadata. Outer values precede
// inner values, and list items are in reverse order.
func removable(obj map[string]any) (paths [][]engine.Step) {
	type value struct {
		path []engine.Step
		v    any
	}
	queue := []value{{nil, obj}}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		below := func(s engine.Step, v any) { queue = append(queue, value{append(slices.Clip(at.path), s), v}) }
		if len(at.path) > 0 {
			paths = append(paths, at.path)
		}
		switch v := at.v.(type) {
		case map[string]any:
			for _, name := range sortedKeys(v) {
				if len(at.path) == 0 && (name == "apiVersion" || name == "kind" || name == "metadata") {
					continue
				}
				below(engine.Step{Name: name}, v[name])
			}
		case []any:
			for i := len(v) - 1; i >= 0; i-- {
				below(engine.Step{Item: true, Index: i}, v[i])
			}
		}
	}
	return paths
}

package search

import (
	"errors"
	"slices"

	"github.com/celadon-cel/celadon/engine"
)

// shrinkSteps is how many writes the engine is asked about to shrink a witness.
const shrinkSteps = 3000

// shrinkSteps are fewer where each write is dear.
func (h *hunt) shrinkSteps() int {
	if h.want == OverBudget {
		return shrinkSteps / 20
	}
	return shrinkSteps
}

// shrink takes fields and items away until each that is left is needed.
func (h *hunt) shrink(w *world, alone bool) (*world, *verdict, error) {
	h.judge = h.newJudge(h.shrinkSteps())
	last, err := h.judge.judge(w)
	if err != nil {
		return nil, nil, err
	}
	for changed := true; changed; {
		changed = false
		for _, old := range []bool{false, true} {
			for at := 0; ; at++ {
				p, ok := nth(w.root(old), at)
				if !ok {
					break
				}
				smaller, v, err := h.without(w, place{old: old, path: p}, alone)
				if errors.Is(err, errSpent) {
					return w, last, nil
				}
				if err != nil {
					return nil, nil, err
				}
				if smaller != nil {
					w, last, changed = smaller, v, true
					at-- // what stood behind stands here now
				}
			}
		}
	}
	return w, last, nil
}

// without is a world with one place less, nil where that loses what it shows. It
// goes from both objects at once, or else from one.
func (h *hunt) without(w *world, p place, alone bool) (*world, *verdict, error) {
	ways := [][]bool{{p.old}}
	if w.old != nil && !p.old {
		ways = [][]bool{{false, true}, {false}}
	}
	for _, way := range ways {
		smaller := w.clone()
		dropped := false
		for _, old := range way {
			p.old = old
			dropped = smaller.drop(p) || dropped
		}
		if !dropped {
			continue
		}
		v, err := h.judge.judge(smaller)
		if err != nil {
			return nil, nil, err
		}
		seen := smaller.clone()
		h.settle(seen)
		if first, second := h.satisfied(seen, v); first || !alone && second {
			return smaller, v, nil
		}
	}
	return nil, nil, nil
}

// nth is the nth value of an object that may go, from the outside inwards.
func nth(obj map[string]any, n int) ([]engine.Step, bool) {
	type level struct {
		path []engine.Step
		v    any
	}
	queue := []level{{nil, obj}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if len(at.path) > 0 {
			if n == 0 {
				return at.path, true
			}
			n--
		}
		switch v := at.v.(type) {
		case map[string]any:
			for _, name := range sortedKeys(v) {
				if len(at.path) == 0 && (name == "apiVersion" || name == "kind" || name == "metadata") {
					continue
				}
				queue = append(queue, level{append(slices.Clip(at.path), engine.Step{Name: name}), v[name]})
			}
		case []any:
			for i := len(v) - 1; i >= 0; i-- {
				queue = append(queue, level{append(slices.Clip(at.path), engine.Step{Item: true, Index: i}), v[i]})
			}
		}
	}
	return nil, false
}

package search

import "errors"

func (h *solver) start(attempt int) *candidate {
	w := h.begin(attempt)
	// A candidate from the pool may already be an update.
	if h.rule == nil || w.op != Create {
		return w
	}
	rng := h.maker.rng
	status := w.split && (h.rule.isStatus() || h.rule.mentionsStatus() && rng.IntN(2) == 0)
	before := h.rule.transition() || h.rule.usesOld() && rng.IntN(2) == 0
	switch {
	case status:
		w.op = Status
	case before:
		w.op = Update
	default:
		h.createPath(w)
		return w
	}
	if w.old = copied(w.obj).(map[string]any); before {
		h.createPath(w)
	}
	return w
}

func (h *solver) begin(attempt int) *candidate {
	rng := h.maker.rng
	h.maker.density = 0
	if attempt == 0 {
		return h.fresh()
	}
	if h.rule != nil {
		key, _ := h.poolOf()
		if pool := h.pools[key]; len(pool) > 0 && rng.IntN(4) > 0 {
			return pool[rng.IntN(len(pool))].clone()
		}
	}
	h.maker.density = []float64{0, 0.1, 0.3, 0.6}[rng.IntN(4)]
	w := h.fresh()
	h.maker.density = 0
	return w
}

// fresh returns a new object, which may be invalid.
func (h *solver) fresh() *candidate {
	h.maker.left = maxValues
	obj, ok := h.maker.value(h.root, nil, 0).(map[string]any)
	if !ok {
		obj = map[string]any{}
	}
	obj["apiVersion"], obj["kind"] = h.apiVersion, h.kind
	obj["metadata"] = map[string]any{"name": "example"}
	return &candidate{op: Create, obj: obj, split: h.split}
}

const (
	poolSize  = 4
	poolSteps = 600
)

// fillPool collects admitted objects on which a rule at the path of the target rule ran. All target rules with the
// same key share the pool.
func (h *solver) fillPool() error {
	key, first := h.poolOf()
	if _, ok := h.pools[key]; ok {
		return nil
	}
	h.pools[key] = nil
	pool := h.newSolver(h.ctx, "pool "+key, poolSteps)
	pool.rule, pool.want = first, Accepted
	var found []*candidate
	for attempt := 0; len(found) < poolSize; attempt++ {
		w, err := pool.walk(pool.start(attempt))
		if errors.Is(err, errSpent) {
			break
		}
		if err != nil {
			return err
		}
		if w != nil {
			found = append(found, w)
		}
	}
	h.pools[key] = found
	return nil
}

// poolOf returns the key of the target rule's pool, and the rule for which the pool is filled: the first rule at the
// same path that compiles and is a transition rule if and only if the target rule is.
func (h *solver) poolOf() (key string, first *rule) {
	key = h.rule.ref.Path
	if h.rule.transition() {
		key += " (transition)"
	}
	for _, r := range h.rules {
		if r.ref.Path == h.rule.ref.Path && r.compile(h.Search) == nil && r.transition() == h.rule.transition() {
			return key, r
		}
	}
	return key, h.rule
}

package search

import "errors"

// start is the object that a walk begins with.
func (h *solver) start(attempt int) *candidate {
	w := h.begin(attempt)
	if h.hold != nil && w.split && h.hold.steps[0].Name == "status" {
		w.op, w.old = Status, copied(w.obj).(map[string]any)
	}
	// One of the pool may be an update already.
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
		h.materialise(w)
		return w
	}
	if w.old = copied(w.obj).(map[string]any); before {
		h.materialise(w)
	}
	return w
}

// begin is an object of the schema: the least at first, then those of the pool,
// and now and then one by lot.
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

// fresh is a new object, as like as not refused.
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

// poolSize is how many admitted objects with a value at one place are kept, and
// poolSteps how many writes are asked about to find them.
const (
	poolSize  = 4
	poolSteps = 600
)

// fillPool finds admitted objects on which a rule ran that stands where the rule
// at hand does. What is found does not depend on which rule is at hand.
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

// poolOf names the pool of the rule at hand, and the rule that it is for: the
// first at the place that is a transition rule too, or is none.
func (h *solver) poolOf() (key string, first *rule) {
	key = h.rule.ref.Path
	if h.rule.transition() {
		key += " (transition)"
	}
	for _, r := range h.rules {
		if r.ref.Path == h.rule.ref.Path && r.compile(h.engine) == nil && r.transition() == h.rule.transition() {
			return key, r
		}
	}
	return key, h.rule
}

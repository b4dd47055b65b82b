package search

// start is the object that a walk begins with.
func (h *hunt) start(attempt int) *world {
	w := h.begin(attempt)
	if h.rule == nil {
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
func (h *hunt) begin(attempt int) *world {
	rng := h.maker.rng
	if n := len(h.pool); n > 0 && (attempt == 0 || rng.IntN(5) > 0) {
		at := 0
		if attempt > 0 {
			at = rng.IntN(n)
		}
		return h.pool[at].clone()
	}
	h.maker.density = 0
	if attempt > 0 {
		h.maker.density = []float64{0, 0.1, 0.3, 0.6}[rng.IntN(4)]
	}
	w := h.fresh()
	h.maker.density = 0
	return w
}

// fresh is a new object, as like as not refused.
func (h *hunt) fresh() *world {
	h.maker.left = maxValues
	obj, ok := h.maker.value(h.root, nil, 0).(map[string]any)
	if !ok {
		obj = map[string]any{}
	}
	obj["apiVersion"], obj["kind"] = h.apiVersion, h.kind
	obj["metadata"] = map[string]any{"name": "example"}
	return &world{op: Create, obj: obj, split: h.split}
}

const (
	// poolSize is how many admitted objects a search begins with, and poolSteps
	// how many writes it asks about to find them.
	poolSize  = 8
	poolSteps = 600
)

// fillPool finds admitted objects to begin with, once.
func (s *Search) fillPool() error { return nil }

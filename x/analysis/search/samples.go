package search

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/celadon-cel/celadon/engine"
)

const sampleSteps = 200

const maxFruitless = 50

// Samples calls yield with up to n random objects that the version accepts, until yield returns false. The objects
// are not shrunk and include defaults.
func (s *Search) Samples(ctx context.Context, n int, yield func(obj map[string]any) bool) error {
	if !s.served {
		return nil
	}
	h := s.newSolver(ctx, "samples", sampleSteps)
	h.want = Accepted
	failed := 0
	for attempt := 0; n > 0 && failed < maxFruitless; attempt++ {
		h.oracle = h.newOracle(sampleSteps)
		w, err := h.walk(h.start(attempt))
		switch {
		case err != nil && !errors.Is(err, errSpent):
			return err
		case w == nil || err != nil:
			failed++
			continue
		}
		failed = 0
		n--
		if w, err = h.vary(w); err != nil {
			return err
		}
		if !yield(w.obj) {
			return nil
		}
	}
	return nil
}

const variations = 2

const maxVaried = 300

// vary sets some values of an accepted object to values that are rare in practice.
func (h *solver) vary(w *candidate) (*candidate, error) {
	for range variations {
		all := leaves(w.obj)
		if len(all) == 0 {
			break
		}
		varied := w.clone()
		at := objectPath{path: all[h.maker.rng.IntN(len(all))]}
		if v, _ := w.get(at); !varied.put(at, h.uncommon(v)) {
			continue
		}
		v, err := h.oracle.decide(varied)
		if errors.Is(err, errSpent) {
			break
		}
		if err != nil {
			return nil, err
		}
		if v.accepted() {
			w = varied
		}
	}
	return w, nil
}

func leaves(obj map[string]any) (all [][]engine.Step) {
	w := candidate{obj: obj}
	paths := removable(obj)
	for _, path := range paths[:min(maxVaried, len(paths))] {
		switch v, _ := w.get(objectPath{path: path}); v.(type) {
		case int64, float64, string:
			all = append(all, path)
		}
	}
	return all
}

func (h *solver) uncommon(v any) any {
	rng := h.maker.rng
	switch v := v.(type) {
	case int64:
		return []any{v + 1, v + 1000 + rng.Int64N(60_000), int64(math.MaxInt32), int64(1) << 40, -v}[rng.IntN(5)]
	case float64:
		return v + 0.25
	case string:
		return []any{v + "x", fmt.Sprint("Ab-", rng.IntN(100)), "é " + v}[rng.IntN(3)]
	}
	return v
}

package httplimit

import (
	"context"
	"slices"
	"sync"
)

// Turns limits how many requests run at once, and their total weight. The lightest waiting request is
// next, so a heavy request waits while lighter requests arrive.
type Turns struct {
	// all is the total weight that can run at once. It is also the maximum weight of a request.
	all int64

	mu      sync.Mutex
	number  int
	weight  int64
	waiting []*waiter // lightest first; equal weights in order of arrival
}

type waiter struct {
	weight int64
	turn   chan struct{}
}

// NewTurns returns turns for number requests at once with a total of weight.
func NewTurns(number int, weight int64) *Turns {
	return &Turns{all: weight, number: number, weight: weight}
}

// Take waits for a turn and reports whether it succeeded. It returns false if ctx is done first. A
// successful Take needs an End with the same weight.
func (t *Turns) Take(ctx context.Context, weight int64) bool {
	weight = min(weight, t.all)
	t.mu.Lock()
	w := &waiter{weight: weight, turn: make(chan struct{})}
	i, _ := slices.BinarySearchFunc(t.waiting, w, func(a, b *waiter) int {
		if a.weight <= b.weight {
			return -1
		}
		return 1
	})
	t.waiting = slices.Insert(t.waiting, i, w)
	t.next()
	t.mu.Unlock()
	select {
	case <-w.turn:
		return true
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i = slices.Index(t.waiting, w)
	if i < 0 {
		return true // the turn was granted at the same moment
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	return false
}

// End returns a turn of the given weight.
func (t *Turns) End(weight int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.number++
	t.weight += min(weight, t.all)
	t.next()
}

// next grants turns to waiting requests while possible.
func (t *Turns) next() {
	for len(t.waiting) > 0 && t.number > 0 && t.waiting[0].weight <= t.weight {
		w := t.waiting[0]
		t.waiting = slices.Delete(t.waiting, 0, 1)
		t.number--
		t.weight -= w.weight
		close(w.turn)
	}
}

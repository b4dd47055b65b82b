package httplimit

import (
	"context"
	"slices"
	"sync"
)

// Turns lets so many requests go on at once, and only so much weight of them.
// Of those that wait, the lightest is next: a heavy one waits while lighter
// ones come.
type Turns struct {
	// all is the weight that can go on at once, also that of one request.
	all int64

	mu      sync.Mutex
	number  int
	weight  int64
	waiting []*waiter // from the lightest, and of equals from the first
}

type waiter struct {
	weight int64
	turn   chan struct{}
}

// NewTurns is for so many at once, of so much weight together.
func NewTurns(number int, weight int64) *Turns {
	return &Turns{all: weight, number: number, weight: weight}
}

// Take waits for a turn. It returns false when the context ends before that.
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
		return true // both at once
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	return false
}

// End gives a turn back.
func (t *Turns) End(weight int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.number++
	t.weight += min(weight, t.all)
	t.next()
}

// next lets go on who can.
func (t *Turns) next() {
	for len(t.waiting) > 0 && t.number > 0 && t.waiting[0].weight <= t.weight {
		w := t.waiting[0]
		t.waiting = slices.Delete(t.waiting, 0, 1)
		t.number--
		t.weight -= w.weight
		close(w.turn)
	}
}

package httplimit

import (
	"context"
	"sync"
	"time"
)

// Budget is a number of bytes that transfers share.
type Budget struct {
	mu sync.Mutex
	// left is what nobody holds; leaving is held by evicted transfers, which
	// give it back at once.
	left, leaving int64
	// moving are the transfers that are not whole yet.
	moving map[*Transfer]struct{}
	// freed is closed, and made anew, when bytes are given back.
	freed chan struct{}
}

// NewBudget is room for so many bytes.
func NewBudget(size int64) *Budget {
	return &Budget{left: size, moving: map[*Transfer]struct{}{}, freed: make(chan struct{})}
}

// lingering is how long a transfer must have been under way before it gives way to
// others. Who sends at full speed and is thrown out at once would only come again.
const lingering = Window / 4

// take gives a transfer more bytes, and makes slower ones that linger give way
// until there are so many. Where there are none, it waits: for one that is whole,
// or lingers, or until it must give way itself.
func (r *Budget) take(ctx context.Context, t *Transfer, n int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		slower := func(other *Transfer, now time.Time) bool { return other.held > 0 && other.rate(now) < t.rate(now) }
		for n > r.left+r.leaving && r.evict(slower) {
		}
		switch {
		case t.evicted:
			return ErrEvicted
		case n <= r.left:
			r.left -= n
			t.held += n
			return nil
		case ctx.Err() != nil:
			return ErrNoRoom
		}
		r.wait(ctx)
	}
}

// wait returns when there may be more room.
func (r *Budget) wait(ctx context.Context) {
	freed := r.freed
	r.mu.Unlock()
	defer r.mu.Lock()
	select {
	case <-freed:
	case <-time.After(lingering):
	case <-ctx.Done():
	}
}

// give takes bytes back from a transfer.
func (r *Budget) give(t *Transfer, n int64) {
	if n == 0 {
		return
	}
	r.left += n
	t.held -= n
	if t.evicted {
		r.leaving -= n
	}
	r.wake()
}

func (r *Budget) wake() {
	close(r.freed)
	r.freed = make(chan struct{})
}

// Evict ends the slowest of the transfers that linger, and says whether there was
// one.
func (r *Budget) Evict() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.evict(func(*Transfer, time.Time) bool { return true })
}

// evict ends the slowest of the transfers that linger and may be ended.
func (r *Budget) evict(may func(*Transfer, time.Time) bool) bool {
	var slowest *Transfer
	now := time.Now()
	for t := range r.moving {
		if !t.evicted && now.Sub(t.began) >= lingering && may(t, now) && (slowest == nil || t.rate(now) < slowest.rate(now)) {
			slowest = t
		}
	}
	if slowest == nil {
		return false
	}
	slowest.evicted = true
	r.leaving += slowest.held
	slowest.deadline(past)
	r.wake() // it may be one that waits for bytes
	return true
}

// past is a time that is over.
var past = time.Unix(1, 0)

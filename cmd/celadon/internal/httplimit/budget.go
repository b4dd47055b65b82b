package httplimit

import (
	"context"
	"sync"
	"time"
)

// A Budget is a number of bytes that transfers share.
type Budget struct {
	mu sync.Mutex
	// left is the number of free bytes. leaving is held by evicted transfers, which are about to return
	// it.
	left, leaving int64
	// moving holds the transfers that are still in progress.
	moving map[*Transfer]struct{}
	// freed is closed and replaced when bytes are returned.
	freed chan struct{}
}

// NewBudget returns a budget of size bytes.
func NewBudget(size int64) *Budget {
	return &Budget{left: size, moving: map[*Transfer]struct{}{}, freed: make(chan struct{})}
}

// minAge is how long a transfer must have been in progress before it can be evicted. A client that
// sends at full speed would only retry if it were evicted at once.
const minAge = Window / 4

// take gives t n more bytes. If too few are free, it evicts slower transfers that have lingered. If
// that does not suffice, it waits until bytes are returned, another transfer has lingered, or t is
// evicted itself. It returns ErrNoRoom if ctx is done.
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

// wait returns when more bytes may be free. The caller holds the mutex.
func (r *Budget) wait(ctx context.Context) {
	freed := r.freed
	r.mu.Unlock()
	defer r.mu.Lock()
	select {
	case <-freed:
	case <-time.After(minAge):
	case <-ctx.Done():
	}
}

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

// Evict ends the slowest transfer that has lingered, and reports whether it found such a transfer.
func (r *Budget) Evict() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.evict(func(*Transfer, time.Time) bool { return true })
}

// evict ends the slowest transfer that has lingered and for which evictable returns true. It reports whether
// it found such a transfer.
func (r *Budget) evict(evictable func(*Transfer, time.Time) bool) bool {
	var slowest *Transfer
	now := time.Now()
	for t := range r.moving {
		if !t.evicted && now.Sub(t.began) >= minAge && evictable(t, now) && (slowest == nil || t.rate(now) < slowest.rate(now)) {
			slowest = t
		}
	}
	if slowest == nil {
		return false
	}
	slowest.evicted = true
	r.leaving += slowest.held
	slowest.deadline(past)
	r.wake() // it may be waiting for bytes
	return true
}

// past is a deadline that has expired.
var past = time.Unix(1, 0)

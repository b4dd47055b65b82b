package httplimit

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

const (
	// Free is the number of bytes that a transfer may hold without taking them from its Budget. The
	// limit on connections bounds these bytes as well.
	Free = 64 << 10
	// A transfer must move LeastBytes, or the rest of its data, in each Window. Otherwise it is ended.
	LeastBytes = 32 << 10
	Window     = 2 * time.Second
)

var (
	// ErrSlow reports a transfer that did not keep the minimum pace or ran out of time.
	ErrSlow = errors.New("too slow")
	// ErrEvicted reports a transfer that was the slowest when bytes were needed.
	ErrEvicted = errors.New("the slowest when memory was needed")
	// ErrNoRoom reports a transfer that did not get bytes from its budget in time.
	ErrNoRoom = errors.New("no memory left")
)

// A Transfer is a request or response body in progress.
type Transfer struct {
	budget *Budget
	// deadline sets the deadline of the current read or write.
	deadline func(time.Time)
	began    time.Time

	// The fields below are guarded by budget.mu.

	held    int64
	evicted bool
	// moved is the number of bytes moved in the time spent reading or writing. since is the start of
	// the current read or write, or zero.
	moved int64
	spent time.Duration
	since time.Time
}

// Begin starts a transfer. deadline sets the deadline of its reads or writes.
func (r *Budget) Begin(deadline func(time.Time) error) *Transfer {
	t := &Transfer{budget: r, began: time.Now(), deadline: func(at time.Time) { _ = deadline(at) }} // an httptest.ResponseRecorder has no deadline
	r.mu.Lock()
	defer r.mu.Unlock()
	r.moving[t] = struct{}{}
	return t
}

// End returns the bytes that the transfer holds. It may be called more than once.
func (t *Transfer) End() {
	t.complete()
	t.budget.mu.Lock()
	defer t.budget.mu.Unlock()
	t.budget.give(t, t.held)
}

// complete marks the transfer as complete. It can no longer be evicted.
func (t *Transfer) complete() {
	t.budget.mu.Lock()
	defer t.budget.mu.Unlock()
	delete(t.budget.moving, t)
	if t.evicted { // too late: it is complete or about to end
		t.evicted = false
		t.budget.leaving -= t.held
	}
}

// rate returns bytes per second. Time spent waiting for the budget does not count.
func (t *Transfer) rate(now time.Time) float64 {
	spent := t.spent
	if !t.since.IsZero() {
		spent += now.Sub(t.since)
	}
	return float64(t.moved) / (spent + time.Microsecond).Seconds()
}

// Receive reads from until EOF and appends to into. It keeps at most limit bytes. The bytes are held
// until End.
func (t *Transfer) Receive(ctx context.Context, into []byte, from io.Reader, limit int) ([]byte, error) {
	defer t.complete()
	p := rateWindow{moved: LeastBytes} // so that the first move opens a window
	for {
		if len(into) == cap(into) {
			start := time.Now()
			bigger, err := t.grow(ctx, into, limit)
			if err != nil {
				return nil, err
			}
			into = bigger
			p.ends = p.ends.Add(time.Since(start)) // the sender did not cause this wait
		}
		n, err := t.move(ctx, &p, func() (int, error) { return from.Read(into[len(into):cap(into)]) })
		into = into[:len(into)+n]
		if errors.Is(err, io.EOF) {
			t.deadline(time.Time{})
			return into, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// grow returns full with four times the capacity, up to one byte more than limit. The extra byte lets
// the reader report EOF.
func (t *Transfer) grow(ctx context.Context, full []byte, limit int) ([]byte, error) {
	size := max(4*cap(full), Free/8)
	if cap(full) < Free {
		size = min(size, Free)
	}
	size = min(size, max(limit, cap(full))+1)
	if size > Free {
		if err := t.budget.take(ctx, t, int64(size)); err != nil {
			return nil, err
		}
	}
	bigger := make([]byte, len(full), size)
	copy(bigger, full)
	if cap(full) > Free {
		t.budget.mu.Lock()
		defer t.budget.mu.Unlock()
		t.budget.give(t, int64(cap(full)))
	}
	return bigger, nil
}

// Hold takes size bytes that are already in memory.
func (t *Transfer) Hold(ctx context.Context, size int) error {
	if size <= Free {
		return nil
	}
	return t.budget.take(ctx, t, int64(size))
}

// Send writes data in pieces.
func (t *Transfer) Send(ctx context.Context, to io.Writer, data []byte) error {
	defer t.complete()
	p := rateWindow{moved: LeastBytes}
	for len(data) > 0 {
		n, err := t.move(ctx, &p, func() (int, error) { return to.Write(data[:min(len(data), LeastBytes)]) })
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// rateWindow counts the bytes moved in the current window. A new window opens once they are enough.
type rateWindow struct {
	ends  time.Time
	moved int
}

// move calls once with the window's end as the deadline.
func (t *Transfer) move(ctx context.Context, p *rateWindow, once func() (int, error)) (int, error) {
	start := time.Now()
	if p.moved >= LeastBytes {
		*p = rateWindow{ends: start.Add(Window)}
	}
	ends := p.ends
	if at, ok := ctx.Deadline(); ok && at.Before(ends) {
		ends = at
	}
	t.deadline(ends)
	if !t.moves(start) { // evicted before the deadline was set
		return 0, ErrEvicted
	}
	n, err := once()
	p.moved += n
	evicted := t.rests(start, n)
	switch {
	case err == nil || !errors.Is(err, os.ErrDeadlineExceeded):
		return n, err
	case evicted:
		return n, ErrEvicted
	}
	return n, ErrSlow
}

func (t *Transfer) moves(now time.Time) bool {
	t.budget.mu.Lock()
	defer t.budget.mu.Unlock()
	t.since = now
	return !t.evicted
}

func (t *Transfer) rests(since time.Time, n int) (evicted bool) {
	t.budget.mu.Lock()
	defer t.budget.mu.Unlock()
	t.since = time.Time{}
	t.spent += time.Since(since)
	t.moved += int64(n)
	return t.evicted
}

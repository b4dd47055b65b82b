package httplimit

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

const (
	// Free is how many bytes a transfer may hold that are not taken from its
	// Budget: the bound on connections is theirs, too.
	Free = 64 << 10
	// A transfer that does not move LeastBytes in each Window, or what is left
	// of it, is ended.
	LeastBytes = 32 << 10
	Window     = 2 * time.Second
)

var (
	// ErrSlow is of a transfer that kept no pace, or had no time left.
	ErrSlow = errors.New("too slow")
	// ErrEvicted is of a transfer that was the slowest when room was needed.
	ErrEvicted = errors.New("the slowest when room was needed")
	// ErrNoRoom is of a transfer for which there was no room in time.
	ErrNoRoom = errors.New("no room")
)

// Transfer is a body or an answer on its way.
type Transfer struct {
	room *Budget
	// deadline ends a read or write that is under way.
	deadline func(time.Time)
	began    time.Time

	// The rest is guarded by the room's mutex.

	held    int64
	evicted bool
	// moved is what came in the time spent reading or writing; since is when
	// the read or write under way began, if one is.
	moved int64
	spent time.Duration
	since time.Time
}

// Begin is a transfer whose reads or writes end at the deadline that is set.
func (r *Budget) Begin(deadline func(time.Time) error) *Transfer {
	t := &Transfer{room: r, began: time.Now(), deadline: func(at time.Time) { _ = deadline(at) }} // a recorder in a test has none
	r.mu.Lock()
	defer r.mu.Unlock()
	r.moving[t] = struct{}{}
	return t
}

// End gives back what the transfer holds. It may be called more than once.
func (t *Transfer) End() {
	t.whole()
	t.room.mu.Lock()
	defer t.room.mu.Unlock()
	t.room.give(t, t.held)
}

// whole says that nothing more will move: it is no longer one that gives way.
func (t *Transfer) whole() {
	t.room.mu.Lock()
	defer t.room.mu.Unlock()
	delete(t.room.moving, t)
	if t.evicted { // it was too late for that, or it is about to end
		t.evicted = false
		t.room.leaving -= t.held
	}
}

// rate is in bytes a second. Time in which the transfer waited for room does not
// count.
func (t *Transfer) rate(now time.Time) float64 {
	spent := t.spent
	if !t.since.IsZero() {
		spent += now.Sub(t.since)
	}
	return float64(t.moved) / (spent + time.Microsecond).Seconds()
}

// Receive appends to into what a reader gives until its end, of which no more
// than most bytes are kept. The bytes are held until End.
func (t *Transfer) Receive(ctx context.Context, into []byte, from io.Reader, most int) ([]byte, error) {
	defer t.whole()
	p := pace{moved: LeastBytes} // so that a window opens
	for {
		if len(into) == cap(into) {
			start := time.Now()
			bigger, err := t.grow(ctx, into, most)
			if err != nil {
				return nil, err
			}
			into = bigger
			p.ends = p.ends.Add(time.Since(start)) // it was not the sender who waited
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

// grow gives four times the room, and one byte more than most at the end: it is
// the reader who says where that is.
func (t *Transfer) grow(ctx context.Context, full []byte, most int) ([]byte, error) {
	size := max(4*cap(full), Free/8)
	if cap(full) < Free {
		size = min(size, Free)
	}
	size = min(size, max(most, cap(full))+1)
	if size > Free {
		if err := t.room.take(ctx, t, int64(size)); err != nil {
			return nil, err
		}
	}
	bigger := make([]byte, len(full), size)
	copy(bigger, full)
	if cap(full) > Free {
		t.room.mu.Lock()
		defer t.room.mu.Unlock()
		t.room.give(t, int64(cap(full)))
	}
	return bigger, nil
}

// Hold takes bytes that are there already.
func (t *Transfer) Hold(ctx context.Context, size int) error {
	if size <= Free {
		return nil
	}
	return t.room.take(ctx, t, int64(size))
}

// Send writes data piece by piece.
func (t *Transfer) Send(ctx context.Context, to io.Writer, data []byte) error {
	defer t.whole()
	p := pace{moved: LeastBytes}
	for len(data) > 0 {
		n, err := t.move(ctx, &p, func() (int, error) { return to.Write(data[:min(len(data), LeastBytes)]) })
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// pace is what moved in the window that is open. A new one opens when it was
// enough.
type pace struct {
	ends  time.Time
	moved int
}

// move reads or writes once, within the window.
func (t *Transfer) move(ctx context.Context, p *pace, once func() (int, error)) (int, error) {
	start := time.Now()
	if p.moved >= LeastBytes {
		*p = pace{ends: start.Add(Window)}
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
	t.room.mu.Lock()
	defer t.room.mu.Unlock()
	t.since = now
	return !t.evicted
}

func (t *Transfer) rests(since time.Time, n int) (evicted bool) {
	t.room.mu.Lock()
	defer t.room.mu.Unlock()
	t.since = time.Time{}
	t.spent += time.Since(since)
	t.moved += int64(n)
	return t.evicted
}

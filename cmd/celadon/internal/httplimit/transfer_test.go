package httplimit

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// wire returns both ends of an in-memory connection.
func wire(t *testing.T) (ours, theirs net.Conn) {
	t.Helper()
	ours, theirs = net.Pipe()
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return ours, theirs
}

// drip writes a piece at each interval until the other end stops reading.
func drip(ctx context.Context, to io.Writer, piece string, each time.Duration) {
	for ctx.Err() == nil {
		if _, err := io.WriteString(to, piece); err != nil {
			return
		}
		select {
		case <-time.After(each):
		case <-ctx.Done():
		}
	}
}

// TestPace checks, with a fake clock, that a slow transfer is ended, whether it stops, drips, or runs
// out of time.
func TestPace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first int // bytes at once
		piece string
		each  time.Duration
		time  time.Duration
		err   error
		after time.Duration
	}{
		"silent":                {0, "", time.Hour, time.Minute, ErrSlow, Window},
		"a byte a second":       {0, "x", time.Second, time.Minute, ErrSlow, Window},
		"stops in the middle":   {100 << 10, "", time.Hour, time.Minute, ErrSlow, Window},
		"half as fast":          {0, strings.Repeat("x", LeastBytes/8), Window / 4, time.Minute, ErrSlow, Window},
		"fast enough":           {0, strings.Repeat("x", LeastBytes/4), Window / 5, 10 * Window, ErrSlow, 10 * Window},
		"short of time":         {0, "x", time.Second, time.Second, ErrSlow, time.Second},
		"whole, but for a byte": {3 << 20, "", time.Hour, time.Minute, ErrSlow, Window},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := wire(t)
				go func() {
					_, _ = io.WriteString(theirs, strings.Repeat("x", c.first))
					drip(t.Context(), theirs, c.piece, c.each)
				}()
				budget := NewBudget(8 << 20)
				ctx, cancel := context.WithTimeout(t.Context(), c.time)
				defer cancel()
				body := budget.Begin(ours.SetReadDeadline)
				start := time.Now()
				_, err := body.Receive(ctx, nil, ours, 4<<20)
				body.End()
				if took := time.Since(start); !errors.Is(err, c.err) || took != c.after {
					t.Errorf("%v after %s, want %v after %s", err, took, c.err, c.after)
				}
				if budget.left != 8<<20 || budget.leaving != 0 || len(budget.moving) > 0 {
					t.Errorf("still held: %d of %d, leaving %d", budget.left, 8<<20, budget.leaving)
				}
				ours.Close()
				theirs.Close()
			})
		})
	}
}

// TestReceive checks that a body arrives whole, and that the bytes held depend on the received data and
// not on the announced length.
func TestReceive(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, Free - 1, Free, Free + 1, 300 << 10, 3 << 20} {
		for _, most := range []int{size, 4 << 20} {
			budget := NewBudget(8 << 20)
			body := budget.Begin(func(time.Time) error { return nil })
			data, err := body.Receive(t.Context(), make([]byte, 0, 100), strings.NewReader(strings.Repeat("x", size)), most)
			if err != nil || len(data) != size {
				t.Errorf("%d bytes: got %d, %v", size, len(data), err)
			}
			held := 8<<20 - budget.left
			if want := int64(cap(data)); cap(data) > Free && held != want || cap(data) <= Free && held != 0 || held > 4*int64(size)+1 {
				t.Errorf("%d bytes of at most %d: %d are held for %d", size, most, held, cap(data))
			}
			body.End()
			body.End()
			if budget.left != 8<<20 {
				t.Errorf("%d bytes: %d left of the room", size, budget.left)
			}
		}
	}
}

// TestEviction checks that the slowest transfer is evicted when bytes run out, even if it is the
// transfer that needs them, and that completed transfers are waited for.
func TestEviction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := NewBudget(3 << 20)
		outcomes := map[string]chan error{}
		begin := func(name string, first int) net.Conn {
			ours, theirs := wire(t)
			outcomes[name] = make(chan error, 1)
			body := budget.Begin(ours.SetReadDeadline)
			go func() {
				_, err := body.Receive(t.Context(), nil, ours, 1<<20)
				if err != nil {
					body.End()
				}
				outcomes[name] <- err
			}()
			_, _ = io.WriteString(theirs, strings.Repeat("x", first))
			synctest.Wait()
			return theirs
		}
		begin("tiny", 10) // the slowest, but evicting it would free no bytes
		begin("slow", 600<<10)
		time.Sleep(time.Second)
		fast := begin("fast", 600<<10)
		time.Sleep(time.Millisecond)
		faster := begin("faster", 600<<10) // the slow one is evicted for this
		if err := <-outcomes["slow"]; !errors.Is(err, ErrEvicted) {
			t.Errorf("the slow one: %v", err)
		}
		fast.Close() // complete, and still held
		if err := <-outcomes["fast"]; err != nil {
			t.Errorf("the fast one: %v", err)
		}
		faster.Close()
		if err := <-outcomes["faster"]; err != nil {
			t.Errorf("the faster one: %v", err)
		}
		if len(outcomes["tiny"]) > 0 {
			t.Error("the tiny one gave way")
		}
		ctx, cancel := context.WithTimeout(t.Context(), minAge)
		defer cancel()
		start := time.Now()
		late := budget.Begin(func(time.Time) error { return nil })
		if err := late.Hold(ctx, 1<<20+1); !errors.Is(err, ErrNoRoom) || time.Since(start) != minAge {
			t.Errorf("all memory held by complete bodies: %v after %s", err, time.Since(start))
		}
		late.End()
		if !budget.Evict() { // for a connection, although it frees no bytes
			t.Error("no transfer was evicted")
		}
		if err := <-outcomes["tiny"]; !errors.Is(err, ErrEvicted) {
			t.Errorf("the tiny one: %v", err)
		}
		young := budget.Begin(func(time.Time) error { return nil })
		if budget.Evict() {
			t.Error("one gives way that does not linger")
		}
		young.End()
	})
}

// TestSend checks that a response that is not read is ended, and that a response that is read at the
// minimum pace is not.
func TestSend(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		each time.Duration
		err  error
	}{"unread": {time.Hour, ErrSlow}, "read": {Window / 5, nil}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := wire(t)
				go func() {
					for t.Context().Err() == nil {
						select {
						case <-time.After(c.each):
						case <-t.Context().Done():
						}
						if _, err := theirs.Read(make([]byte, LeastBytes/4)); err != nil {
							return
						}
					}
				}()
				budget := NewBudget(1 << 20)
				answer := budget.Begin(ours.SetWriteDeadline)
				data := make([]byte, 300<<10)
				if err := answer.Hold(t.Context(), len(data)); err != nil || budget.left != 1<<20-300<<10 {
					t.Errorf("%v, %d left", err, budget.left)
				}
				if err := answer.Send(t.Context(), ours, data); !errors.Is(err, c.err) {
					t.Errorf("got %v, want %v", err, c.err)
				}
				answer.End()
				if budget.left != 1<<20 {
					t.Errorf("%d left", budget.left)
				}
			})
		})
	}
}

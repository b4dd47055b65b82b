package httplimit

import (
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// dialled is a listener whose connections a test sends by hand.
type dialled chan net.Conn

func (d dialled) Accept() (net.Conn, error) { return <-d, nil }
func (d dialled) Close() error              { return nil }
func (d dialled) Addr() net.Addr            { return nil }

// TestListener checks which connection gives way when the limit is exceeded.
func TestListener(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		network := make(dialled, 1)
		evicted, can := 0, false
		l := Listen(network, 3, func() bool {
			if can {
				evicted++
			}
			return can
		})
		var clients []net.Conn
		accept := func() net.Conn {
			ours, theirs := wire(t)
			clients = append(clients, theirs)
			network <- ours
			c, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		gone := func(c net.Conn) bool { return c.(*conn).closed }
		first, second, third := accept(), accept(), accept()
		l.State(first, http.StateActive)
		l.State(first, http.StateIdle)
		l.State(second, http.StateActive)
		time.Sleep(minAge)
		fourth := accept()
		if !gone(third) || gone(first) || gone(second) {
			t.Error("the one without any request goes first")
		}
		l.State(fourth, http.StateActive)
		can = true
		fifth := accept()
		if evicted != 1 || gone(first) {
			t.Error("then a transfer that lingers")
		}
		l.State(fifth, http.StateActive)
		can = false
		sixth := accept()
		if !gone(first) {
			t.Error("then the one that waits for another request")
		}
		l.State(sixth, http.StateActive)
		l.State(first, http.StateIdle) // it was closed in the meantime
		// All connections have a request, so a new connection finds no room until a request ends.
		l.State(fifth, http.StateIdle) // this one is waiting, but has not lingered
		rejected, theirs := wire(t)
		network <- rejected
		accepted := make(chan net.Conn)
		go func() {
			c, _ := l.Accept()
			accepted <- c
		}()
		if _, err := theirs.Read(make([]byte, 1)); err == nil {
			t.Error("one too many is open")
		}
		second.Close()
		second.Close()
		fourth.Close()
		last, _ := wire(t)
		network <- last
		if c := <-accepted; gone(c) || l.open != 3 {
			t.Errorf("%d are open", l.open)
		}
	})
}

// TestUnrequested checks the limit on bytes before a request, and that more may arrive afterwards.
func TestUnrequested(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := wire(t)
		network := make(dialled, 1)
		network <- ours
		l := Listen(network, 1, nil)
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				if _, err := theirs.Write(make([]byte, 1000)); err != nil {
					return
				}
			}
		}()
		total := 0
		pull := func(most int) (err error) {
			total = 0
			for err == nil && total < most {
				var n int
				n, err = c.Read(make([]byte, 4096))
				total += n
			}
			return err
		}
		if err := pull(2 * Unrequested); !errors.Is(err, errUnrequested) || total != Unrequested {
			t.Errorf("before a request: %d bytes, %v", total, err)
		}
		l.State(c, http.StateActive)
		if err := pull(2 * Unrequested); err != nil {
			t.Errorf("in a request: %v", err)
		}
		l.State(c, http.StateIdle)
		if err := pull(2 * Unrequested); !errors.Is(err, errUnrequested) {
			t.Errorf("before the next: %v", err)
		}
	})
}

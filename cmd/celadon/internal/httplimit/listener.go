package httplimit

import (
	"container/list"
	"errors"
	"math"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Unrequested is how many bytes may come over a connection before a request
// begins: a TLS handshake with certificates, a header, and what comes with it.
const Unrequested = 64 << 10

// Listener bounds the connections that are open. One too many closes the one
// that has waited longest for its first request; or else evicts a transfer; or
// else closes the one that has waited longest for another request. Each must
// linger: where none does, it is closed itself.
type Listener struct {
	net.Listener
	limit int
	evict func() bool

	mu   sync.Mutex
	open int
	// fresh are connections that had no request yet, and idle those that wait
	// for another, from the one that has waited longest.
	fresh, idle list.List
}

// Listen bounds a listener. Its State must be told of each change of a
// connection.
func Listen(inner net.Listener, limit int, evict func() bool) *Listener {
	return &Listener{Listener: inner, limit: limit, evict: evict}
}

// conn is one of a Listener's.
type conn struct {
	net.Conn
	of *Listener
	// unrequested is what may still come before a request begins.
	unrequested atomic.Int64
	// element is the connection's in one of the lists since then, or nil.
	element *list.Element
	since   time.Time
	closed  bool
}

// fullPause is between connections that push out others, so that one has time
// for its handshake before it is its turn to go.
const fullPause = time.Millisecond

// Accept waits for the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if !l.makeRoom() {
			_ = inner.Close()
			continue
		}
		c := &conn{Conn: inner, of: l}
		l.mu.Lock()
		l.open++
		c.wait(&l.fresh)
		l.mu.Unlock()
		return c, nil
	}
}

func (l *Listener) makeRoom() bool {
	if !l.full() {
		return true
	}
	time.Sleep(fullPause)
	return !l.full() || l.closeFirst(&l.fresh) || l.evict() || l.closeFirst(&l.idle)
}

func (l *Listener) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open >= l.limit
}

// closeFirst closes the connection that has been longest in a list, if that
// lingers.
func (l *Listener) closeFirst(in *list.List) bool {
	l.mu.Lock()
	first := in.Front()
	lingers := first != nil && time.Since(first.Value.(*conn).since) >= lingering
	l.mu.Unlock()
	if lingers {
		_ = first.Value.(*conn).Close()
	}
	return lingers
}

// State is for http.Server.ConnState.
func (l *Listener) State(c net.Conn, state http.ConnState) {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = t.NetConn()
	}
	own, ok := c.(*conn)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch state {
	case http.StateActive:
		own.requested()
	case http.StateIdle:
		own.wait(&l.idle)
	}
}

func (c *conn) wait(in *list.List) {
	c.requested()
	if !c.closed {
		c.unrequested.Store(Unrequested)
		c.element, c.since = in.PushBack(c), time.Now()
	}
}

func (c *conn) requested() {
	c.unrequested.Store(math.MaxInt64)
	if c.element != nil {
		c.of.fresh.Remove(c.element) // of the two lists it is in one
		c.of.idle.Remove(c.element)
		c.element = nil
	}
}

var errUnrequested = errors.New("too many bytes before a request")

func (c *conn) Read(into []byte) (int, error) {
	left := c.unrequested.Load()
	if left <= 0 {
		return 0, errUnrequested
	}
	n, err := c.Conn.Read(into[:min(int64(len(into)), left)])
	c.unrequested.Add(-int64(n))
	return n, err
}

// Close also takes the connection out of the count.
func (c *conn) Close() error {
	c.of.mu.Lock()
	if !c.closed {
		c.closed = true
		c.of.open--
		c.requested()
	}
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite is for http.Server, which so lets a client read an answer to a
// request that was not read to its end.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

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

// Unrequested is the maximum number of bytes that a connection may receive before a request starts: a
// TLS handshake with certificates, a header, and the data that arrives with it.
const Unrequested = 64 << 10

// Listener limits the number of open connections. To accept another connection, it closes the
// connection that has waited longest for its first request, or else evicts a transfer, or else closes
// the connection that has waited longest for another request. Only connections and transfers that have
// lingered give way. If nothing can give way, the new connection is closed.
type Listener struct {
	net.Listener
	limit int
	evict func() bool

	mu   sync.Mutex
	open int
	// fresh lists the connections without a request so far, and idle those that wait for another
	// request, longest wait first.
	fresh, idle list.List
}

// Listen returns a Listener that accepts at most limit connections from inner. Set
// http.Server.ConnState to its State. evict must end a transfer if it can, and report whether it did.
func Listen(inner net.Listener, limit int, evict func() bool) *Listener {
	return &Listener{Listener: inner, limit: limit, evict: evict}
}

// conn is a connection that a Listener accepted.
type conn struct {
	net.Conn
	of *Listener
	// unrequested is the number of bytes that may still arrive before a request starts.
	unrequested atomic.Int64
	// element is the connection's entry in one of the two lists since the time since, or nil.
	element *list.Element
	since   time.Time
	closed  bool
}

// fullPause is the pause before a connection displaces another, so that the other connection has time
// for its handshake.
const fullPause = time.Millisecond

// Accept waits for the next connection. It closes new connections that exceed the limits.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if !l.ensureFree() {
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

func (l *Listener) ensureFree() bool {
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

// closeFirst closes the first connection in a list if it has lingered, and reports whether it did.
func (l *Listener) closeFirst(in *list.List) bool {
	l.mu.Lock()
	first := in.Front()
	lingers := first != nil && time.Since(first.Value.(*conn).since) >= minAge
	l.mu.Unlock()
	if lingers {
		_ = first.Value.(*conn).Close()
	}
	return lingers
}

// State records the state of a connection. Use it as http.Server.ConnState.
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
		c.of.fresh.Remove(c.element) // it is in one of the two lists
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

// Close closes the connection and removes it from the count.
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

// CloseWrite is used by http.Server, so that a client can read the response to a request that was not
// read completely.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

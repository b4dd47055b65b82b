// Package jsonrpc is JSON-RPC 2.0 as language servers speak it: messages with a header
// that has their length, on two streams.
//
//	c := jsonrpc.New(in, out, jsonrpc.Handler{Notified: …, Asked: …})
//	go c.Notify("window/logMessage", params)
//	err := c.Run() // until in ends
//
// Whoever writes to the stream may be hostile, and slow: what is announced is not
// believed, what is no message is answered or ends the connection, and nothing that
// is written to the other end keeps anything from being read.
package jsonrpc

// How it works. One goroutine reads. Notifications are handled there, in their order,
// so Notified must not wait for anything; of a request only what it is about is taken
// there (Asked), what that returns runs on a goroutine of its own. So a request sees
// the documents as they were when it was sent, a long one holds up nothing, and
// $/cancelRequest reaches it. What is written stands in a queue that another goroutine
// empties: a client that does not read can stop no handler, and when too much waits
// for it the connection ends.
//
// Why no library: golang.org/x/exp/jsonrpc2 and github.com/sourcegraph/jsonrpc2 end the connection at a body that is not
// JSON, which is to be answered (TestMessages), read header lines of any length, and accept bodies of 2 and 4 GB, which
// the first allocates before it reads them (TestNotFramed). Neither limits running requests or unread answers, and both
// write in the handler's goroutine, where a client that does not read blocks it. With these limits, the framing and
// the queue would stay here. go.lsp.dev/jsonrpc2 is made for go.lsp.dev/protocol, which decodes untrusted input with
// 70,000 generated lines on package unsafe and makes the command 3.5 MB larger.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Handler is what messages from the other end are for.
type Handler struct {
	// Notified takes a notification. It is called in the order of the stream and must
	// not wait; ones that it does not know it passes over.
	Notified func(method string, params json.RawMessage)
	// Asked takes a request and must not wait either; what it returns may, and gives
	// the result. A nil function is a method that there is not.
	Asked func(method string, params json.RawMessage) func(context.Context) (any, error)
	// Bug is told of a panic in a handler, which ends no session; nil tells nobody.
	Bug func(method string, v any)
}

// Error is an error with a code of its own.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// Codes of errors.
const (
	parseError     = -32700
	invalidRequest = -32600
	methodNotFound = -32601
	InvalidParams  = -32602
	internalError  = -32603
	RequestFailed  = -32803
	cancelled      = -32800
)

const (
	// maxRunning is how many requests may be worked on at a time.
	maxRunning = 256
	// maxWaiting is how much may wait for the other end to read it, in bytes.
	maxWaiting = 256 << 20
	// patience is how long handlers have to end when the stream has ended.
	patience = 2 * time.Second
)

// Conn is one end.
type Conn struct {
	in      *bufio.Reader
	out     io.Writer
	handler Handler
	wake    chan struct{}
	over    chan struct{} // closed when there is no more to write
	stop    context.CancelFunc
	ctx     context.Context

	mu      sync.Mutex
	running map[string]context.CancelFunc // by id
	calls   map[int64]chan *message
	next    int64
	queue   [][]byte
	waiting int
	err     error // why nothing is written any more
	work    sync.WaitGroup
}

// New makes a Conn; nothing is read before Run.
func New(in io.Reader, out io.Writer, h Handler) *Conn {
	c := &Conn{
		in: bufio.NewReader(in), out: out, handler: h, wake: make(chan struct{}, 1), over: make(chan struct{}),
		running: map[string]context.CancelFunc{}, calls: map[int64]chan *message{},
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

// message is any message; which one its fields say.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Run reads until the stream ends, or Close. The error says what was no message.
func (c *Conn) Run() error {
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.write()
	}()
	err := c.read()
	c.stop()
	ended := make(chan struct{})
	go func() {
		c.work.Wait()
		close(ended)
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
		return err
	}
	close(c.over)
	select {
	case <-written:
	case <-late.C:
	}
	return err
}

// Close ends the connection once what waits is written.
func (c *Conn) Close() { c.stop() }

func (c *Conn) read() error {
	frames := make(chan []byte)
	failed := make(chan error, 1)
	go func() { // reading cannot be interrupted
		for {
			body, err := readFrame(c.in)
			if err != nil {
				failed <- err
				return
			}
			select {
			case frames <- body:
			case <-c.ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case body := <-frames:
			c.take(body)
		case err := <-failed:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		case <-c.ctx.Done():
			return nil
		}
	}
}

func (c *Conn) take(body []byte) {
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		code := invalidRequest
		if !json.Valid(body) {
			code = parseError
		}
		c.answer(json.RawMessage("null"), nil, &Error{code, "not a message: " + err.Error()})
		return
	}
	switch {
	case m.Method == "" && m.ID != nil:
		c.answered(&m)
	case m.Method == "$/cancelRequest":
		c.cancel(m.Params)
	case m.Method != "" && m.ID == nil:
		c.notified(&m)
	case m.Method != "":
		c.asked(&m)
	}
}

func (c *Conn) notified(m *message) {
	defer func() {
		if v := recover(); v != nil {
			_ = c.bug(m.Method, v)
		}
	}()
	c.handler.Notified(m.Method, m.Params)
}

func (c *Conn) asked(m *message) {
	id := string(m.ID)
	run, err := c.begin(m)
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	if _, twice := c.running[id]; twice {
		err = &Error{invalidRequest, "this id is in use"}
	} else if len(c.running) >= maxRunning {
		err = &Error{RequestFailed, fmt.Sprintf("more than %d requests at a time", maxRunning)}
	}
	if err == nil {
		c.running[id] = cancel
	}
	c.mu.Unlock()
	if err != nil {
		cancel()
		c.answer(m.ID, nil, err)
		return
	}
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		result, err := c.guarded(ctx, m.Method, run)
		if errors.Is(err, context.Canceled) {
			err = &Error{cancelled, "cancelled"}
		}
		c.mu.Lock()
		delete(c.running, id)
		c.mu.Unlock()
		cancel()
		c.answer(m.ID, result, err)
	}()
}

// begin asks the handler what to do.
func (c *Conn) begin(m *message) (run func(context.Context) (any, error), err error) {
	defer func() {
		if v := recover(); v != nil {
			err = c.bug(m.Method, v)
		}
	}()
	if run = c.handler.Asked(m.Method, m.Params); run == nil {
		return nil, &Error{methodNotFound, strconv.Quote(m.Method) + ": no such method"}
	}
	return run, nil
}

func (c *Conn) guarded(ctx context.Context, method string, run func(context.Context) (any, error)) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = c.bug(method, v)
		}
	}()
	return run(ctx)
}

func (c *Conn) bug(method string, v any) error {
	if c.handler.Bug != nil {
		c.handler.Bug(method, v)
	}
	return &Error{internalError, string(untrusted.Sprintf("a bug in celadon: %s", fmt.Sprint(v)))}
}

// cancel ends a request's context.
func (c *Conn) cancel(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	c.mu.Lock()
	cancel := c.running[string(p.ID)]
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

func (c *Conn) answer(id json.RawMessage, result any, err error) {
	m := message{Version: "2.0", ID: id}
	if err == nil {
		m.Result, err = json.Marshal(result)
	}
	if err != nil {
		m.Result = nil
		if !errors.As(err, &m.Error) {
			m.Error = &Error{RequestFailed, err.Error()}
		}
	}
	_ = c.send(&m)
}

// Notify tells the other end. It does not wait; the error is that nothing is written
// any more.
func (c *Conn) Notify(method string, params any) error {
	m := message{Version: "2.0", Method: method}
	var err error
	if m.Params, err = json.Marshal(params); err != nil {
		return err
	}
	return c.send(&m)
}

// Call asks the other end, and must not be called where messages are taken.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	m := message{Version: "2.0", Method: method}
	var err error
	if m.Params, err = json.Marshal(params); err != nil {
		return err
	}
	reply := make(chan *message, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	c.calls[id] = reply
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, id)
		c.mu.Unlock()
	}()
	m.ID = json.RawMessage(strconv.FormatInt(id, 10))
	if err := c.send(&m); err != nil {
		return err
	}
	select {
	case r := <-reply:
		if r.Error != nil {
			return r.Error
		}
		if result == nil || r.Result == nil {
			return nil
		}
		return json.Unmarshal(r.Result, result)
	case <-ctx.Done():
		_ = c.Notify("$/cancelRequest", map[string]any{"id": id})
		return ctx.Err()
	case <-c.ctx.Done():
		return io.ErrClosedPipe
	}
}

func (c *Conn) answered(m *message) {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil {
		return
	}
	c.mu.Lock()
	reply := c.calls[id]
	delete(c.calls, id)
	c.mu.Unlock()
	if reply != nil {
		reply <- m
	}
}

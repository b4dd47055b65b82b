// Package jsonrpc implements JSON-RPC 2.0 as used by language servers: messages with a
// Content-Length header on two streams.
//
//	c := jsonrpc.New(in, out, jsonrpc.Handler{Notified: …, HandleRequest: …})
//	go c.Notify("window/logMessage", params)
//	err := c.Run() // until in ends
//
// The other end is untrusted and may be slow. Announced lengths are not relied on. An invalid
// message gets an error response or ends the connection. Writing never blocks reading.
package jsonrpc

// How it works. One goroutine reads. It handles notifications in order, so Notified must not block.
// For a request, it calls HandleRequest, which takes a snapshot of the data and returns a function that runs
// on its own goroutine. Therefore a request sees the documents as they were when it was sent, a
// long request blocks nothing, and $/cancelRequest reaches it. Messages to be written are queued,
// and another goroutine writes them. A client that does not read blocks no handler; if too much data
// is queued, the connection ends.
//
// Why no library: golang.org/x/exp/jsonrpc2 and github.com/sourcegraph/jsonrpc2 end the connection at a body that is not
// JSON, which requires a response (TestMessages), read header lines of any length, and accept bodies of 2 and 4 GB,
// which the first allocates before it reads them (TestNotFramed). Neither limits running requests or unread answers,
// and both write in the handler's goroutine, where a client that does not read blocks it. With these limits, the
// framing and the queue would stay here. go.lsp.dev/jsonrpc2 is made for go.lsp.dev/protocol, which decodes untrusted
// input with 70,000 generated lines on package unsafe and makes the command 3.5 MB larger.

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

// A Handler handles messages from the other end.
type Handler struct {
	// Notified handles a notification. It is called in the order of the stream and must not block.
	// It must ignore unknown notifications.
	Notified func(method string, params json.RawMessage)
	// HandleRequest handles a request and must not block. The function that it returns may block, and
	// returns the result. A nil function means that the method does not exist.
	HandleRequest func(method string, params json.RawMessage) func(context.Context) (any, error)
	// Bug, if not nil, is called when a handler panics. A panic does not end the session.
	Bug func(method string, v any)
}

// An Error is an error with a JSON-RPC error code.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// JSON-RPC error codes.
const (
	parseError     = -32700
	invalidRequest = -32600
	methodNotFound = -32601
	InvalidParams  = -32602
	internalError  = -32603
	RequestFailed  = -32803
	canceled       = -32800
)

const (
	// maxRunning limits the requests that are processed at the same time.
	maxRunning = 256
	// maxWaiting limits the bytes that are queued for the other end.
	maxWaiting = 256 << 20
	// patience is the time that handlers have to finish after the stream has ended.
	patience = 2 * time.Second
)

// A Conn is one end of a connection. Notify, Call, and Close are safe for concurrent use.
type Conn struct {
	in      *bufio.Reader
	out     io.Writer
	handler Handler
	wake    chan struct{}
	over    chan struct{} // closed when there is nothing more to write
	stop    context.CancelFunc
	ctx     context.Context

	mu      sync.Mutex
	running map[string]context.CancelFunc // by request ID
	calls   map[int64]chan *message
	next    int64
	queue   [][]byte
	waiting int
	err     error // the reason why nothing is written any more
	work    sync.WaitGroup
}

// New returns a Conn. It reads nothing before Run.
func New(in io.Reader, out io.Writer, h Handler) *Conn {
	c := &Conn{
		in: bufio.NewReader(in), out: out, handler: h, wake: make(chan struct{}, 1), over: make(chan struct{}),
		running: map[string]context.CancelFunc{}, calls: map[int64]chan *message{},
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

// A message is a request, a notification, or a response.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Run reads messages until the stream ends or Close is called. It returns an error if the input is
// not a sequence of messages.
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

// Close ends the connection after queued messages are written.
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
		c.startRequest(&m)
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

func (c *Conn) startRequest(m *message) {
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
			err = &Error{canceled, "cancelled"}
		}
		c.mu.Lock()
		delete(c.running, id)
		c.mu.Unlock()
		cancel()
		c.answer(m.ID, result, err)
	}()
}

// begin calls the handler of a request.
func (c *Conn) begin(m *message) (run func(context.Context) (any, error), err error) {
	defer func() {
		if v := recover(); v != nil {
			err = c.bug(m.Method, v)
		}
	}()
	if run = c.handler.HandleRequest(m.Method, m.Params); run == nil {
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
	return &Error{internalError, string(untrusted.Sprintf("internal error in celadon: %s", fmt.Sprint(v)))}
}

// cancel cancels the context of a request.
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

// Notify sends a notification. It does not block. It returns an error if the connection has ended.
func (c *Conn) Notify(method string, params any) error {
	m := message{Version: "2.0", Method: method}
	var err error
	if m.Params, err = json.Marshal(params); err != nil {
		return err
	}
	return c.send(&m)
}

// Call sends a request and waits for the response. It must not be called on the goroutine that
// handles messages.
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

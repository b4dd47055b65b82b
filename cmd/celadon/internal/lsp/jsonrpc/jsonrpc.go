// Package jsonrpc implements JSON-RPC 2.0 as used by language servers: messages with a
// Content-Length header on two streams.
//
//	c := jsonrpc.New(in, out, jsonrpc.Handler{Notified: …, HandleRequest: …})
//	go c.Notify("window/logMessage", params)
//	err := c.Run() // until in ends
package jsonrpc

// How it works. The library reads messages in one goroutine, and handles notifications there, so Notified must not
// block. For a request, it calls HandleRequest, which takes a snapshot of the data and returns a function that runs
// on its own goroutine. Therefore a request sees the documents as they were when it was sent, a
// long request blocks nothing, and $/cancelRequest reaches it. This package keeps a panic from ending
// the session.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

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
type Error = jsonrpc2.Error

// JSON-RPC error codes.
const (
	InvalidParams = jsonrpc2.CodeInvalidParams
	RequestFailed = -32803
	canceled      = -32800
)

// patience is the time that handlers have to finish after the stream has ended.
const patience = 2 * time.Second

// A Conn is one end of a connection. Notify, Call, and Close are safe for concurrent use.
type Conn struct {
	conn    *jsonrpc2.Conn
	handler Handler
	begun   chan struct{}
	invalid atomic.Pointer[error] // the reason why the input is not a sequence of messages
	stop    context.CancelFunc
	ctx     context.Context
	work    sync.WaitGroup

	mu      sync.Mutex
	running map[jsonrpc2.ID]context.CancelFunc
}

// New returns a Conn. It reads nothing before Run.
func New(in io.Reader, out io.Writer, h Handler) *Conn {
	c := &Conn{handler: h, begun: make(chan struct{}), running: map[jsonrpc2.ID]context.CancelFunc{}}
	c.ctx, c.stop = context.WithCancel(context.Background())
	stream := struct {
		io.Reader
		io.Writer
		io.Closer
	}{in, out, io.NopCloser(nil)}
	silent := jsonrpc2.SetLogger(log.New(io.Discard, "", 0))
	c.conn = jsonrpc2.NewConn(c.ctx, jsonrpc2.NewBufferedStream(stream, codec{conn: c}), c, silent)
	return c
}

type codec struct {
	jsonrpc2.VSCodeObjectCodec
	conn *Conn
}

// ReadObject reads a message. At the end of the stream, it ends the running requests, because the library
// drops their responses once it has returned.
func (c codec) ReadObject(r *bufio.Reader, v any) error {
	<-c.conn.begun
	err := c.VSCodeObjectCodec.ReadObject(r, v)
	if errors.Is(err, io.EOF) {
		c.conn.finish()
	} else if err != nil {
		c.conn.invalid.Store(&err)
	}
	return err
}

// Run reads messages until the stream ends or Close is called. It returns an error if the input is
// not a sequence of messages.
func (c *Conn) Run() error {
	close(c.begun)
	<-c.conn.DisconnectNotify()
	c.stop()
	c.finish()
	if err := c.invalid.Load(); err != nil {
		return *err
	}
	return nil
}

func (c *Conn) finish() {
	c.mu.Lock()
	for _, cancel := range c.running {
		cancel()
	}
	c.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		c.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(patience):
	}
}

// Close ends the connection.
func (c *Conn) Close() { c.stop() }

// Handle handles a request or notification for the library.
func (c *Conn) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	var params json.RawMessage
	if r.Params != nil {
		params = *r.Params
	}
	switch {
	case r.Method == "$/cancelRequest":
		c.cancel(params)
	case r.Notif:
		_, _ = c.guarded(r.Method, func() (any, error) { c.handler.Notified(r.Method, params); return nil, nil })
	default:
		c.startRequest(r, params)
	}
}

func (c *Conn) startRequest(r *jsonrpc2.Request, params json.RawMessage) {
	var run func(context.Context) (any, error)
	_, err := c.guarded(r.Method, func() (any, error) { run = c.handler.HandleRequest(r.Method, params); return nil, nil })
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	switch _, twice := c.running[r.ID]; {
	case twice:
		err = &Error{Code: jsonrpc2.CodeInvalidRequest, Message: "this id is in use"}
	case err == nil && run == nil:
		err = &Error{Code: jsonrpc2.CodeMethodNotFound, Message: fmt.Sprintf("%q: no such method", r.Method)}
	case err == nil:
		c.running[r.ID] = cancel
	}
	c.mu.Unlock()
	if err != nil {
		cancel()
		c.answer(r.ID, nil, err)
		return
	}
	c.work.Go(func() {
		result, err := c.guarded(r.Method, func() (any, error) { return run(ctx) })
		c.mu.Lock()
		delete(c.running, r.ID)
		c.mu.Unlock()
		cancel()
		c.answer(r.ID, result, err)
	})
}

func (c *Conn) guarded(method string, do func() (any, error)) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			if c.handler.Bug != nil {
				c.handler.Bug(method, v)
			}
			message := untrusted.Sprintf("internal error in celadon: %s", fmt.Sprint(v))
			err = &Error{Code: jsonrpc2.CodeInternalError, Message: string(message)}
		}
	}()
	return do()
}

func (c *Conn) cancel(params json.RawMessage) {
	var p struct {
		ID jsonrpc2.ID `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.running[p.ID]; cancel != nil {
		cancel()
	}
}

// answer ignores an error of sending, because the other end has gone.
func (c *Conn) answer(id jsonrpc2.ID, result any, err error) {
	response := &jsonrpc2.Response{ID: id}
	if err == nil {
		err = response.SetResult(result)
	}
	switch {
	case err == nil:
	case errors.As(err, &response.Error):
	case errors.Is(err, context.Canceled):
		response.Error = &Error{Code: canceled, Message: "cancelled"}
	default:
		response.Error = &Error{Code: RequestFailed, Message: err.Error()}
	}
	_ = c.conn.SendResponse(c.ctx, response)
}

// Notify sends a notification. It returns an error if the connection has ended.
func (c *Conn) Notify(method string, params any) error { return c.conn.Notify(c.ctx, method, params) }

// Call sends a request and waits for the response. It must not be called on the goroutine that
// handles messages.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	return c.conn.Call(ctx, method, params, result)
}

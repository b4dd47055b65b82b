package cluster

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	// maxStatus is how much is read of what is no list.
	maxStatus = 64 << 10
	// silence is how long a server may send nothing, slowness how long we may wait for
	// all parts of one answer.
	silence  = 2 * time.Minute
	slowness = 10 * time.Minute
	// maxWait is the longest that a server may let us wait before we ask again; it
	// may ten times.
	maxWait = time.Minute
)

// careful keeps a server from filling the memory with an error, and from letting us
// wait for ever. The library below it asks again where there is a Retry-After.
type careful struct {
	next              http.RoundTripper
	silence, slowness time.Duration
}

var (
	errSilent = errors.New("the server is silent")
	errSlow   = errors.New("the server takes too long for one answer")
)

func (t *careful) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	body := &heard{cancel: cancel, silence: t.silence, patience: t.slowness, timer: time.AfterFunc(t.silence, func() { cancel(errSilent) })}
	res, err := t.next.RoundTrip(req.WithContext(ctx))
	body.timer.Stop()
	if err != nil {
		defer cancel(nil)
		if errors.Is(context.Cause(ctx), errSilent) {
			err = errSilent
		}
		return nil, err
	}
	body.ctx, body.ReadCloser = ctx, res.Body
	res.Body = body
	if res.StatusCode >= http.StatusMultipleChoices {
		body.left = maxStatus
		patient(res)
	} else {
		body.left = -1
	}
	return res, nil
}

// patient lets a busy server be asked again soon where it does not say when, and not
// at all where it says too late.
func patient(res *http.Response) {
	const header = "Retry-After"
	switch seconds, err := strconv.Atoi(res.Header.Get(header)); {
	case err == nil && time.Duration(seconds) > maxWait/time.Second:
		res.Header.Del(header)
	case err == nil:
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode == http.StatusBadGateway,
		res.StatusCode == http.StatusServiceUnavailable, res.StatusCode == http.StatusGatewayTimeout:
		res.Header.Set(header, "1")
	}
}

// heard is a body that must not fall silent while it is read.
type heard struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	left   int // -1 is any number

	silence  time.Duration
	patience time.Duration // what is left of it
}

func (h *heard) Read(p []byte) (int, error) {
	if h.left == 0 {
		return 0, io.EOF
	}
	if h.left > 0 {
		p = p[:min(len(p), h.left)]
	}
	if h.patience <= 0 {
		return 0, errSlow
	}
	began := time.Now()
	h.timer.Reset(h.silence)
	n, err := h.ReadCloser.Read(p)
	h.timer.Stop()
	h.patience -= time.Since(began)
	if h.left > 0 {
		h.left -= n
	}
	if err != nil && errors.Is(context.Cause(h.ctx), errSilent) {
		err = errSilent
	}
	return n, err
}

func (h *heard) Close() error {
	defer h.cancel(nil)
	return h.ReadCloser.Close()
}

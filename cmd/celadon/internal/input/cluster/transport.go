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
	// maxStatus limits the size of an error response, and of the response with the version.
	maxStatus = 64 << 10
	// silence limits the time without any data from the server. slowness limits the total time spent
	// reading a response.
	silence  = 2 * time.Minute
	slowness = 10 * time.Minute
	// maxWait limits the Retry-After delay that is honored. A request is repeated at most ten times.
	maxWait = time.Minute
)

// noRetryTransport is a RoundTripper that limits the size of error responses and the time spent waiting. The
// client above it repeats requests whose response has a Retry-After header.
type noRetryTransport struct {
	next   http.RoundTripper
	client *Client
}

var (
	errSilent = errors.New("the server does not respond")
	errSlow   = errors.New("the server takes too long for one response")
)

func (t *noRetryTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	body := &limitedBody{cancel: cancel, silence: t.client.silence, timeLeft: t.client.slowness, timer: time.AfterFunc(t.client.silence, func() { cancel(errSilent) })}
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
		adjustRetryAfter(res)
	} else {
		body.left = -1
	}
	return res, nil
}

// adjustRetryAfter makes the client repeat a request soon if a busy server sends no delay, and not at all if the
// delay is too long.
func adjustRetryAfter(res *http.Response) {
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

type limitedBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	left   int // bytes that may still be read; -1 means any number

	silence  time.Duration
	timeLeft time.Duration
}

func (h *limitedBody) Read(p []byte) (int, error) {
	if h.left == 0 {
		return 0, io.EOF
	}
	if h.left > 0 {
		p = p[:min(len(p), h.left)]
	}
	if h.timeLeft <= 0 {
		return 0, errSlow
	}
	began := time.Now()
	h.timer.Reset(h.silence)
	n, err := h.ReadCloser.Read(p)
	h.timer.Stop()
	h.timeLeft -= time.Since(began)
	if h.left > 0 {
		h.left -= n
	}
	if err != nil && errors.Is(context.Cause(h.ctx), errSilent) {
		err = errSilent
	}
	return n, err
}

func (h *limitedBody) Close() error {
	defer h.cancel(nil)
	return h.ReadCloser.Close()
}

package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/celadon-cel/celadon/internal/text/jsontext"
)

// Limits on the resources that all clients together can occupy. docs/admission.md adds them up, and
// a test compares the sum with the example's memory limit.
const (
	// connectionsEach is the number of open connections per request that may be processed at once.
	connectionsEach = 4
	// smallBody is the number of bytes of a body or response that the limit on connections covers.
	smallBody = 64 << 10
	// bodyRoom limits the bytes of large bodies that are being received or waiting. answerRoom
	// limits the bytes of large responses that are being sent.
	bodyRoom        = 32 << 20
	answerRoom      = 32 << 20
	transferTimeout = 5 * time.Second
	// maxValues limits the JSON values in a body, because each may take much more memory than its bytes.
	maxValues = 1 << 18
	// valueMemory and byteMemory are the bytes of memory that a JSON value and a byte of a body need while the
	// request is processed.
	valueMemory = 1 << 10
	byteMemory  = 4
	// largeMemory limits the memory for processing large bodies. It is the most that a single body can need.
	// smallMemory limits the memory for small bodies, so that they never wait for large bodies. A single small body
	// needs less.
	largeMemory = maxValues*valueMemory + maxBody*byteMemory
	smallMemory = 96 << 20
)

type limits struct {
	bodies, answers *room
	small, large    *turns
}

// room is memory that large bodies or responses share. Waiting transfers are served in the order of their arrival.
type room struct {
	bytes *semaphore.Weighted
	all   int64 // also the most that a transfer takes
}

func newRoom(bytes int64) *room { return &room{semaphore.NewWeighted(bytes), bytes} }

func (r *room) take(ctx context.Context, n int) (release func(), err error) {
	if n <= smallBody {
		return func() {}, nil
	}
	weight := min(int64(n), r.all)
	if !r.bytes.TryAcquire(weight) { // Acquire fails at once if ctx is done
		if err := r.bytes.Acquire(ctx, weight); err != nil {
			return nil, err
		}
	}
	return func() { r.bytes.Release(weight) }, nil
}

// turns limits how many requests are processed at once, and their total memory.
type turns struct{ number, memory *semaphore.Weighted }

func newTurns(number int, memory int64) *turns {
	return &turns{semaphore.NewWeighted(int64(number)), semaphore.NewWeighted(memory)}
}

// A successful take must be followed by turn.end.
func (t *turns) take(ctx context.Context, memory int64) bool {
	if t.number.Acquire(ctx, 1) != nil {
		return false
	}
	if t.memory.Acquire(ctx, memory) != nil {
		t.number.Release(1)
		return false
	}
	return true
}

func newLimits(concurrency int) limits {
	return limits{
		bodies:  newRoom(bodyRoom),
		answers: newRoom(answerRoom),
		small:   newTurns(concurrency, smallMemory),
		large:   newTurns(concurrency, largeMemory),
	}
}

// receive does not hold a turn, so a slow client delays only its own request. size is the expected size.
func receive(ctx context.Context, w http.ResponseWriter, r *http.Request, size int) ([]byte, error) {
	until := time.Now().Add(transferTimeout)
	if at, ok := ctx.Deadline(); ok && at.Before(until) {
		until = at
	}
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(until) // a recorder in a test has no deadline
	var body bytes.Buffer
	body.Grow(size + bytes.MinRead)
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		_ = conn.SetReadDeadline(time.Time{})
		return body.Bytes(), nil
	case errors.As(err, &tooLarge):
		return nil, errTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, errSlow
	}
	return nil, &httpError{http.StatusBadRequest, "cannot read the body: " + err.Error(), true}
}

var (
	errTooLarge = &httpError{http.StatusRequestEntityTooLarge, fmt.Sprintf("body of more than %d bytes", maxBody), true}
	errTooMuch  = &httpError{http.StatusRequestEntityTooLarge, fmt.Sprintf("body of more than %d JSON values", maxValues), false}
	errSlow     = &httpError{http.StatusRequestTimeout, "the body did not arrive in time", true}
	errNoRoom   = &httpError{http.StatusServiceUnavailable, "too many large bodies at once", true}
	errTooMany  = &httpError{http.StatusServiceUnavailable, "too many requests at once", false}
)

type turn struct {
	*server
	of     *turns
	weight int64
	// version is the API version of the review and of its response.
	version string
}

func (h *admissionHandler) take(ctx context.Context, body []byte) (*turn, error) {
	values := jsonValues(body)
	if values > maxValues {
		return nil, errTooMuch
	}
	t := &turn{server: h.server, of: h.limits.small, weight: int64(values)*valueMemory + int64(len(body))*byteMemory}
	if len(body) > smallBody {
		t.of = h.limits.large
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // the client no longer waits for the response
	}
	if !t.of.take(ctx, t.weight) {
		return nil, errTooMany
	}
	h.metrics.inFlight.Inc()
	return t, nil
}

func (t *turn) end() {
	t.metrics.inFlight.Dec()
	t.of.memory.Release(t.weight)
	t.of.number.Release(1)
}

// send sends a response. A slow reader occupies room for responses, but no turn. An error is
// dropped, because the client has gone.
func send(w http.ResponseWriter, data []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(transferTimeout)) // a recorder in a test has no deadline
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data)
}

// reject sends an error. If the body was not read, the connection is closed, after a delay in which
// the client can read the response.
func reject(w http.ResponseWriter, err *httpError) {
	if err.unread {
		w.Header().Set("Connection", "close")
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(rejectTimeout)) // a recorder in a test has no deadline
	}
	http.Error(w, err.text, err.code)
}

// jsonValues returns an upper bound of the number of values in a JSON text, including nested values.
func jsonValues(data []byte) int {
	n := 1
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case ',', '{', '[':
			n++
		case '"':
			i = jsontext.StringEnd(data, i) - 1
		}
	}
	return n
}

package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/httplimit"
)

// What clients can hold together; docs/admission.md adds it up, and a test holds
// the example's memory limit against the sum.
const (
	// connectionsEach is how many connections may be open for each request that
	// may be decided at once.
	connectionsEach = 4
	// bodyRoom is for large bodies on their way or waiting for their turn, and
	// answerRoom for large answers on their way. Small ones need no room.
	bodyRoom   = 32 << 20
	answerRoom = 32 << 20
	// maxValues is of JSON values in a body: each may take a multiple of its
	// bytes.
	maxValues = 1 << 18
	// valueMemory and byteMemory are what a value and a byte of a body take while
	// it is decided.
	valueMemory = 1 << 10
	byteMemory  = 4
	// largeMemory is for all large bodies being decided, and is as much as one
	// can take. smallMemory is for all small ones, so that they never wait for
	// large ones.
	largeMemory = maxValues*valueMemory + maxBody*byteMemory
	smallMemory = 96 << 20
)

// limits are what requests take before they are decided.
type limits struct {
	bodies, answers *httplimit.Budget
	small, large    *httplimit.Turns
}

func newLimits(concurrency int) limits {
	return limits{
		bodies:  httplimit.NewBudget(bodyRoom),
		answers: httplimit.NewBudget(answerRoom),
		small:   httplimit.NewTurns(concurrency, smallMemory),
		large:   httplimit.NewTurns(concurrency, largeMemory),
	}
}

// evict ends the slowest body, or if there is none the slowest answer.
func (l *limits) evict() bool { return l.bodies.Evict() || l.answers.Evict() }

// receive reads a body. It holds no turn, so that who sends slowly takes only
// its own time.
func (h *admissionHandler) receive(ctx context.Context, w http.ResponseWriter, r *http.Request, body *httplimit.Transfer, into []byte) ([]byte, error) {
	most := maxBody
	if r.ContentLength >= 0 {
		most = int(min(r.ContentLength, maxBody))
	}
	data, err := body.Receive(ctx, into, http.MaxBytesReader(w, r.Body, maxBody), most)
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return data, nil
	case errors.As(err, &tooLarge):
		return nil, errTooLarge
	case errors.Is(err, httplimit.ErrSlow):
		return nil, errSlow
	case errors.Is(err, httplimit.ErrEvicted), errors.Is(err, httplimit.ErrNoRoom):
		return nil, errNoRoom
	}
	return nil, &httpError{http.StatusBadRequest, "cannot read the body: " + err.Error(), true}
}

var (
	errTooLarge = &httpError{http.StatusRequestEntityTooLarge, fmt.Sprintf("body of more than %d bytes", maxBody), true}
	errTooMuch  = &httpError{http.StatusRequestEntityTooLarge, fmt.Sprintf("body of more than %d JSON values", maxValues), false}
	errSlow     = &httpError{http.StatusRequestTimeout, fmt.Sprintf("the body did not come in time: want %d bytes each %s", httplimit.LeastBytes, httplimit.Window), true}
	errNoRoom   = &httpError{http.StatusServiceUnavailable, "too many large or slow bodies at once", true}
	errTooMany  = &httpError{http.StatusServiceUnavailable, "too many requests at once", false}
)

// turn is what a request holds while it is decided.
type turn struct {
	*server
	of     *httplimit.Turns
	weight int64
	// version is the review's, in which it is answered.
	version string
}

// take waits for a turn for a body that has come.
func (h *admissionHandler) take(ctx context.Context, body []byte) (*turn, error) {
	values := jsonValues(body)
	if values > maxValues {
		return nil, errTooMuch
	}
	t := &turn{server: h.server, of: h.limits.small, weight: int64(values)*valueMemory + int64(len(body))*byteMemory}
	if len(body) > httplimit.Free {
		t.of = h.limits.large
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // nobody waits for the answer
	}
	if !t.of.Take(ctx, t.weight) {
		return nil, errTooMany
	}
	h.metrics.inFlight.Inc()
	return t, nil
}

func (t *turn) end() {
	t.metrics.inFlight.Dec()
	t.of.End(t.weight)
}

// send writes an answer. Who reads it slowly takes room for answers, and no
// turn. Nobody is left to be told of an error.
func (h *admissionHandler) send(w http.ResponseWriter, data []byte, answer *httplimit.Transfer) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_ = answer.Send(context.Background(), w, data)
}

// refuse answers with an error. Behind a body that was not read the connection
// ends, after a moment in which the client can read why.
func refuse(w http.ResponseWriter, err *httpError) {
	if err.unread {
		w.Header().Set("Connection", "close")
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refuseTimeout)) // a recorder in a test has none
	}
	http.Error(w, err.text, err.code)
}

// jsonValues is how many values, from objects down to numbers, a JSON text has at
// most.
func jsonValues(data []byte) int {
	n := 1
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case ',', '{', '[':
			n++
		case '"':
			i += stringEnd(data[i+1:])
		}
	}
	return n
}

// stringEnd is how far behind its opening quote a string ends.
func stringEnd(data []byte) int {
	for i := 0; ; {
		next := bytes.IndexByte(data[i:], '"')
		if next < 0 {
			return len(data)
		}
		i += next + 1
		escapes := 0
		for end := i - 2; end >= 0 && data[end] == '\\'; end-- {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}

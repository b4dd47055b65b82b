package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"os"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/celadon-cel/celadon/engine/admission"
)

const (
	// maxBody is the API server's limit of 3 MiB for an object, and a little
	// for what a review puts around it. An update carries two objects, but
	// etcd stores none that is larger than half of that.
	maxBody = 3<<20 + 128<<10
	// maxDeciding is of all large bodies being decided at once. Small ones never
	// wait for them, and their buffers are used again.
	maxDeciding = 2 * maxBody
	smallBody   = 64 << 10
	// The API server sends a webhook's timeoutSeconds along; these are its
	// default and the most that it allows.
	defaultTimeout = 10 * time.Second
	maxTimeout     = 30 * time.Second
)

// admissionHandler answers AdmissionReviews.
type admissionHandler struct {
	*server
	path   string
	decide decide
}

// httpError is an answer that is no AdmissionReview: the API server takes it as
// a failure of the webhook, and does what its failurePolicy says.
type httpError struct {
	code int
	text string
}

func (e *httpError) Error() string { return e.text }

func (h *admissionHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := h.answer(w, r)
	var failed *httpError
	switch {
	case errors.As(err, &failed):
		http.Error(w, failed.text, failed.code)
	case err != nil:
		h.metrics.panics.Inc()
		h.log.Error("request not decided, please report it", "path", h.path, "error", err)
		http.Error(w, internalError, http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}
}

func (h *admissionHandler) answer(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if err := checkHTTP(w, r); err != nil {
		return nil, err
	}
	timeout := timeoutOf(r)
	// A client that has closed its side still wants the answer.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), timeout)
	defer cancel()
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(timeout)) // a recorder in a test has none
	d, req, err := h.inTurn(ctx, w, r)
	if err != nil {
		return nil, undecided(err)
	}
	h.metrics.decided(h.path, d)
	h.record(req, d)
	return json.Marshal(d.Review())
}

var errTooMany = &httpError{http.StatusServiceUnavailable, "too many requests at once"}

// inTurn reads and decides a request when it is its turn.
func (h *admissionHandler) inTurn(ctx context.Context, w http.ResponseWriter, r *http.Request) (*admission.Decision, *admissionv1.AdmissionRequest, error) {
	if h.slots.Acquire(ctx, 1) != nil {
		return nil, nil, errTooMany
	}
	h.metrics.inFlight.Inc()
	held := turn{server: h.server}
	defer func() { held.end() }()
	req, err := h.read(ctx, w, r, &held)
	if err != nil {
		return nil, nil, err
	}
	handed := held
	held = turn{}
	d, err := h.inTime(ctx, req, handed)
	return d, req, err
}

// turn is what a request holds of the server's limits.
type turn struct {
	*server
	bytes int64
}

func (t turn) end() {
	if t.server != nil {
		t.metrics.inFlight.Dec()
		t.deciding.Release(t.bytes)
		t.slots.Release(1)
	}
}

// inTime decides a request, and gives up when its time is over. Not all of the
// API server's libraries look at the context: what goes on behind an answer
// that was given up keeps its turn, so that there is never more of it than of
// requests.
func (h *admissionHandler) inTime(ctx context.Context, req *admissionv1.AdmissionRequest, held turn) (*admission.Decision, error) {
	type outcome struct {
		d   *admission.Decision
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		var out outcome
		defer func() {
			if p := recover(); p != nil {
				h.panicked(h.path, p)
				out.err = &httpError{http.StatusInternalServerError, internalError}
			}
			held.end()
			done <- out
		}()
		out.d, out.err = h.decide(ctx, req)
	}()
	select {
	case out := <-done:
		return out.d, out.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func checkHTTP(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return &httpError{http.StatusMethodNotAllowed, "want POST with an AdmissionReview"}
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return &httpError{http.StatusUnsupportedMediaType, "want Content-Type: application/json"}
	}
	return nil
}

// timeoutOf is how long the API server waits for the answer.
func timeoutOf(r *http.Request) time.Duration {
	timeout, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || timeout <= 0 {
		return defaultTimeout
	}
	return min(timeout, maxTimeout)
}

// read reads a request. Nothing of the body is kept.
func (h *admissionHandler) read(ctx context.Context, w http.ResponseWriter, r *http.Request, held *turn) (*admissionv1.AdmissionRequest, error) {
	body, _ := h.bodies.Get().(*bytes.Buffer)
	if body == nil {
		body = &bytes.Buffer{}
	}
	defer func() {
		if body.Cap() <= smallBody {
			body.Reset()
			h.bodies.Put(body)
		}
	}()
	if err := readBody(body, w, r); err != nil {
		return nil, err
	}
	if size := int64(body.Len()); size > smallBody {
		if h.deciding.Acquire(ctx, size) != nil {
			return nil, errTooMany
		}
		held.bytes = size
	}
	review, err := admission.DecodeReview(body.Bytes())
	if err != nil {
		return nil, err
	}
	return admission.RequestOf(review)
}

func readBody(into *bytes.Buffer, w http.ResponseWriter, r *http.Request) error {
	_, err := into.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &tooLarge):
		return &httpError{http.StatusRequestEntityTooLarge, fmt.Sprintf("body of more than %d bytes", maxBody)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &httpError{http.StatusRequestTimeout, "the body did not come in time"}
	}
	return &httpError{http.StatusBadRequest, "cannot read the body: " + err.Error()}
}

// undecided is the answer where a Set has none. What is left is a bug.
func undecided(err error) error {
	var bad *admission.RequestError
	switch {
	case errors.As(err, &bad):
		return &httpError{http.StatusBadRequest, err.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return &httpError{http.StatusGatewayTimeout, "not decided in time"}
	}
	return err
}

// record logs what was refused, without values: they may be secret.
func (h *admissionHandler) record(req *admissionv1.AdmissionRequest, d *admission.Decision) {
	if d.Verdict != admission.Refused {
		return
	}
	h.log.Info("refused",
		"allowedAnyway", d.Response.Allowed, "uid", string(req.UID), "crd", d.CRD, "version", req.Kind.Version,
		"namespace", req.Namespace, "name", req.Name, "operation", string(req.Operation), "subresource", req.SubResource,
		"dryRun", req.DryRun != nil && *req.DryRun, "user", req.UserInfo.Username, "cost", d.Result.Cost,
		"causes", d.Response.AuditAnnotations[admission.AuditCauses], "rules", d.Response.AuditAnnotations[admission.AuditRules])
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/engine/admission"
)

const (
	// maxBody is the API server's limit of 3 MiB for an object, and a little
	// for what a review puts around it. An update carries two objects, but
	// etcd stores none that is larger than half of that.
	maxBody = 3<<20 + 128<<10
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
		h.log.Error("request not decided", "path", h.path, "error", err)
		http.Error(w, err.Error(), http.StatusInternalServerError)
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
	select {
	case h.slots <- struct{}{}:
		h.metrics.inFlight.Inc()
	case <-ctx.Done():
		return nil, &httpError{http.StatusServiceUnavailable, "too many requests at once"}
	}
	d, req, err := h.inTurn(ctx, w, r)
	if err != nil {
		return nil, undecided(err)
	}
	h.metrics.decided(h.path, d)
	h.record(req, d)
	return json.Marshal(d.Review())
}

// inTurn reads and decides a request that has its slot.
func (h *admissionHandler) inTurn(ctx context.Context, w http.ResponseWriter, r *http.Request) (d *admission.Decision, req *admissionv1.AdmissionRequest, err error) {
	holding := true
	defer func() {
		if holding {
			h.release()
		}
	}()
	review, err := readReview(w, r)
	if err != nil {
		return nil, nil, err
	}
	if req, err = admission.RequestOf(review); err != nil {
		return nil, nil, err
	}
	holding = false
	d, err = h.inTime(ctx, req)
	return d, req, err
}

func (h *admissionHandler) release() {
	h.metrics.inFlight.Dec()
	<-h.slots
}

// inTime decides a request, and gives up when its time is over. Not all of the
// API server's libraries look at the context: what goes on behind an answer
// that was given up keeps its slot, so that there is never more of it than of
// requests.
func (h *admissionHandler) inTime(ctx context.Context, req *admissionv1.AdmissionRequest) (*admission.Decision, error) {
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
			h.release()
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

func readReview(w http.ResponseWriter, r *http.Request) (*admissionv1.AdmissionReview, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, &httpError{http.StatusRequestEntityTooLarge, fmt.Sprintf("body of more than %d bytes", maxBody)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &httpError{http.StatusRequestTimeout, "the body did not come in time"}
	case err != nil:
		return nil, &httpError{http.StatusBadRequest, "cannot read the body: " + err.Error()}
	}
	review := &admissionv1.AdmissionReview{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, review); err != nil {
		return nil, &httpError{http.StatusBadRequest, "not an AdmissionReview: " + err.Error()}
	}
	return review, nil
}

// undecided is the answer where a Set has none.
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

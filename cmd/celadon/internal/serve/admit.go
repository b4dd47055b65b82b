package serve

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/celadon-cel/celadon/engine/admission"
	"github.com/celadon-cel/celadon/internal/text/preview"
)

const (
	// maxBody is the API server's limit of 3 MiB for an object, plus the rest of a review. An update
	// has two objects, but etcd does not store objects larger than half the limit.
	maxBody = 3<<20 + 128<<10
	// maxFields limits the header fields of a request, because each takes much more memory than its bytes.
	maxFields = 64
	// The API server sends the webhook's timeoutSeconds with each request. These are its default and its maximum.
	defaultTimeout = 10 * time.Second
	maxTimeout     = 30 * time.Second
)

type admissionHandler struct {
	*server
	path   string
	decide decide
}

// An httpError is a response that is not an AdmissionReview. The API server treats it as a failure
// of the webhook and applies the failurePolicy.
type httpError struct {
	code int
	text string
	// unread is set if the body was not read completely.
	unread bool
}

func (e *httpError) Error() string { return e.text }

func (h *admissionHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h.answer(w, r)
	var failed *httpError
	switch {
	case err == nil:
	case errors.As(err, &failed):
		reject(w, failed)
	default:
		h.metrics.panics.Inc()
		h.log.Error("request not decided, please report it", "path", h.path, "error", brief(err.Error()))
		reject(w, &httpError{code: http.StatusInternalServerError, text: internalError})
	}
}

func (h *admissionHandler) answer(w http.ResponseWriter, r *http.Request) error {
	if err := h.checkHTTP(w, r); err != nil {
		return err
	}
	timeout := timeoutOf(r)
	// A client that has closed its sending side still expects the response.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), timeout)
	defer cancel()
	req, turn, err := h.read(ctx, w, r)
	if err != nil {
		return failure(err)
	}
	d, err := h.inTime(ctx, req, turn)
	if err != nil {
		return failure(err)
	}
	data, release, err := h.encode(ctx, req, d, turn)
	if err != nil {
		return failure(err)
	}
	defer release()
	send(w, data)
	return nil
}

func (h *admissionHandler) read(ctx context.Context, w http.ResponseWriter, r *http.Request) (*admissionv1.AdmissionRequest, *turn, error) {
	size := int(r.ContentLength)
	if size < 0 {
		size = maxBody
	}
	release, err := h.limits.bodies.take(ctx, size)
	if err != nil {
		return nil, nil, errNoRoom
	}
	defer release()
	data, err := receive(ctx, w, r, size)
	if err != nil {
		return nil, nil, err
	}
	turn, err := h.take(ctx, data)
	if err != nil {
		return nil, nil, err
	}
	req, err := turn.decode(data)
	return req, turn, err
}

// On an error, decode ends the turn.
func (t *turn) decode(data []byte) (req *admissionv1.AdmissionRequest, err error) {
	defer func() {
		if req == nil {
			t.end()
		}
	}()
	review, err := admission.DecodeReview(data)
	if err != nil {
		return nil, err
	}
	t.version = review.APIVersion
	return admission.RequestOf(review)
}

// inTime validates a request. It returns the error of ctx when the request's timeout has passed. Some libraries of the
// API server ignore the context, so a decision may continue in the background. It keeps its turn until it ends, which
// limits the number of such decisions. If inTime returns a decision, the caller must end the turn.
func (h *admissionHandler) inTime(ctx context.Context, req *admissionv1.AdmissionRequest, turn *turn) (*admission.Decision, error) {
	type outcome struct {
		d   *admission.Decision
		err error
	}
	done := make(chan outcome)
	go func() {
		var out outcome
		defer func() {
			if p := recover(); p != nil {
				h.panicked(h.path, p)
				out.err = &httpError{code: http.StatusInternalServerError, text: internalError}
			}
			if out.err != nil {
				turn.end()
			}
			select {
			case done <- out:
			case <-ctx.Done():
				if out.err == nil {
					turn.end()
				}
			}
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

// encode ends the turn, and reserves memory for the response until release is called.
func (h *admissionHandler) encode(
	ctx context.Context, req *admissionv1.AdmissionRequest, d *admission.Decision, turn *turn,
) (data []byte, release func(), err error) {
	defer turn.end()
	h.metrics.decided(h.path, d)
	h.record(req, d)
	review := d.Review()
	review.APIVersion = turn.version
	if data, err = json.Marshal(review); err != nil {
		return nil, nil, err
	}
	if release, err = h.limits.answers.take(ctx, len(data)); err != nil {
		return nil, nil, errTooMany
	}
	return data, release, nil
}

func (h *admissionHandler) checkHTTP(w http.ResponseWriter, r *http.Request) error {
	if h.clients != nil {
		if err := h.clients.check(r); err != nil {
			return err
		}
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return &httpError{http.StatusMethodNotAllowed, "want POST with an AdmissionReview", true}
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return &httpError{http.StatusUnsupportedMediaType, "want Content-Type: application/json", true}
	}
	if r.Header.Get("Content-Encoding") != "" {
		return &httpError{http.StatusUnsupportedMediaType, "want a body without Content-Encoding", true}
	}
	if r.ContentLength > maxBody {
		return errTooLarge
	}
	return nil
}

func timeoutOf(r *http.Request) time.Duration {
	timeout, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || timeout <= 0 {
		return defaultTimeout
	}
	return min(timeout, maxTimeout)
}

func failure(err error) error {
	var bad *admission.RequestError
	switch {
	case errors.As(err, &bad):
		return &httpError{code: http.StatusBadRequest, text: err.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return &httpError{code: http.StatusGatewayTimeout, text: "not decided in time"}
	}
	return err
}

// record omits values, which may be secret.
func (h *admissionHandler) record(req *admissionv1.AdmissionRequest, d *admission.Decision) {
	about := []any{
		"allowedAnyway", d.Response.Allowed, "uid", short(string(req.UID)), "crd", d.CRD, "version", short(req.Kind.Version),
		"namespace", short(req.Namespace), "name", short(req.Name), "operation", string(req.Operation), "subresource", short(req.SubResource),
		"dryRun", req.DryRun != nil && *req.DryRun, "user", short(req.UserInfo.Username),
	}
	annotations := d.Response.AuditAnnotations
	switch d.Verdict {
	case admission.Rejected:
		h.log.Info("refused", append(about, "cost", costOf(d), "causes", annotations[admission.AuditCauses], "rules", annotations[admission.AuditRules], "policies", annotations[admission.AuditPolicies])...)
	case admission.Undecided:
		h.log.Warn("undecided", append(about, "reason", annotations[admission.AuditReason])...)
	}
}

func costOf(d *admission.Decision) (cost int64) {
	if d.Result != nil {
		cost = d.Result.Cost
	}
	if d.Policies != nil {
		for _, e := range d.Policies.Evaluations {
			cost += e.Cost + e.MatchCost
		}
	}
	return cost
}

// maxName is longer than any valid name of an object.
const maxName = 512

func short(text string) string { return preview.Bytes(text, maxName) }

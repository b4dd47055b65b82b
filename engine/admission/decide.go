package admission

import (
	"context"
	"errors"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
)

// A Verdict is the decision on a request, before the mode is applied.
type Verdict string

const (
	// Allowed means that the object's CRD, if the set has it, accepts the object, and that no policy
	// denies the request.
	Allowed Verdict = "allowed"
	// Rejected means that the CRD or a policy rejects the object. In the modes Warn and Audit, the response
	// still allows it.
	Rejected Verdict = "refused"
	// Untouched means that the request does not write a custom resource: DELETE, CONNECT, and the
	// scale subresource. It is allowed. All requests are untouched by a set with policies and without CRDs.
	Untouched Verdict = "untouched"
	// NotChecked means that no CRD of the set applies to the request, or that only the CRD's conversion webhook could
	// determine the verdict.
	NotChecked Verdict = "notChecked"
	// Undecided means that a rule exceeds the work limit (a *engine.WorkLimitError), that a converter does not
	// respond, or that a policy exceeds a limit or depends on an object that only a cluster has. The object is
	// rejected regardless of Config.Unknown. Otherwise an expensive rule, or a client that keeps the converter busy,
	// would be a way to bypass all other rules. In the modes Warn and Audit, the response still allows it.
	Undecided Verdict = "undecided"
)

// A Decision is the response to a request, with further details.
type Decision struct {
	// Kind is the kind in the request.
	Kind schema.GroupVersionKind
	// CRD is the name of the CRD that the object was validated against, or "".
	CRD     string
	Verdict Verdict
	// Result is the engine's result. It is nil unless a CRD accepted or rejected the object, and always
	// nil from Mutate. Read-only.
	Result *engine.Result
	// Policies is the result of the policies of the set, or nil if they were not evaluated. Read-only.
	Policies *policy.Result
	// Response is the response to send.
	Response *admissionv1.AdmissionResponse
}

// RejectedBy returns the rules that rejected the object, without duplicates.
func (d *Decision) RejectedBy() []engine.RuleRef {
	if d.Result == nil {
		return nil
	}
	var rules []engine.RuleRef
	seen := map[engine.RuleRef]bool{}
	for _, c := range d.Result.Causes {
		if c.Rule != nil && !seen[*c.Rule] {
			seen[*c.Rule] = true
			rules = append(rules, *c.Rule)
		}
	}
	return rules
}

// Review returns the response as an AdmissionReview of admission.k8s.io/v1. For a request of
// v1beta1, the API server requires that apiVersion in the response, so the caller must set it.
func (d *Decision) Review() *admissionv1.AdmissionReview {
	return &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: reviewKind},
		Response: d.Response,
	}
}

// Review validates the request in a review as a validating webhook, and returns a review of the same version. The
// error is as for Validate.
func (s *Set) Review(ctx context.Context, review *admissionv1.AdmissionReview) (*admissionv1.AdmissionReview, error) {
	req, err := RequestOf(review)
	if err != nil {
		return nil, err
	}
	d, err := s.Validate(ctx, req)
	if err != nil {
		return nil, err
	}
	out := d.Review()
	out.APIVersion = review.APIVersion
	return out, nil
}

// Validate validates a request as a validating webhook. It supports create, update, and the status subresource, and
// evaluates transition rules and ratcheting against the old object. Policies are evaluated for all operations. Dry
// runs are treated like other requests, because deciding has no side effects. The error is a *RequestError if the
// request is malformed. Other errors come from ctx, from a broken converter, or from a bug in Celadon.
func (s *Set) Validate(ctx context.Context, req *admissionv1.AdmissionRequest) (*Decision, error) {
	d, err := s.validate(ctx, req)
	policies := s.policies.Load()
	if policies == nil || err != nil || d.Verdict == Rejected || d.Verdict == Undecided || !d.Response.Allowed {
		return d, err
	}
	return s.admit(ctx, policies, req, d)
}

func (s *Set) validate(ctx context.Context, req *admissionv1.AdmissionRequest) (*Decision, error) {
	crd, d, err := s.route(req)
	if crd == nil || err != nil {
		return d, err
	}
	engineReq, err := open(req)
	if err != nil {
		return nil, err
	}
	if req.SubResource == statusSubresource && !crd.HasStatus(req.Kind.Version) {
		return s.notChecked(d, crd.Name+" has no status subresource in version "+req.Kind.Version), nil
	}
	d.CRD = crd.Name
	res, err := crd.engine.Validate(ctx, *engineReq)
	var unknowable *engine.NotCheckedError
	var overwork *engine.WorkLimitError
	switch {
	case errors.As(err, &unknowable) && s.config.Engine.Converter != nil: // the converter failed
		return s.undecided(d, "undecided: "+shorten(unknowable.Reason), "undecided: the converter does not respond"), nil
	case errors.As(err, &unknowable):
		d.CRD = ""
		return s.notChecked(d, unknowable.Reason), nil
	case errors.As(err, &overwork):
		why := shorten(overwork.Error()) + ": " + shorten(overwork.Rule.Rule)
		return s.undecided(d, why, why), nil
	case err != nil:
		return nil, err
	}
	d.Result, d.Verdict = res, Allowed
	if !res.Allowed {
		d.Verdict = Rejected
	}
	s.answer(d)
	return d, nil
}

func (s *Set) route(req *admissionv1.AdmissionRequest) (*crd, *Decision, error) {
	if err := checkRequest(req); err != nil {
		return nil, nil, err
	}
	d := &Decision{
		Kind:     kindOf(req),
		Verdict:  Untouched,
		Response: &admissionv1.AdmissionResponse{UID: req.UID, Allowed: true},
	}
	if req.Operation != admissionv1.Create && req.Operation != admissionv1.Update || req.SubResource == "scale" {
		return nil, d, nil // it does not write a custom resource
	}
	if s.policies.Load() != nil && len(s.catalog.Names()) == 0 {
		return nil, d, nil // the set only has policies
	}
	if req.SubResource != "" && req.SubResource != statusSubresource {
		return nil, s.notChecked(d, "custom resources have no subresource "+req.SubResource), nil
	}
	crd := s.lookup(d.Kind)
	if crd == nil {
		return nil, s.notChecked(d, "no CRD for "+d.Kind.GroupVersion().String()+" "+d.Kind.Kind), nil
	}
	return crd, d, nil
}

package admission

import (
	"context"
	"errors"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
)

// Verdict is what became of a request, whatever the mode made of it.
type Verdict string

const (
	// Allowed is an object that its CRD accepts.
	Allowed Verdict = "allowed"
	// Refused is an object that its CRD refuses. In the modes Warn and Audit
	// it is allowed all the same.
	Refused Verdict = "refused"
	// Untouched is a request that writes no custom resource: DELETE, CONNECT
	// and the scale subresource. It is allowed.
	Untouched Verdict = "untouched"
	// NotChecked is an object that no CRD of the set decides.
	NotChecked Verdict = "notChecked"
	// Undecided is an object for which a rule asks for more work than is done
	// (a *engine.WorkLimitError), or a converter does not answer. It is refused,
	// whatever Config.Unknown says, or else one expensive rule, or whoever keeps
	// the converter busy, would be a way around all others. In the modes Warn and
	// Audit it is allowed all the same.
	Undecided Verdict = "undecided"
)

// Decision is the answer to one request, and what is known beyond it.
type Decision struct {
	// Kind is the request's.
	Kind schema.GroupVersionKind
	// CRD is the name of the CRD that decided; "" when none did.
	CRD     string
	Verdict Verdict
	// Result is the engine's; nil unless Verdict is Allowed or Refused, and
	// nil from Mutate. Read-only.
	Result *engine.Result
	// Response is the answer to send.
	Response *admissionv1.AdmissionResponse
}

// RefusedBy are the rules that refused the object, once each.
func (d *Decision) RefusedBy() []engine.RuleRef {
	if d.Result == nil {
		return nil
	}
	var rules []engine.RuleRef
	var last *engine.RuleRef // one rule may refuse a million items
	seen := map[engine.RuleRef]bool{}
	for _, c := range d.Result.Causes {
		if c.Rule == nil || c.Rule == last || seen[*c.Rule] {
			continue
		}
		last, seen[*c.Rule] = c.Rule, true
		rules = append(rules, *c.Rule)
	}
	return rules
}

// Review is the answer as the API server wants it to a review of
// admission.k8s.io/v1. To one of v1beta1 it wants that apiVersion back.
func (d *Decision) Review() *admissionv1.AdmissionReview {
	return &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: reviewKind},
		Response: d.Response,
	}
}

// Review decides the request in a review as a validating webhook, and answers in
// the version of the review. The error is a *RequestError, a cancelled context's,
// or a bug of ours.
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

// Validate decides a request as a validating webhook: create, update and the
// status subresource, transition rules and ratcheting against the old object.
// A dry run is decided as any other, for deciding has no side effects. The
// error is a *RequestError, a cancelled context's, or a bug of ours.
func (s *Set) Validate(ctx context.Context, req *admissionv1.AdmissionRequest) (*Decision, error) {
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
	res, err := crd.engine.Validate(ctx, *engineReq)
	var unknowable *engine.NotCheckedError
	var overwork *engine.WorkLimitError
	switch {
	case errors.As(err, &unknowable) && s.config.Engine.Converter != nil: // it was asked: nothing else is unknown then
		return s.undecided(d, crd, "undecided: "+shorten(unknowable.Reason), "undecided: the converter does not answer"), nil
	case errors.As(err, &unknowable):
		return s.notChecked(d, unknowable.Reason), nil
	case errors.As(err, &overwork):
		why := shorten(overwork.Error()) + ": " + shorten(overwork.Rule.Rule)
		return s.undecided(d, crd, why, why), nil
	case err != nil:
		return nil, err
	}
	d.CRD, d.Result, d.Verdict = crd.Name, res, Allowed
	if !res.Allowed {
		d.Verdict = Refused
	}
	s.answer(d)
	return d, nil
}

// route finds the CRD that decides a request. Without one, the decision is
// complete.
func (s *Set) route(req *admissionv1.AdmissionRequest) (*crd, *Decision, error) {
	if err := checkRequest(req); err != nil {
		return nil, nil, err
	}
	d := &Decision{
		Kind:     kindOf(req),
		Verdict:  Untouched,
		Response: &admissionv1.AdmissionResponse{UID: req.UID, Allowed: true},
	}
	if untouched(req) {
		return nil, d, nil
	}
	if req.SubResource != "" && req.SubResource != statusSubresource {
		return nil, s.notChecked(d, "subresource "+req.SubResource+" is not one of a custom resource"), nil
	}
	crd := s.lookup(d.Kind)
	if crd == nil {
		return nil, s.notChecked(d, "no CRD for "+d.Kind.GroupVersion().String()+" "+d.Kind.Kind), nil
	}
	return crd, d, nil
}

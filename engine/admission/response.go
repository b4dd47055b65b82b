package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/preview"
)

// The keys of audit annotations. The API server prefixes them with the webhook's name. Annotations with lists have at
// most 16 lines, followed by the number of omitted lines.
const (
	// AuditCRD is the name of the CRD that the object was validated against.
	AuditCRD = "crd"
	// AuditVerdict is the Decision's Verdict, even if the mode allows a rejected object.
	AuditVerdict = "verdict"
	// AuditCost is the cost in CEL cost units.
	AuditCost = "cost"
	// AuditRules lists the rules that rejected the object, one per line: version, schema path,
	// index, and expression.
	AuditRules = "rules"
	// AuditCauses lists the reason and field of each cause, one per line. It omits values, which
	// may be secret.
	AuditCauses = "causes"
	// AuditPolicies lists the validations of policies that denied the request, one per line: policy,
	// binding, and field of the policy.
	AuditPolicies = "policies"
	// AuditReason is the reason why a request is undecided.
	AuditReason = "reason"
	// AuditDefaults lists the fields that lack a default, as JSON pointers, one per line, even if the
	// response has no patch. It lists only some of them if a patch would be too large.
	AuditDefaults = "defaults"
)

// Audit logs and warning headers should not contain thousands of causes, and responses should not contain millions.
const (
	maxLines   = 16
	maxText    = 256
	maxCauses  = 1000
	maxMessage = 64 << 10
	// maxDetails limits the strings in the causes, in bytes.
	maxDetails = 1 << 20
)

func (s *Set) answer(d *Decision) {
	res, out := d.Result, d.Response
	out.AuditAnnotations = map[string]string{
		AuditCRD:     d.CRD,
		AuditVerdict: string(d.Verdict),
		AuditCost:    strconv.FormatInt(res.Cost, 10),
	}
	rules := d.RejectedBy()
	annotate(out.AuditAnnotations, AuditRules, len(rules), func(i int) string { return ruleText(rules[i]) })
	annotate(out.AuditAnnotations, AuditCauses, len(res.Causes), func(i int) string {
		return string(res.Causes[i].Reason) + " " + res.Causes[i].Field
	})
	if s.config.Mode != Audit {
		out.Warnings = slices.Clip(res.Warnings) // so that append copies the warnings of res
	}
	if res.Allowed {
		return
	}
	s.reject(out, bounded(res.Failure), wouldReject(res)...)
}

func (s *Set) reject(out *admissionv1.AdmissionResponse, result *metav1.Status, warnings ...string) {
	switch s.config.Mode {
	case Enforce:
		out.Allowed, out.Result = false, result
	case Warn:
		out.Warnings = append(out.Warnings, warnings...)
	}
}

func failure(code int32, reason metav1.StatusReason, message string) *metav1.Status {
	return &metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}
}

func (s *Set) notChecked(d *Decision, why string) *Decision {
	d.Verdict = NotChecked
	out := d.Response
	out.AuditAnnotations = map[string]string{AuditVerdict: string(NotChecked)}
	text := "celadon: not checked: " + shorten(why)
	switch {
	case s.config.Mode == Audit:
	case s.config.Mode == Enforce && s.config.Unknown == RejectUnknown:
		out.Allowed, out.Result = false, failure(http.StatusForbidden, metav1.StatusReasonForbidden, text)
	default:
		out.Warnings = append(out.Warnings, text)
	}
	return d
}

// An API server would send the same response after its timeout. noted is for audit logs and contains no values.
func (s *Set) undecided(d *Decision, why, noted string) *Decision {
	d.Verdict = Undecided
	out := d.Response
	out.AuditAnnotations = map[string]string{AuditVerdict: string(Undecided), AuditReason: noted}
	if d.CRD != "" {
		out.AuditAnnotations[AuditCRD] = d.CRD
	}
	text := "celadon: " + why
	s.reject(out, failure(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, text), text)
	return d
}

func bounded(status *metav1.Status) *metav1.Status {
	n, whole := sendableCauses(status)
	if whole {
		return status
	}
	out := *status
	out.Message = preview.Bytes(out.Message, maxMessage)
	if status.Details != nil {
		details := *status.Details
		out.Message += fmt.Sprintf(" (%d causes in all)", len(details.Causes))
		details.Causes, details.Name = details.Causes[:n], preview.Bytes(details.Name, maxText)
		out.Details = &details
	}
	return &out
}

func sendableCauses(status *metav1.Status) (n int, complete bool) {
	if status.Details == nil {
		return 0, len(status.Message) <= maxDetails
	}
	size := len(status.Details.Name)
	for n < min(len(status.Details.Causes), maxCauses) {
		cause := &status.Details.Causes[n]
		if size += len(cause.Field) + len(cause.Message); size > maxDetails {
			return n, false
		}
		n++
	}
	return n, n == len(status.Details.Causes)
}

const wouldRejectText = "celadon would reject this: "

func wouldReject(res *engine.Result) []string {
	if len(res.Causes) == 0 {
		return []string{wouldRejectText + shorten(res.Failure.Message)}
	}
	return capped(len(res.Causes), func(i int) string {
		return wouldRejectText + shorten(res.Causes[i].Field+": "+res.Causes[i].Message)
	})
}

func ruleText(r engine.RuleRef) string {
	return fmt.Sprintf("%s %s[%d]: %s", r.Version, strings.TrimPrefix(r.Path+".x-kubernetes-validations", "."), r.Index, r.Rule)
}

func annotate(annotations map[string]string, key string, n int, line func(int) string) {
	if n > 0 {
		annotations[key] = strings.Join(capped(n, func(i int) string { return shorten(line(i)) }), "\n")
	}
}

func capped(n int, line func(int) string) []string {
	var lines []string
	for i := range min(n, maxLines) {
		lines = append(lines, line(i))
	}
	if n > maxLines {
		lines = append(lines, fmt.Sprintf("and %d more", n-maxLines))
	}
	return lines
}

func shorten(text string) string {
	return preview.Bytes(strings.Join(strings.Fields(preview.Bytes(text, 4*maxText)), " "), maxText)
}

// Mutate handles a request as a mutating webhook: it returns a JSON patch (RFC 6902) that adds the CRD's defaults
// that the object lacks. It does not reject invalid objects; Validate does that after all mutations. Config.Unknown
// applies to both. If the patch would take more than a megabyte, the response has no patch. Only fields that the
// request may write get defaults: not status if the CRD has the status subresource, and only status through that
// subresource. In the modes Warn and Audit, the response has no patch; the audit annotations describe it.
func (s *Set) Mutate(ctx context.Context, req *admissionv1.AdmissionRequest) (*Decision, error) {
	crd, d, err := s.route(req)
	if crd == nil || err != nil {
		return d, err
	}
	obj, err := decode("object", &req.Object)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.CRD, d.Verdict = crd.Name, Allowed
	d.Response.AuditAnnotations = map[string]string{AuditCRD: crd.Name, AuditVerdict: string(Allowed)}
	write := engine.Request{Object: obj, FieldValidation: metav1.FieldValidationIgnore}
	if req.SubResource == statusSubresource {
		write.Subresource = req.SubResource
		if write.OldObject, err = decode("oldObject", &req.OldObject); err != nil {
			return nil, err
		}
	}
	defaulted, err := crd.engine.Prepare(write)
	if err != nil { // not a valid custom resource: Validate rejects it, unless this is an internal error
		if _, bug := s.Validate(ctx, req); bug != nil {
			return nil, bug
		}
		return s.noDefaults(d, err.Error()), nil
	}
	ops, ok := additions(writable(crd, req, obj), defaulted.Self)
	annotate(d.Response.AuditAnnotations, AuditDefaults, len(ops), func(i int) string { return ops[i].Path })
	if !ok {
		return s.noDefaults(d, "too many fields to default"), nil
	}
	if len(ops) == 0 || s.config.Mode != Enforce {
		return d, nil
	}
	kind := admissionv1.PatchTypeJSONPatch
	d.Response.PatchType = &kind
	d.Response.Patch, err = json.Marshal(ops)
	return d, err
}

func (s *Set) noDefaults(d *Decision, why string) *Decision {
	if s.config.Mode != Audit {
		d.Response.Warnings = []string{"celadon: no defaults: " + shorten(why)}
	}
	return d
}

func writable(crd *crd, req *admissionv1.AdmissionRequest, obj map[string]any) object {
	o := object{fields: obj, skip: map[string]bool{"apiVersion": true, "kind": true, "metadata": true}}
	if !crd.HasStatus(req.Kind.Version) {
		return o
	}
	if o.onlyStatus = req.SubResource == statusSubresource; !o.onlyStatus {
		o.skip["status"] = true
	}
	return o
}

package admission

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/preview"
)

// The keys of audit annotations; the API server puts the webhook's name before
// them.
const (
	// AuditCRD is the name of the CRD that decided.
	AuditCRD = "crd"
	// AuditVerdict is the Decision's Verdict, also where the mode allows what
	// is refused.
	AuditVerdict = "verdict"
	// AuditCost is the number of CEL cost units spent.
	AuditCost = "cost"
	// AuditRules are the rules that refused, one a line: version, place in the
	// schema, position there and the rule itself.
	AuditRules = "rules"
	// AuditCauses are the reason and the field of each cause, one a line.
	// Values are left out: they may be secret.
	AuditCauses = "causes"
	// AuditReason says why an object is undecided, with the rule where it is one.
	AuditReason = "reason"
	// AuditDefaults are the fields that Mutate fills in, or in the modes Warn
	// and Audit would, as JSON pointers, one a line.
	AuditDefaults = "defaults"
)

// Audit logs and warning headers are no place for a thousand causes, and no
// answer is one for a million.
const (
	maxLines   = 16
	maxText    = 256
	maxCauses  = 1000
	maxMessage = 64 << 10
	// maxDetails is of the causes' texts in bytes.
	maxDetails = 1 << 20
)

// answer puts an engine's result into the words of the mode.
func (s *Set) answer(d *Decision) {
	res, out := d.Result, d.Response
	out.AuditAnnotations = map[string]string{
		AuditCRD:     d.CRD,
		AuditVerdict: string(d.Verdict),
		AuditCost:    strconv.FormatInt(res.Cost, 10),
	}
	rules := d.RefusedBy()
	annotate(out.AuditAnnotations, AuditRules, len(rules), func(i int) string { return ruleText(rules[i]) })
	annotate(out.AuditAnnotations, AuditCauses, len(res.Causes), func(i int) string {
		return string(res.Causes[i].Reason) + " " + res.Causes[i].Field
	})
	if s.config.Mode != Audit {
		out.Warnings = slices.Clip(res.Warnings) // they are the result's
	}
	if res.Allowed {
		return
	}
	switch s.config.Mode {
	case Enforce:
		out.Allowed, out.Result = false, bounded(res.Failure)
	case Warn:
		out.Warnings = append(out.Warnings, wouldRefuse(res)...)
	}
}

// notChecked completes the decision on a request that nothing here can decide.
func (s *Set) notChecked(d *Decision, why string) *Decision {
	d.Verdict = NotChecked
	out := d.Response
	out.AuditAnnotations = map[string]string{AuditVerdict: string(NotChecked)}
	text := "celadon: not checked: " + shorten(why)
	switch {
	case s.config.Mode == Audit:
	case s.config.Mode == Enforce && s.config.Unknown == RefuseUnknown:
		out.Allowed = false
		out.Result = &metav1.Status{
			Status:  metav1.StatusFailure,
			Code:    http.StatusForbidden,
			Reason:  metav1.StatusReasonForbidden,
			Message: text,
		}
	default:
		out.Warnings = append(out.Warnings, text)
	}
	return d
}

// undecided completes the decision on an object that asks for too much work, or of
// which a converter does not tell. An API server would answer the same when its time
// is over. noted is for logs, and holds no values.
func (s *Set) undecided(d *Decision, crd *crd, why, noted string) *Decision {
	d.CRD, d.Verdict = crd.Name, Undecided
	out := d.Response
	out.AuditAnnotations = map[string]string{AuditCRD: crd.Name, AuditVerdict: string(Undecided), AuditReason: noted}
	text := "celadon: " + why
	switch s.config.Mode {
	case Enforce:
		out.Allowed = false
		out.Result = &metav1.Status{
			Status:  metav1.StatusFailure,
			Code:    http.StatusGatewayTimeout,
			Reason:  metav1.StatusReasonTimeout,
			Message: text,
		}
	case Warn:
		out.Warnings = append(out.Warnings, text)
	}
	return d
}

// bounded is a Status of a size that can be sent. Up to maxCauses causes of
// maxDetails bytes it is as the API server has it.
func bounded(status *metav1.Status) *metav1.Status {
	n, whole := fitting(status)
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

// fitting is how many causes of a Status can be sent, and whether that and the
// message are all.
func fitting(status *metav1.Status) (n int, whole bool) {
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

// wouldRefuse is a refusal as warnings.
func wouldRefuse(res *engine.Result) []string {
	const text = "celadon would refuse this: "
	if len(res.Causes) == 0 {
		return []string{text + shorten(res.Failure.Message)}
	}
	return capped(len(res.Causes), func(i int) string {
		return text + shorten(res.Causes[i].Field+": "+res.Causes[i].Message)
	})
}

func ruleText(r engine.RuleRef) string {
	return fmt.Sprintf("%s %s[%d]: %s", r.Version, strings.TrimPrefix(r.Path+".x-kubernetes-validations", "."), r.Index, r.Rule)
}

// annotate writes n lines as one annotation; none leave it out.
func annotate(annotations map[string]string, key string, n int, line func(int) string) {
	if n > 0 {
		annotations[key] = strings.Join(capped(n, func(i int) string { return shorten(line(i)) }), "\n")
	}
}

// capped are the first of n lines, and how many more there are.
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

// shorten makes one line of a text.
func shorten(text string) string {
	return preview.Bytes(strings.Join(strings.Fields(preview.Bytes(text, 4*maxText)), " "), maxText)
}

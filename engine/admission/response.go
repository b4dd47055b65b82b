package admission

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
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
	// AuditDefaults are the fields that Mutate fills in, or in the modes Warn
	// and Audit would, as JSON pointers, one a line.
	AuditDefaults = "defaults"
)

// Audit logs and warning headers are no place for a thousand causes.
const (
	maxLines = 16
	maxText  = 256
)

// answer puts an engine's result into the words of the mode.
func (s *Set) answer(d *Decision) {
	res, out := d.Result, d.Response
	out.AuditAnnotations = map[string]string{
		AuditCRD:     d.CRD,
		AuditVerdict: string(d.Verdict),
		AuditCost:    strconv.FormatInt(res.Cost, 10),
	}
	annotate(out.AuditAnnotations, AuditRules, refusingRules(res))
	annotate(out.AuditAnnotations, AuditCauses, causeFields(res))
	if s.config.Mode != Audit {
		out.Warnings = append(out.Warnings, res.Warnings...)
	}
	if res.Allowed {
		return
	}
	switch s.config.Mode {
	case Enforce:
		out.Allowed, out.Result = false, res.Failure
	case Warn:
		out.Warnings = append(out.Warnings, wouldRefuse(res)...)
	}
}

// notChecked completes the decision on a request that nothing here can decide.
func (s *Set) notChecked(d *Decision, why string) *Decision {
	d.Verdict = NotChecked
	out := d.Response
	out.AuditAnnotations = map[string]string{AuditVerdict: string(NotChecked)}
	text := "celadon: not checked: " + why
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

// wouldRefuse is a refusal as warnings.
func wouldRefuse(res *engine.Result) []string {
	if len(res.Causes) == 0 {
		return []string{"celadon would refuse this: " + shorten(res.Failure.Message)}
	}
	texts := make([]string, len(res.Causes))
	for i, c := range res.Causes {
		texts[i] = "celadon would refuse this: " + shorten(c.Field+": "+c.Message)
	}
	return capped(texts)
}

func refusingRules(res *engine.Result) []string {
	var lines []string
	seen := map[engine.RuleRef]bool{}
	for _, c := range res.Causes {
		if c.Rule == nil || seen[*c.Rule] {
			continue
		}
		seen[*c.Rule] = true
		lines = append(lines, shorten(ruleText(c.Rule)))
	}
	return lines
}

func ruleText(r *engine.RuleRef) string {
	return fmt.Sprintf("%s %s[%d]: %s", r.Version, strings.TrimPrefix(r.Path+".x-kubernetes-validations", "."), r.Index, r.Rule)
}

func causeFields(res *engine.Result) []string {
	var lines []string
	for _, c := range res.Causes {
		lines = append(lines, shorten(string(c.Reason)+" "+c.Field))
	}
	return lines
}

// annotate writes lines as one annotation; none leave it out.
func annotate(annotations map[string]string, key string, lines []string) {
	if len(lines) > 0 {
		annotations[key] = strings.Join(capped(lines), "\n")
	}
}

func capped(lines []string) []string {
	if len(lines) <= maxLines {
		return lines
	}
	return append(lines[:maxLines:maxLines], fmt.Sprintf("and %d more", len(lines)-maxLines))
}

// shorten makes one line of a text.
func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}

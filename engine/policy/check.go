package policy

import (
	"fmt"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/util/validation"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// The API server's limits on the lists of a policy.
const (
	maxMatchConditions  = 64
	maxAuditAnnotations = 20
)

var reasons = []string{"Forbidden", "Invalid", "RequestEntityTooLarge"}

func (d *policyDocument) check(report reporter) {
	spec := &d.Spec
	spec.policyBase.check(report)
	if len(spec.Validations) == 0 && len(spec.AuditAnnotations) == 0 {
		report("spec.validations", "the policy has neither validations nor auditAnnotations: add one")
	}
	for i := range spec.Validations {
		spec.Validations[i].check(fmt.Sprintf("spec.validations[%d]", i), report)
	}
	checkAnnotations(spec.AuditAnnotations, report)
}

func (b *policyBase) check(report reporter) {
	switch m := b.MatchConstraints; {
	case m == nil:
		report("spec.matchConstraints", "the field is missing, so the policy matches nothing: add resourceRules")
	case len(m.ResourceRules) == 0:
		report("spec.matchConstraints.resourceRules", "the list is empty, so the policy matches nothing: add a rule")
	}
	checkOneOf(b.FailurePolicy, "spec.failurePolicy", false, report, "Fail", "Ignore")
	if k := b.ParamKind; k != nil && (k.APIVersion == "" || k.Kind == "") {
		report("spec.paramKind", "set apiVersion and kind")
	}
	checkVariables(b.Variables, report)
	checkConditions(b.MatchConditions, "spec.", report)
}

func checkOneOf[T ~string](got *T, path string, required bool, report reporter, want ...T) bool {
	names := make([]string, len(want))
	for i, name := range want {
		names[i] = string(name)
	}
	switch {
	case got == nil && !required || got != nil && slices.Contains(want, *got):
		return true
	case got == nil || *got == "" && required:
		report(path, "the field is missing: set "+phrase.Or(names))
	default:
		report(path, fmt.Sprintf("got %q, want %s", *got, phrase.Or(names)))
	}
	return false
}

var identifier = lazy.New(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

// checkVariables accepts several variables with the same name, like the server; the last takes effect.
func checkVariables(list []matchCondition, report reporter) {
	for i, v := range list {
		path := fmt.Sprintf("spec.variables[%d]", i)
		if !identifier.MatchString(v.Name) || celenv.Reserved(v.Name) {
			report(path+".name", fmt.Sprintf("got %q, want a CEL identifier", v.Name))
		}
		checkExpression(v.Expression, path+".expression", report)
	}
}

func checkExpression(source, path string, report reporter) {
	if strings.TrimSpace(source) == "" {
		report(path, "the expression is missing")
	}
}

func checkConditions(list []matchCondition, path string, report reporter) {
	if len(list) > maxMatchConditions {
		report(path+"matchConditions", fmt.Sprintf("got %d items, want at most %d", len(list), maxMatchConditions))
	}
	seen := map[string]bool{}
	for i, m := range list {
		at := fmt.Sprintf("%smatchConditions[%d]", path, i)
		switch {
		case len(apivalidation.IsQualifiedName(m.Name)) > 0:
			report(at+".name", fmt.Sprintf("got %q, want a qualified name, such as exclude-nodes", m.Name))
		case seen[m.Name]:
			report(at+".name", fmt.Sprintf("several conditions are named %q: rename all but one", m.Name))
		}
		seen[m.Name] = true
		checkExpression(m.Expression, at+".expression", report)
	}
}

func (v *validation) check(path string, report reporter) {
	checkExpression(v.Expression, path+".expression", report)
	switch trimmed := strings.TrimSpace(v.Message); {
	case v.Message != "" && trimmed == "":
		report(path+".message", "the message has only spaces: write a message or remove the field")
	case strings.ContainsAny(trimmed, "\n\r"):
		report(path+".message", "the message has line breaks: write it on one line")
	}
	if v.Reason != nil && !slices.Contains(reasons, *v.Reason) {
		report(path+".reason", fmt.Sprintf("got %q, want %s", *v.Reason, strings.Join(reasons, ", ")))
	}
}

func checkAnnotations(list []auditAnnotation, report reporter) {
	if len(list) > maxAuditAnnotations {
		report("spec.auditAnnotations", fmt.Sprintf("got %d items, want at most %d", len(list), maxAuditAnnotations))
	}
	seen := map[string]bool{}
	for i, a := range list {
		path := fmt.Sprintf("spec.auditAnnotations[%d]", i)
		switch {
		case len(apivalidation.IsQualifiedName(a.Key)) > 0:
			report(path+".key", fmt.Sprintf("got %q, want a qualified name", a.Key))
		case seen[a.Key]:
			report(path+".key", fmt.Sprintf("several annotations have the key %q: rename all but one", a.Key))
		}
		seen[a.Key] = true
		checkExpression(a.ValueExpression, path+".valueExpression", report)
	}
}

func (d *bindingDocument) check(report reporter) {
	spec := &d.Spec
	if spec.PolicyName == "" {
		report("spec.policyName", "the name of the policy is missing")
	}
	if len(spec.ValidationActions) == 0 {
		report("spec.validationActions", "the list is empty: add Deny, Warn, or Audit")
	}
	seen := map[Action]bool{}
	for _, a := range spec.ValidationActions {
		if checkOneOf(&a, "spec.validationActions", false, report, ActionDeny, ActionWarn, ActionAudit) && seen[a] {
			report("spec.validationActions", fmt.Sprintf("%s occurs twice: remove one", a))
		}
		seen[a] = true
	}
	if seen[ActionDeny] && seen[ActionWarn] {
		report("spec.validationActions", "Deny and Warn cannot be used together: remove one")
	}
}

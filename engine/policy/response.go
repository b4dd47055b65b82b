package policy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apivalidation "k8s.io/apimachinery/pkg/util/validation"

	"github.com/celadon-cel/celadon/engine/internal/respond"
)

// An Action is a validation action of a binding.
type Action string

// The validation actions.
const (
	ActionDeny  Action = "Deny"
	ActionWarn  Action = "Warn"
	ActionAudit Action = "Audit"
)

// A Result is the API server's response to a request, as far as policies determine it.
type Result struct {
	// Allowed is set if no policy denies the request.
	Allowed bool
	// Failure is the Status that the server returns if a policy denies the request.
	Failure *metav1.Status
	// Warnings holds the warnings that the server sends, in the order of the policies. The server drops duplicates and
	// warnings that a header cannot carry, and shortens or drops warnings if they have over 4,096 runes in total.
	Warnings []string
	// AuditAnnotations are added to the audit event.
	AuditAnnotations map[string]string
	// Evaluations holds the evaluations of policies, bindings, and params objects that match the request, in the
	// server's order, including evaluations that matchConditions exclude.
	Evaluations []Evaluation
	// Undecided lists the evaluations whose result is not known. An evaluation with a validation that certainly fails
	// is also in Evaluations. If a limit is reached, the last item is about all evaluations that follow.
	Undecided []Undecided
	// Work is the work of the evaluations, in units of about a nanosecond. It does not depend on the machine.
	Work int64
}

// An Evaluation is the evaluation of a policy with a binding and a params object.
type Evaluation struct {
	Policy, Binding string
	// Params is the namespace and name, or the name, of the params object. It is "" without params.
	Params string
	// Excluded is set if matchConditions exclude the request: Condition is the name of the first that is false, or ""
	// if they fail and failurePolicy is Ignore.
	Excluded  bool
	Condition string
	// Cost is in CEL cost units: of validations, message expressions, and audit annotations. The budget of
	// the policy limits the first two. MatchCost is the cost of matchConditions.
	Cost, MatchCost int64
	// Decisions lists the validations that are false or fail, and failures of audit annotations and of the policy as
	// a whole.
	Decisions []Decision

	// Explain and Replay use of, to, and params.
	of     *compiledPolicy
	to     *Equivalent
	params map[string]any
}

// A Decision is a reason to deny a request, to warn about it, or to audit it.
type Decision struct {
	// Validation is the index in spec.validations, or -1 if the decision is not about a single
	// validation.
	Validation int
	// Condition is the name of the first matchCondition that failed, if the decision is about matchConditions.
	Condition string
	// Actions are the actions of the binding, or Deny if the policy or binding cannot be used or an audit
	// annotation fails. They are empty for a failure that failurePolicy Ignore ignores.
	Actions []Action
	// Reason is the reason of a validation that is false, such as "Invalid".
	Reason string
	// Message is the message without the names of policy and binding.
	Message string
	// Failed is set if the policy or binding could not be used, or if an expression could not be
	// evaluated.
	Failed bool
	// Cost is the cost of the validation's expression, with the variables that were evaluated for
	// it. It is 0 if the decision is not about a single validation.
	Cost int64
}

// An Undecided is an evaluation whose result is not known.
type Undecided struct {
	Policy string
	// Binding is empty if it is not known whether the policy matches.
	Binding string
	// Reason describes why, such as a missing input or a limit that was reached.
	Reason string
}

func (u Undecided) String() string {
	if u.Binding == "" {
		return fmt.Sprintf("policy %s: undecided: %s", u.Policy, u.Reason)
	}
	return fmt.Sprintf("policy %s: binding %s: undecided: %s", u.Policy, u.Binding, u.Reason)
}

type response struct {
	result   *Result
	warnings respond.Warnings
	// failures are audited in one annotation.
	failures []validationFailure
	denied   bool // Failure is set
}

// A validationFailure is an item of the annotation for validations with the action Audit.
type validationFailure struct {
	Message           string   `json:"message"`
	Policy            string   `json:"policy"`
	Binding           string   `json:"binding"`
	ExpressionIndex   int      `json:"expressionIndex"`
	ValidationActions []Action `json:"validationActions"`
}

// Limits of audit annotations.
const (
	maxValidationFailures = 50
	maxAnnotation         = 10 << 10
	failuresAnnotation    = "validation.policy.admission.k8s.io/validation_failure"
)

func (r *response) act(req *Request, p *compiledPolicy, b *compiledBinding, d *Decision) {
	for _, action := range d.Actions {
		switch action {
		case ActionDeny:
			r.deny(req, p, b, d.Reason, d.Message)
		case ActionWarn:
			r.warnings.Add(fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", p.name, b.name, d.Message))
		case ActionAudit:
			r.failures = append(r.failures, validationFailure{d.Message, p.name, b.name, max(0, d.Validation), b.actions})
		}
	}
}

// deny keeps only the first denial, like the server. b is nil if the policy itself cannot be used.
func (r *response) deny(req *Request, p *compiledPolicy, b *compiledBinding, reason, message string) {
	if r.denied {
		return
	}
	r.denied = true
	text := fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: %s", p.name, message)
	if b != nil {
		text = fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", p.name, b.name, message)
	}
	status := apierrors.NewForbidden(req.Resource.GroupResource(), req.shownName(), errors.New(text)).ErrStatus
	status.Reason = metav1.StatusReasonInvalid
	if reason != "" {
		status.Reason = metav1.StatusReason(reason)
	}
	status.Code = codeOf(status.Reason)
	status.Details.Causes = append(status.Details.Causes, metav1.StatusCause{Message: text})
	r.result.Failure = &status
	r.result.Allowed = false
}

func (req *Request) shownName() string {
	meta, _ := req.Object["metadata"].(map[string]any)
	return cmp.Or(req.Name, textOf(meta, "name"), textOf(meta, "generateName"), "Unknown")
}

func codeOf(reason metav1.StatusReason) int32 {
	switch reason {
	case metav1.StatusReasonForbidden:
		return http.StatusForbidden
	case metav1.StatusReasonUnauthorized:
		return http.StatusUnauthorized
	case metav1.StatusReasonRequestEntityTooLarge:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusUnprocessableEntity
}

// Annotations of a policy are joined over its bindings and params.
type annotations map[string][]string

func (r *response) annotate(req *Request, p *compiledPolicy, b *compiledBinding, list []annotation, all annotations) (decisions []Decision) {
	for _, a := range list {
		switch {
		case a.failure != "":
			r.deny(req, p, b, "", a.failure)
			decisions = append(decisions, Decision{Validation: -1, Actions: []Action{ActionDeny}, Message: a.failure, Failed: true})
		case a.value != "":
			value := a.value[:min(len(a.value), maxAnnotation)]
			if !slices.Contains(all[a.key], value) {
				all[a.key] = append(all[a.key], value)
			}
		}
	}
	return decisions
}

func (r *response) publish(p *compiledPolicy, all annotations) {
	for key, values := range all {
		r.addAnnotation(p.name+"/"+key, strings.Join(values, ", "))
	}
}

func (r *response) addAnnotation(key, value string) {
	if len(apivalidation.IsQualifiedName(key)) > 0 {
		return // the server logs an error
	}
	if r.result.AuditAnnotations == nil {
		r.result.AuditAnnotations = map[string]string{}
	}
	r.result.AuditAnnotations[key] = value
}

func (r *response) finish() {
	r.result.Warnings = r.warnings.Sent()
	if len(r.failures) == 0 {
		return
	}
	data, err := json.Marshal(r.failures[:min(len(r.failures), maxValidationFailures)])
	if err == nil {
		r.addAnnotation(failuresAnnotation, string(data))
	}
}

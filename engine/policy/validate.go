package policy

import (
	"fmt"
	"strings"

	celtypes "github.com/google/cel-go/common/types"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// A verdict is the result of a policy for one params object.
type verdict struct {
	decisions   []decision
	annotations []annotation
	// excluded is the name of the matchCondition that is false.
	excluded   string
	isExcluded bool
	cost       int64 // of validations, message expressions, and audit annotations
	matchCost  int64
}

// A decision is the outcome of a validation, or of the policy as a whole.
type decision struct {
	deny bool
	// failed is set if an expression could not be evaluated.
	failed bool
	whole  bool // not about a single validation
	// condition is the name of the matchCondition that failed, or "".
	condition string
	message   string
	reason    string
	cost      int64
}

// An annotation is the outcome of an auditAnnotation.
type annotation struct {
	key, value string
	publish    bool
	failure    string // denies the request if it is not ""
}

// validate evaluates a policy. params is nil for a policy without params.
func (r *run) validate(s *situation, p *compiledPolicy, to *converted, params map[string]any) (v verdict) {
	r.bindRequest(s, to, params)
	if len(r.program.parts[partCondition]) > 0 {
		r.bindUsed(namespaceRoot, nil)
		r.bindRequestValue(s, s.req.Resource, to)
		name, failure, excluded, cost := r.conditions(&s.set.settings)
		v.matchCost = cost
		switch {
		case excluded:
			v.excluded, v.isExcluded = name, true
			return v
		case r.firstDoubt != "":
			return v
		case failure != "" && p.ignore:
			v.isExcluded = true
			return v
		case failure != "":
			failed := p.failed(failure)
			failed.condition = name
			v.decisions = []decision{failed}
			return v
		}
	}
	r.bindNamespace(s, s.filteredNamespace)
	r.bindRequestValue(s, to.resource, to)
	budget := s.set.settings.budget
	remaining, failure := r.validations(p, &v, &s.set.settings)
	v.cost = budget - remaining
	if failure == "" && len(r.program.parts[partAnnotation]) > 0 {
		r.bindNamespace(s, s.fullNamespace)
		failure = r.auditAnnotations(p, &v, budget)
	}
	switch {
	case r.whyUndecided() != "": // the decisions that are known hold, unless the budget may be exceeded
		if v.annotations = nil; r.undecided != "" || failure != "" || !r.isWithin(remaining, s.set.settings.perCall) {
			v.decisions = nil
		}
	case failure != "":
		v.decisions, v.annotations = []decision{p.failed(failure)}, nil
	}
	return v
}

// failed returns the decision about a policy that cannot be evaluated.
func (p *compiledPolicy) failed(message string) decision {
	return decision{deny: !p.ignore, failed: true, whole: true, message: message}
}

// validations evaluates the validations and their message expressions. If there are no decisions,
// failure is the reason.
func (r *run) validations(p *compiledPolicy, v *verdict, s *settings) (remaining int64, failure string) {
	results, remaining, failure := r.group(r.program.parts[partValidation], s.budget)
	if failure != "" {
		return 0, failure
	}
	// Most requests pass, so decisions are only made if one is needed.
	for i := range results {
		if results[i].value != celtypes.True {
			r.decide(p, v, results)
			break
		}
	}
	r.bindAuthorizer(nil, false)
	if !r.program.hasMessages {
		r.messages(p, v, nil)
		return remaining, ""
	}
	doubt := r.firstDoubt
	messages, left, failure := r.group(r.program.parts[partMessage], remaining)
	if failure != "" {
		r.messagesFailed(p, v, "failed messageExpression: "+failure)
		return 0, ""
	}
	if known := r.messages(p, v, messages); known && r.isWithin(left, s.perCall) {
		r.firstDoubt = doubt
	}
	return left, ""
}

// decide makes the decisions about validations, still without messages.
func (r *run) decide(p *compiledPolicy, v *verdict, results []result) {
	v.decisions = make([]decision, len(results))
	for i, res := range results {
		d := &v.decisions[i]
		switch {
		case res.isDoubtful:
		case res.failure != "":
			*d = decision{deny: !p.ignore, failed: true, message: res.failure, cost: res.cost}
		case res.value != celtypes.True:
			*d = decision{deny: true, reason: p.validations[i].reason, cost: res.cost}
		}
	}
}

// messagesFailed makes the decisions if the message expressions exceed the budget: then validations
// that are true fail as well.
func (r *run) messagesFailed(p *compiledPolicy, v *verdict, failure string) {
	if v.decisions == nil {
		v.decisions = make([]decision, len(p.validations))
	}
	for i := range v.decisions {
		if d := &v.decisions[i]; !d.failed {
			*d = decision{deny: !p.ignore, failed: true, message: failure}
		}
	}
}

// messages adds the messages of validations that are not true, and drops decisions whose message is not known. It reports
// whether all are known.
func (r *run) messages(p *compiledPolicy, v *verdict, results []result) (known bool) {
	known = true
	for i := range v.decisions {
		d := &v.decisions[i]
		if !d.deny || d.failed {
			continue
		}
		if results != nil && results[i].isDoubtful {
			*d, known = decision{}, false
			continue
		}
		if results != nil && results[i].value != nil {
			text, _ := results[i].value.Value().(string)
			text = strings.TrimSpace(text)
			if len(text) <= celconfig.MaxEvaluatedMessageExpressionSizeBytes && !strings.Contains(text, "\n") {
				d.message = text
			}
		}
		if d.message == "" {
			d.message = p.validations[i].message
		}
	}
	return known
}

// auditAnnotations evaluates the audit annotations, with a budget of their own.
func (r *run) auditAnnotations(p *compiledPolicy, v *verdict, budget int64) (failure string) {
	results, remaining, failure := r.group(r.program.parts[partAnnotation], budget)
	if failure != "" {
		v.cost += budget
		return failure
	}
	v.cost += budget - remaining
	v.annotations = make([]annotation, len(results))
	for i, res := range results {
		a := &v.annotations[i]
		a.key = p.annotationKeys[i]
		switch value := res.value.(type) {
		case celtypes.String:
			a.value = strings.TrimSpace(string(value))
			a.publish = a.value != ""
		case celtypes.Null:
		case nil:
			if !p.ignore {
				a.failure = res.failure
			}
		default:
			a.failure = fmt.Sprintf("valueExpression '%v' resulted in unsupported return type: %v. Return type must be either string or null.", r.program.parts[partAnnotation][i].text, value.Type())
		}
	}
	return ""
}

package policy

import (
	"fmt"
	"slices"
	"strings"

	celtypes "github.com/google/cel-go/common/types"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

type annotation struct {
	key, value string // published unless value is ""
	failure    string // denies the request if it is not ""
}

// validate adds all results except the audit annotations to e.
func (r *run) validate(s *situation, p *compiledPolicy, to *converted, e *Evaluation, actions []Action) (all []annotation) {
	s.begin(r, to, e.params)
	name, failure, excluded, cost := r.conditions(s, to)
	e.MatchCost = cost
	switch {
	case excluded:
		e.Condition, e.Excluded = name, true
		return nil
	case r.firstDoubt != "":
		return nil
	case failure != "" && p.ignore:
		e.Excluded = true
		return nil
	case failure != "":
		e.Decisions = []Decision{p.failed(-1, failure, actions)}
		e.Decisions[0].Condition = name
		return nil
	}
	r.bindValidations(s, to)
	settings := &s.set.settings
	remaining, failure := r.validations(p, e, settings, actions)
	e.Cost = settings.Limits.PerObject - remaining
	if failure == "" && len(r.program.parts[partAnnotation]) > 0 {
		r.bindNamespace(s, s.fullNamespace)
		all, failure = r.auditAnnotations(p, e, settings.Limits.PerObject)
	}
	switch {
	case r.whyUndecided() != "": // the decisions that are known hold, unless the budget may be exceeded
		if all = nil; r.undecided != "" || failure != "" || !r.isWithin(remaining, settings.Limits.PerCall) {
			e.Decisions = nil
		}
	case failure != "":
		e.Decisions, all = []Decision{p.failed(-1, failure, actions)}, nil
	}
	return all
}

// failed returns the decision about an expression, or the whole policy for -1, that cannot be evaluated.
func (p *compiledPolicy) failed(validation int, message string, actions []Action) Decision {
	d := Decision{Validation: validation, Message: message, Failed: true}
	if !p.ignore {
		d.Actions = actions
	}
	return d
}

// validations evaluates the validations and their message expressions. If failure is set, they exceed the budget and
// have no decisions.
func (r *run) validations(p *compiledPolicy, e *Evaluation, s *settings, actions []Action) (remaining int64, failure string) {
	list := r.program.parts[partValidation]
	results, remaining, failure := r.group(list, s.Limits.PerObject)
	if failure != "" {
		return 0, failure
	}
	for i, res := range results {
		switch {
		case res.value == celtypes.True || res.isDoubtful:
			continue
		case res.failure != "":
			e.Decisions = append(e.Decisions, p.failed(i, res.failure, actions))
		default:
			e.Decisions = append(e.Decisions, Decision{Validation: i, Actions: actions, Reason: list[i].reason, Message: list[i].message})
		}
		e.Decisions[len(e.Decisions)-1].Cost = res.cost
	}
	r.bindAuthorizer(nil, false)
	if !r.program.hasMessages {
		return remaining, ""
	}
	doubt := r.firstDoubt
	messages, left, failure := r.group(r.program.parts[partMessage], remaining)
	if failure != "" { // then validations that are true fail as well
		all := make([]Decision, len(list))
		for i := range all {
			all[i] = p.failed(i, "failed messageExpression: "+failure, actions)
		}
		for _, d := range e.Decisions {
			if d.Failed {
				all[d.Validation] = d
			}
		}
		e.Decisions = all
		return 0, ""
	}
	if e.setMessages(messages) && r.isWithin(left, s.Limits.PerCall) {
		r.firstDoubt = doubt
	}
	return left, ""
}

// setMessages also drops decisions whose message is not known, and reports whether all messages are known.
func (e *Evaluation) setMessages(results []result) (known bool) {
	n := len(e.Decisions)
	e.Decisions = slices.DeleteFunc(e.Decisions, func(d Decision) bool { return !d.Failed && results[d.Validation].isDoubtful })
	for i := range e.Decisions {
		d := &e.Decisions[i]
		if d.Failed || results[d.Validation].value == nil {
			continue
		}
		text, _ := results[d.Validation].value.Value().(string)
		text = strings.TrimSpace(text)
		if text != "" && len(text) <= celconfig.MaxEvaluatedMessageExpressionSizeBytes && !strings.Contains(text, "\n") {
			d.Message = text
		}
	}
	return len(e.Decisions) == n
}

// auditAnnotations uses a budget of its own.
func (r *run) auditAnnotations(p *compiledPolicy, e *Evaluation, budget int64) (all []annotation, failure string) {
	results, remaining, failure := r.group(r.program.parts[partAnnotation], budget)
	if failure != "" {
		e.Cost += budget
		return nil, failure
	}
	e.Cost += budget - remaining
	all = make([]annotation, len(results))
	for i, res := range results {
		a := &all[i]
		a.key = r.program.parts[partAnnotation][i].name
		switch value := res.value.(type) {
		case celtypes.String:
			a.value = strings.TrimSpace(string(value))
		case celtypes.Null:
		case nil:
			if !p.ignore {
				a.failure = res.failure
			}
		default:
			a.failure = fmt.Sprintf("valueExpression '%v' resulted in unsupported return type: %v. Return type must be either string or null.", r.program.parts[partAnnotation][i].text, value.Type())
		}
	}
	return all, ""
}

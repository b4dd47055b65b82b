package ruletest

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// expectedDecision is a decision of a policy. Empty fields are not compared.
type expectedDecision struct {
	Position
	policy, binding string
	validation      *int
	action          *string
	message         *expectedText
}

var actions = []string{"Deny", "Warn", "Audit", ""}

func (r *reader) expectedDecisions(e *expectation, f field) {
	if !f.given() {
		return
	}
	e.decided, e.decisionsAt = true, r.positionOf(f.key)
	for _, item := range r.items(f) {
		e.decisions = append(e.decisions, r.expectedDecision(item))
	}
}

func (r *reader) expectedDecision(n *position.Node) *expectedDecision {
	mark := len(r.problems)
	f := r.fields("policies", n, "policy", "binding", "validation", "action", "message")
	d := &expectedDecision{Position: r.positionOf(n), policy: r.text(f[0]), binding: r.text(f[1])}
	if f[2].given() {
		i, err := strconv.Atoi(f[2].value.Resolve().Value)
		if err != nil || i < -1 {
			r.addProblem(f[2].value, "validation: want an index in spec.validations, or -1 for the policy as a whole")
		}
		d.validation = &i
	}
	if f[3].given() {
		action := r.text(f[3])
		if !slices.Contains(actions, action) {
			r.addProblem(f[3].value, "action %q: want Deny, Warn, Audit, or \"\" for an error that failurePolicy ignores", action)
		}
		d.action = &action
	}
	if text := r.text(f[4]); text != "" {
		d.message = r.expectedText(f[4], text)
	}
	if len(r.problems) == mark && d.policy == "" && d.binding == "" && d.validation == nil && d.action == nil && d.message == nil {
		r.addProblem(n, "policies: no expectation: want policy, binding, validation, action, or message")
	}
	return d
}

func (w *expectedDecision) fits(d *policyrequest.Decision) bool {
	return (w.policy == "" || w.policy == d.Policy) && (w.binding == "" || w.binding == d.Binding) &&
		(w.validation == nil || *w.validation == d.Validation) && (w.action == nil || *w.action == d.Action) &&
		(w.message == nil || w.message.matches(d.Message))
}

func (w *expectedDecision) String() string {
	var parts []string
	add := func(key, value string) { parts = append(parts, key+" "+value) }
	if w.policy != "" {
		add("policy", w.policy)
	}
	if w.binding != "" {
		add("binding", w.binding)
	}
	if w.validation != nil {
		add("validation", strconv.Itoa(*w.validation))
	}
	if w.action != nil {
		add("action", strconv.Quote(*w.action))
	}
	if w.message != nil {
		add("message", w.message.text)
	}
	return "a decision with " + strings.Join(parts, ", ")
}

// An expected decision without an action covers all actions of one decision.
func (b *own) checkDecisions(t *trial) {
	left := slices.Clone(t.decisions)
	for _, named := range []bool{true, false} {
		for _, want := range b.expect.decisions {
			if (want.action != nil) != named {
				continue
			}
			i := slices.IndexFunc(left, func(d policyrequest.Decision) bool { return want.fits(&d) })
			if i < 0 && t.unknown != "" {
				continue // it may be among the unknown ones
			}
			if i < 0 {
				t.wrongAt(want.Position, want.String(), "no such decision"+t.unevaluated(want.policy))
				continue
			}
			first := left[i]
			left = slices.Delete(left, i, i+1)
			if named {
				continue
			}
			left = slices.DeleteFunc(left, func(d policyrequest.Decision) bool {
				d.Action = first.Action
				return reflect.DeepEqual(d, first)
			})
		}
	}
	for _, d := range left {
		t.wrongAt(b.expect.decisionsAt, "no other decision", decisionText(&d))
	}
	if len(t.wrong) == 0 {
		t.problem = t.unknown
	}
}

// unevaluated returns why no validation of a policy was evaluated, or "".
func (t *trial) unevaluated(name string) string {
	if name == "" || t.result.Failure != nil && !t.denied {
		return ""
	}
	excluded := ""
	for _, e := range t.evaluations {
		switch {
		case e.Policy != name:
		case !e.Excluded:
			return ""
		case e.Condition == "":
			excluded = ": an error in matchConditions excludes the request"
		default:
			excluded = ": the matchCondition " + e.Condition + " excludes the request"
		}
	}
	if excluded == "" {
		return ": no binding of the policy matches the request"
	}
	return excluded
}

// evaluated maps the names of the policies that match the request to whether their validations were
// evaluated. matchConditions can prevent that.
func (t *trial) evaluated() map[string]bool {
	evaluated := map[string]bool{}
	for _, e := range t.evaluations {
		evaluated[e.Policy] = evaluated[e.Policy] || !e.Excluded
	}
	return evaluated
}

func decisionText(d *policyrequest.Decision) string {
	at := ""
	switch {
	case d.Validation >= 0:
		at = fmt.Sprintf(", spec.validations[%d]", d.Validation)
	case d.Condition != "":
		at = ", matchCondition " + d.Condition
	}
	action := d.Action
	if action == "" {
		action = "an error that failurePolicy ignores"
	}
	return fmt.Sprintf("policy %s, binding %s%s: %s: %s", d.Policy, d.Binding, at, action, d.Message)
}

func decisionList(decisions []policyrequest.Decision) []any {
	list := make([]any, len(decisions))
	for i, d := range decisions {
		list[i] = position.Map{
			{Key: "policy", Value: d.Policy}, {Key: "binding", Value: d.Binding}, {Key: "validation", Value: int64(d.Validation)},
			{Key: "action", Value: d.Action}, {Key: "message", Value: d.Message},
		}
	}
	return list
}

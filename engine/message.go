package engine

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// reject reports a false rule, with the result of its messageExpression or else with its message.
func (r *run) reject(rule *compiledRule, at *ruleTarget) {
	path := r.fieldPath(rule, at)
	kind := at.node.decl.Schema.Type
	detail := rule.defaultMessage()
	if rule.message != nil {
		text, fatal := r.message(rule)
		if fatal != "" {
			r.ratchet(rule, &field.Error{Type: field.ErrorTypeInvalid, Field: path, BadValue: kind, Detail: fatal})
			r.budget = -1
			return
		}
		if text != "" {
			detail = text
		}
	}
	var value any = at.obj
	switch {
	case !r.rules.server.has[ruleValues]:
		value = kind
	case kind == "object" || kind == "array":
		value = field.OmitValueType{}
	}
	r.ratchet(rule, rejection(path, value, detail, rule.spec.Reason))
}

// fieldPath returns the path of a false rule's error.
func (r *run) fieldPath(rule *compiledRule, at *ruleTarget) string {
	if r.rules.server.has[ownFieldPaths] {
		return r.here(rule.fieldPath)
	}
	switch {
	case at.leaked == "":
		at.leaked = rule.fieldPath
	case rule.fieldPath != "":
		at.leaked += "." + rule.fieldPath
	}
	return r.here(at.leaked)
}

// message evaluates a messageExpression. text is empty if the rule's message must be used instead,
// because the expression failed or its result is empty, has several lines, or is too long. A fatal
// error ends all evaluation.
func (r *run) message(rule *compiledRule) (text, fatal string) {
	// As in upstream, messageExpression has the activation of rules without optionalOldSelf even if
	// the rule sets it. The expression then fails, and the message is used instead.
	r.activation.SetOptional(false)
	out := rule.message.Run(r.ctx, &r.activation)
	r.tally.spent(rule, out.Cost)
	if !r.spend(out.Cost) {
		return "", "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run"
	}
	if out.Stopped {
		return "", fmt.Sprintf("no further validation rules will be run due to call cost exceeds limit for messageExpression: %q", rule.spec.MessageExpression)
	}
	if out.Err != nil {
		r.giveUp(rule, messagePart, out.Err) // the rule is false all the same
		return "", ""
	}
	s, ok := out.Value.Value().(string)
	s = strings.TrimSpace(s)
	if !ok || len(s) > celconfig.MaxEvaluatedMessageExpressionSizeBytes || strings.Contains(s, "\n") {
		return "", ""
	}
	return s, ""
}

func rejection(path string, value any, detail string, reason *apiextensionsv1.FieldValueErrorReason) *field.Error {
	e := &field.Error{Type: field.ErrorTypeInvalid, Field: path, BadValue: value, Detail: detail}
	if reason == nil {
		return e
	}
	switch *reason {
	case apiextensionsv1.FieldValueForbidden:
		e.Type, e.BadValue = field.ErrorTypeForbidden, ""
	case apiextensionsv1.FieldValueRequired:
		e.Type, e.BadValue = field.ErrorTypeRequired, ""
	case apiextensionsv1.FieldValueDuplicate:
		e.Type, e.Detail = field.ErrorTypeDuplicate, ""
	}
	return e
}

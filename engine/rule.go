package engine

import (
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

type compiledRule struct {
	ref  RuleRef
	spec *apiextensionsv1.ValidationRule
	// expr is nil if the rule is empty, and skipped, or if it did not compile, and compileErr is set.
	expr       *expr.Expr
	compileErr string
	// message is nil if messageExpression is not set or did not compile.
	message *expr.Expr
	// fieldPath is normalized.
	fieldPath string
	optional  bool
}

func (r *compiledRule) usesOld() bool { return r.expr != nil && r.expr.UsesOldSelf() }

func (r *compiledRule) readsMetadata() bool {
	return r.expr != nil && r.expr.ReadsMetadata() || r.message != nil && r.message.ReadsMetadata()
}

func (r *compiledRule) isTransition() bool { return r.usesOld() && !r.optional }

func (r *compiledRule) text() string {
	if r.spec.Message != "" {
		return strings.TrimSpace(r.spec.Message)
	}
	return strings.TrimSpace(r.spec.Rule)
}

func (r *compiledRule) defaultMessage() string {
	if r.spec.Message == "" {
		return "failed rule: " + r.text()
	}
	return strings.TrimSpace(r.spec.Message)
}

func (c *compiler) rule(r *compiledRule, n *ruleNode) {
	r.optional = r.ref.OptionalOldSelf && c.server.has(runsWithoutOld)
	if n.noType != nil {
		c.fail(r.ref, expr.Itself.String(), n.noType, n.noType.Error())
		return
	}
	if strings.TrimSpace(r.spec.Rule) == "" {
		return
	}
	c.at = &r.ref
	var rejected *expr.Rejection
	if r.expr, rejected = c.part(r, n.decl, expr.Itself, r.spec.Rule); rejected != nil {
		r.compileErr = rejected.Detail
		return
	}
	if r.spec.MessageExpression != "" {
		if r.message, rejected = c.part(r, n.decl, expr.Message, r.spec.MessageExpression); rejected != nil {
			return
		}
	}
	if r.spec.FieldPath == "" {
		return
	}
	var err error
	if r.fieldPath, err = expr.FieldPath(r.spec.FieldPath, n.schema); err != nil {
		c.fail(r.ref, "fieldPath", err, err.Error())
	}
}

func (c *compiler) part(r *compiledRule, d *types.Decl, p expr.Part, src string) (*expr.Expr, *expr.Rejection) {
	key := r.key(d, p, src)
	x, rejected, err := c.exprs.Compile(key)
	if err != nil {
		rejected = key.Uncompilable(err)
	}
	if rejected != nil {
		c.fail(r.ref, p.String(), rejected.Err, rejected.Detail)
	}
	return x, rejected
}

func (r *compiledRule) key(d *types.Decl, p expr.Part, src string) expr.Key {
	return expr.Key{Decl: d, Part: p, Optional: r.ref.OptionalOldSelf, Source: src}
}

func (c *compiler) fail(ref RuleRef, part string, err error, detail string) {
	c.errs = append(c.errs, newCompileError(ref, part, err, detail))
}

func newCompileError(ref RuleRef, part string, err error, detail string) *CompileError {
	e := &CompileError{RuleRef: ref, Part: part, Detail: detail}
	var issues *celenv.IssuesError
	if errors.As(err, &issues) {
		e.Line, e.Column, e.Snippet = issues.Place()
	}
	return e
}

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
	case !r.rules.server.has(ruleValues):
		value = kind
	case kind == "object" || kind == "array":
		value = field.OmitValueType{}
	}
	r.ratchet(rule, rejection(path, value, detail, rule.spec.Reason))
}

func (r *run) fieldPath(rule *compiledRule, at *ruleTarget) string {
	if r.rules.server.has(ownFieldPaths) {
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

// message returns an empty text if the rule's message must be used instead. A fatal error ends all evaluation.
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

package engine

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/warning"

	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/schema"
)

const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run"

type finding struct {
	err  *field.Error
	rule *compiledRule // nil if the error does not belong to a rule
	kind CauseKind
}

// The remaining rules still run after the limit is reached, so that the cost does not depend on it.
func (r *run) add(f finding) {
	r.tally.failed(f.rule)
	if len(r.findings) >= maxFindings || r.textSize >= maxTold {
		return
	}
	r.textSize += len(f.err.Field) + len(f.err.Detail)
	r.findings = append(r.findings, f)
}

// Without these limits on the errors of rules, each of a million items would be reported.
const (
	maxFindings = schema.MaxErrors
	maxTold     = 16 << 20
)

func (r *run) stop(f finding) {
	r.add(f)
	r.tally.stopped(f.rule)
	r.budget = -1
}

// giveUp handles a failure that is not a verdict on the object, and reports whether err is such a failure. If the
// rule exceeds the work limit, the other rules still run.
func (r *run) giveUp(rule *compiledRule, part string, err error) bool {
	if broken, ok := err.(*eval.InternalError); ok {
		r.recordInternalError(broken)
		return true
	}
	overwork, ok := err.(*eval.OverworkError)
	if !ok {
		return false
	}
	if r.unknown == nil {
		r.unknown = &WorkLimitError{Rule: rule.ref, Part: part, Reason: overwork.Error(), field: r.here("")}
	}
	r.overworked = append(r.overworked, rule)
	return true
}

// Rules that mention oldSelf check changes, so their errors are never ratcheted.
func (r *run) ratchet(rule *compiledRule, err *field.Error) {
	if !rule.expr.UsesOldSelf() && r.frames.unchanged() {
		r.tally.ratcheted(rule)
		if r.warned++; r.warned > maxFindings {
			return
		}
		if r.warn != nil {
			r.warn(r.rules.server.render().Error(err))
		} else {
			warning.AddWarning(r.ctx, "", r.rules.server.render().Error(err))
		}
		return
	}
	r.add(finding{err: err, rule: rule})
}

// As in upstream, the error shows the type instead of the value. below is the path of the error relative to the
// current node.
func (r *run) invalid(n *ruleNode, below, detail string) *field.Error {
	return &field.Error{Type: field.ErrorTypeInvalid, Field: r.here(below), BadValue: n.decl.Schema.Type, Detail: detail}
}

// here returns the path of the current node, or of below relative to it, in the format of field.Path, but allocates
// less.
func (r *run) here(below string) string {
	if r.path == nil && len(r.steps) == 0 && below == "" {
		return r.path.String()
	}
	var buf [128]byte
	text := buf[:0]
	if r.path != nil {
		text = append(text, r.path.String()...)
	}
	for _, s := range r.steps {
		text = s.appendTo(text)
	}
	if below != "" {
		text = step{kind: stepField, name: below}.appendTo(text)
	}
	return string(text)
}

func (s step) appendTo(text []byte) []byte {
	if s.kind == stepField && s.name != "" {
		if len(text) > 0 {
			text = append(text, '.')
		}
		return append(text, s.name...)
	}
	text = append(text, '[')
	if s.kind == stepIndex {
		text = strconv.AppendInt(text, int64(s.at), 10)
	} else {
		text = append(text, s.name...)
	}
	return append(text, ']')
}

// The first form is for values whose type is known only at runtime, such as int-or-string.
func runtimeError(err error, rule *compiledRule) string {
	text := err.Error()
	if strings.HasPrefix(text, "no such overload") {
		return "'" + text + "': call arguments did not match a supported operator, function or macro signature for rule: " + rule.text()
	}
	return text + " evaluating rule: " + rule.text()
}

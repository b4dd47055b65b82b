package engine

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/warning"

	"github.com/celadon-cel/celadon/engine/eval"
)

const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run"

// finding is one error of a rule.
type finding struct {
	err  *field.Error
	rule *rule // nil: not one rule's
}

func (r *run) report(rule *rule, err *field.Error) {
	r.trace.failed(rule)
	r.findings = append(r.findings, finding{err, rule})
}

// stop reports the error that ends all evaluation.
func (r *run) stop(rule *rule, err *field.Error) {
	r.report(rule, err)
	r.budget = -1
}

// giveUp ends the pass where nobody can know how the server's would go on.
func (r *run) giveUp(rule *rule, err error) bool {
	unbounded, ok := err.(*eval.UnboundedError)
	if ok {
		r.unknown = unbounded
		r.stop(rule, field.InternalError(r.here(), fmt.Errorf("%w: for rule: %s", err, rule.text())))
	}
	return ok
}

// ratchet reports an error, or warns of it where nothing has changed. Rules
// that mention oldSelf are about change and so never ratcheted.
func (r *run) ratchet(rule *rule, err *field.Error) {
	if !rule.expr.usesOld && r.frames.unchanged() {
		r.trace.failed(rule)
		if r.warn != nil {
			r.warn(err.Error())
		} else {
			warning.AddWarning(r.ctx, "", err.Error())
		}
		return
	}
	r.report(rule, err)
}

// invalid shows the type in place of the value, as upstream does for all but a
// false rule.
func (r *run) invalid(at *place, detail string) *field.Error {
	return field.Invalid(r.here(), at.node.decl.Schema.Type, detail)
}

// runtimeError is the server's text for a rule that has no result. The first
// form is for values whose type is only known now, as int-or-string.
func runtimeError(err error, rule *rule) string {
	text := err.Error()
	if strings.HasPrefix(text, "no such overload") {
		return "'" + text + "': call arguments did not match a supported operator, function or macro signature for rule: " + rule.text()
	}
	return text + " evaluating rule: " + rule.text()
}

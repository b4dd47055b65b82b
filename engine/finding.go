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

// finding is one error of a rule.
type finding struct {
	err  *field.Error
	rule *compiledRule // nil: not one rule's
}

// report keeps what is wrong, as long as there is not enough of it: all rules
// run to the end, at the same cost, whatever is told of them.
func (r *run) report(rule *compiledRule, err *field.Error) {
	r.tally.failed(rule)
	if len(r.findings) >= maxFindings || r.told >= maxTold {
		return
	}
	r.told += len(err.Field) + len(err.Detail)
	r.findings = append(r.findings, finding{err, rule})
}

// An object is refused with no more than so many causes, and so many bytes of
// text by its rules: beyond that, each of a million items would be told of.
const (
	maxFindings = schema.MaxErrors
	maxTold     = 16 << 20
)

// stop reports the error that ends all evaluation.
func (r *run) stop(rule *compiledRule, err *field.Error) {
	r.report(rule, err)
	r.budget = -1
}

// giveUp notes a rule whose failure says nothing of the object. Where it asks for
// more work than is done, nobody can know what the server would make of it, and
// the other rules still run; where it met a bug of ours nothing does.
func (r *run) giveUp(rule *compiledRule, part string, err error) bool {
	if broken, ok := err.(*eval.InternalError); ok {
		r.broke(broken)
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

// ratchet reports an error, or warns of it where nothing has changed. Rules
// that mention oldSelf are about change and so never ratcheted.
func (r *run) ratchet(rule *compiledRule, err *field.Error) {
	if !rule.expr.UsesOldSelf() && r.frames.unchanged() {
		r.tally.ratcheted(rule)
		if r.warned++; r.warned > maxFindings {
			return
		}
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
func (r *run) invalid(n *ruleNode, detail string) *field.Error {
	return &field.Error{Type: field.ErrorTypeInvalid, Field: r.here(""), BadValue: n.decl.Schema.Type, Detail: detail}
}

// here is the node at hand, and a path below it, as a field.Path writes them;
// it takes a third of the memory.
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

// runtimeError is the server's text for a rule that has no result. The first
// form is for values whose type is only known now, as int-or-string.
func runtimeError(err error, rule *compiledRule) string {
	text := err.Error()
	if strings.HasPrefix(text, "no such overload") {
		return "'" + text + "': call arguments did not match a supported operator, function or macro signature for rule: " + rule.text()
	}
	return text + " evaluating rule: " + rule.text()
}

package engine

import (
	"fmt"
	"runtime/debug"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/schema"
	"github.com/celadon-cel/celadon/types"
)

// The parts of a rule, as errors name them.
const (
	rulePart    = "rule"
	messagePart = "messageExpression"
)

// CompileError is a bad rule: one that the API server would refuse in a CRD.
type CompileError struct {
	RuleRef
	// Part is what of the rule is bad: "rule", "messageExpression" or
	// "fieldPath".
	Part string
	// Line and Column, from 1, are where in the expression; 0 when the whole
	// of it is meant.
	Line, Column int
	// Snippet is the expression's line with a caret below the place; "" when
	// the whole of it is meant.
	Snippet string
	// Detail is the server's text.
	Detail string
}

func (e *CompileError) Error() string {
	where := e.where(e.Part)
	if e.Version != "" {
		where = e.Version + ": " + where
	}
	return where + ": " + e.Detail
}

// where names a part of the rule in its schema.
func (r RuleRef) where(part string) string {
	return fmt.Sprintf("%s: x-kubernetes-validations[%d].%s", r.place(), r.Index, part)
}

func (r RuleRef) place() string {
	if r.Path == "" {
		return "schema root"
	}
	return r.Path
}

// CompileErrors are all bad rules of a CRD, in the order of versions, then of
// schema paths.
type CompileErrors struct {
	Errors []*CompileError
}

func (e *CompileErrors) Error() string {
	var b strings.Builder
	for i, err := range e.Errors {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(err.Error())
	}
	return b.String()
}

// Unwrap gives errors.As and errors.Is the single errors.
func (e *CompileErrors) Unwrap() []error {
	errs := make([]error, len(e.Errors))
	for i, err := range e.Errors {
		errs[i] = err
	}
	return errs
}

// WorkLimitError means that an answer is undecided: a rule or a schema asks for
// more work, in bytes touched, steps of the regex engine and memory made, than
// is done for one object. CEL's cost does not see that work. An API server would go on until
// its deadline, or die, and persist nothing. The same input always gives the
// same answer: work is counted, not timed.
type WorkLimitError struct {
	// Rule is the rule. Of a schema only Version and Path are set.
	Rule RuleRef
	// Part is "rule" or "messageExpression", or "schema" where not a rule but
	// the schema's patterns, formats and branches take too long, or "default"
	// where it is a rule on a default, in a CRD that is vetted.
	Part string
	// Reason says what asks for how much.
	Reason string

	field string // of the object
}

// WorkLimit is the Origin of the error by which Rules.Validate tells of a
// WorkLimitError.
const WorkLimit = schema.WorkLimit

// internal is the error in the form that upstream's callers know.
func (e *WorkLimitError) internal() *field.Error {
	return &field.Error{Type: field.ErrorTypeInternal, Field: e.field, Detail: e.Reason + ": for rule: " + e.Rule.Rule, Origin: WorkLimit}
}

func (e *WorkLimitError) Error() string { return "undecided: " + e.where() + ": " + e.Reason }

func (e *WorkLimitError) where() string {
	if e.Part == "schema" || e.Part == "default" {
		return e.Rule.place() + ": " + e.Part
	}
	return e.Rule.where(e.Part)
}

// InternalError is a bug of ours, never a verdict: please report it.
type InternalError struct {
	// Rule is the rule that met it; nil where none was being compiled or run.
	Rule *RuleRef
	// Reason is what went wrong.
	Reason string
	// Stack is where, for the report: as runtime/debug.Stack gives it.
	Stack []byte
}

func (e *InternalError) Error() string {
	const text = "internal error in celadon (please report it): "
	if e.Rule == nil {
		return text + e.Reason
	}
	return text + e.Rule.where(rulePart) + ": " + e.Reason + ": for rule: " + e.Rule.Rule
}

// bug is a panic as an error; no rule is known to have made it.
func bug(p any) error { return bugOf(nil, p) }

// bugOf is what went wrong with a rule: a panic, or the evaluator's word that
// there was one.
func bugOf(rule *RuleRef, p any) *InternalError {
	switch p := p.(type) {
	case *InternalError:
		return p
	case *eval.InternalError:
		return &InternalError{Rule: rule, Reason: fmt.Sprint(p.Panic), Stack: p.Stack}
	}
	return &InternalError{Rule: rule, Reason: fmt.Sprint(p), Stack: debug.Stack()}
}

// Summary is Detail's first sentence, without the place and the excerpt that
// the checker puts around it.
func (e *CompileError) Summary() string {
	_, text, ok := strings.Cut(e.Detail, "<input>:")
	if !ok {
		return e.Detail
	}
	text, _, _ = strings.Cut(text, "\n")
	if _, after, ok := strings.Cut(text, ": "); ok {
		text = after
	}
	return types.Readable(text)
}

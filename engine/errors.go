package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/engine/x/schema"
)

const (
	rulePart    = "rule"
	messagePart = "messageExpression"
)

// A CompileError is an error in a rule for which the API server would reject the CRD, or in an
// expression that was passed to Node.Compile.
type CompileError struct {
	RuleRef
	// Part is the invalid part of the rule: "rule", "messageExpression", or "fieldPath".
	Part string
	// Line and Column are the position in the expression, counted from 1. They are 0 if the error
	// concerns the whole expression.
	Line, Column int
	// Snippet is the line of the expression with a caret below the position. It is empty if the
	// error concerns the whole expression.
	Snippet string
	// Detail is the API server's message.
	Detail string
}

func (e *CompileError) Error() string {
	where := e.where(e.Part)
	if e.Version != "" {
		where = e.Version + ": " + where
	}
	return where + ": " + e.Detail
}

func (r RuleRef) where(part string) string {
	return fmt.Sprintf("%s: x-kubernetes-validations[%d].%s", r.pathText(), r.Index, part)
}

func (r RuleRef) pathText() string {
	if r.Path == "" {
		return "schema root"
	}
	return r.Path
}

// CompileErrors holds the errors of all invalid rules of a CRD or a schema.
type CompileErrors struct {
	Errors []*CompileError
}

func (e *CompileErrors) Error() string {
	texts := make([]string, len(e.Errors))
	for i, err := range e.Errors {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "\n")
}

// Unwrap returns the individual errors, for errors.Is and errors.As.
func (e *CompileErrors) Unwrap() []error {
	errs := make([]error, len(e.Errors))
	for i, err := range e.Errors {
		errs[i] = err
	}
	return errs
}

// A WorkLimitError means that the verdict is undecided, because a rule or a schema needs more work than the limit for
// one object. Work includes bytes touched, steps of the regular expression engine, and memory allocated; CEL's cost
// does not measure it. Work is counted, not timed, so the result is deterministic.
type WorkLimitError struct {
	// Rule is the rule. For a schema, at most Version and Path are set.
	Rule RuleRef
	// Part is "rule" or "messageExpression"; "schema" if the patterns, formats, or branches of the schema, or the
	// conversion of a CRD from v1beta1 exceed the limit, or if the rules of a vetted CRD are too complex to check;
	// "default" if a rule exceeds it for a default value in a vetted CRD; or "managedFields" if package apply would
	// have to merge too many of them.
	Part string
	// Reason describes the work and the limit.
	Reason string

	field string // path in the object
}

// WorkLimit is the Origin of the error that Rules.Validate returns for a WorkLimitError.
const WorkLimit = schema.WorkLimit

func (e *WorkLimitError) internal() *field.Error {
	return &field.Error{Type: field.ErrorTypeInternal, Field: e.field, Detail: e.Reason + ": for rule: " + e.Rule.Rule, Origin: WorkLimit}
}

func (e *WorkLimitError) Error() string { return "undecided: " + e.where() + ": " + e.Reason }

func (e *WorkLimitError) where() string {
	if e.Part == "schema" || e.Part == "default" {
		return e.Rule.pathText() + ": " + e.Part
	}
	return e.Rule.where(e.Part)
}

// An InternalError is a bug in Celadon, never a verdict. Please report it.
type InternalError struct {
	// Rule is the rule that was being compiled or evaluated, or nil.
	Rule *RuleRef
	// Reason describes the failure.
	Reason string
	// Stack is the stack trace in the format of runtime/debug.Stack.
	Stack []byte
}

func (e *InternalError) Error() string {
	const text = "internal error in celadon (please report it): "
	if e.Rule == nil {
		return text + e.Reason
	}
	return text + e.Rule.where(rulePart) + ": " + e.Reason + ": for rule: " + e.Rule.Rule
}

func internalError(p any) error { return bugOf(nil, p) }

func catch[T any](result *T, err *error) {
	if p := recover(); p != nil {
		var none T
		*result, *err = none, internalError(p)
	}
}

func bugOf(rule *RuleRef, p any) *InternalError {
	switch p := p.(type) {
	case *InternalError:
		return p
	case *eval.InternalError:
		return &InternalError{Rule: rule, Reason: fmt.Sprint(p.Panic), Stack: p.Stack}
	}
	return &InternalError{Rule: rule, Reason: fmt.Sprint(p), Stack: debug.Stack()}
}

// Summary returns the first error in Detail, without the position and the excerpt that the checker adds.
func (e *CompileError) Summary() string {
	_, text, ok := strings.Cut(e.Detail, "<input>:")
	if !ok {
		return e.Detail
	}
	text, _, _ = strings.Cut(text, "\n")
	if _, after, ok := strings.Cut(text, ": "); ok {
		text = after
	}
	return celenv.Readable(text)
}

// An Expr is an expression compiled for a schema node. It is immutable and safe for concurrent use.
type Expr struct {
	// Source is the source of the expression, and Type the type of its value in CEL notation.
	Source, Type string
	// Estimate is the estimated cost of one evaluation.
	Estimate cost.Estimate
	// UsesOldSelf is set if the expression mentions oldSelf.
	UsesOldSelf bool

	x *expr.Expr
}

// An Outcome is the result of an evaluation.
type Outcome struct {
	// Value has the form of decoded JSON: durations and timestamps are strings, bytes are base64,
	// and an empty optional is nil. It may share memory with the object.
	Value any
	// Err is the API server's error if evaluation returned no value. It is a *WorkLimitError if evaluation exceeds
	// the work limit, and an *InternalError for a bug in Celadon.
	Err error
	// Cost is in CEL cost units.
	Cost int64
	// Stopped is set if evaluation stopped because its cost exceeded the limit.
	Stopped bool
}

// maxValue limits the size of a value in bytes when written out, where shared parts count each time that they occur.
const maxValue = 64 << 20

// Eval evaluates the expression for a value of its schema node. If old is nil, oldSelf is an unknown attribute. The
// cost limit was fixed when the expression was compiled.
func (x *Expr) Eval(ctx context.Context, self, old any) (out Outcome) {
	defer func() {
		if p := recover(); p != nil {
			out = Outcome{Err: internalError(p)}
		}
	}()
	got := x.x.Eval(ctx, self, old)
	out = Outcome{Err: got.Err, Cost: int64(min(got.Cost, 1<<63-1)), Stopped: got.Stopped}
	if got.Err == nil {
		if eval.SizeAtMost(got.Value, maxValue) {
			out.Value = expr.Native(got.Value)
		} else {
			out.Err = &eval.OverworkError{Why: fmt.Sprintf("the value would have over %d MiB when written out", maxValue>>20)}
		}
	}
	var overwork *eval.OverworkError
	var broken *eval.InternalError
	switch {
	case errors.As(out.Err, &overwork):
		out.Err = &WorkLimitError{Rule: RuleRef{Rule: x.Source}, Part: rulePart, Reason: overwork.Error()}
	case errors.As(out.Err, &broken):
		out.Err = bugOf(&RuleRef{Rule: x.Source}, broken)
	}
	return out
}

package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
)

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
	// Err is the API server's error if evaluation returned no value. It is a *WorkLimitError if
	// evaluation exceeds the work limit, and an *InternalError for a bug in Celadon.
	Err error
	// Cost is in CEL cost units.
	Cost int64
	// Stopped is set if evaluation stopped because its cost exceeded the limit.
	Stopped bool
}

// maxValue limits the size of a value in bytes when written out. Parts that occur more than once
// count each time.
const maxValue = 64 << 20

// Eval evaluates the expression for a value of its schema node. If old is nil, oldSelf is an
// unknown attribute. The cost limit was fixed when the expression was compiled.
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

package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
)

// Expr is one compiled expression at one place of a schema. It is immutable and
// safe for concurrent use.
type Expr struct{ x *expr.Expr }

// Source is the expression's text.
func (x *Expr) Source() string { return x.x.Source() }

// Type is the type of the expression's value, as CEL writes it.
func (x *Expr) Type() string { return x.x.Type().String() }

// Estimate is the range of costs that one evaluation may have.
func (x *Expr) Estimate() cost.Estimate { return x.x.Estimate() }

// UsesOldSelf is true when the expression mentions oldSelf.
func (x *Expr) UsesOldSelf() bool { return x.x.UsesOldSelf() }

// Outcome is what one evaluation gave.
type Outcome struct {
	// Value is in the form of decoded JSON: durations and times are text, bytes
	// base64, an empty optional nil. It may share memory with the object.
	Value any
	// Err is why there is no value, in the server's words; a *WorkLimitError
	// where that takes too much work, and an *InternalError for a bug of ours.
	Err error
	// Cost is in CEL cost units.
	Cost int64
	// Stopped is true where the cost passed the limit.
	Stopped bool
}

// maxValue is in bytes of what an expression made: parts of it can stand there
// more than once.
const maxValue = 64 << 20

// Eval evaluates the expression over a value of its place; old is nil when
// there is none, and oldSelf then unknown. The cost limit is the one the
// expression was compiled with.
func (x *Expr) Eval(ctx context.Context, self, old any) (out Outcome) {
	defer func() {
		if p := recover(); p != nil {
			out = Outcome{Err: bug(p)}
		}
	}()
	got := x.x.Eval(ctx, self, old)
	out = Outcome{Err: got.Err, Cost: int64(min(got.Cost, 1<<63-1)), Stopped: got.Stopped}
	if got.Err == nil {
		if eval.Fits(got.Value, maxValue) {
			out.Value = expr.Native(got.Value)
		} else {
			out.Err = &eval.OverworkError{Why: fmt.Sprintf("the value would have over %d MiB when written out", maxValue>>20)}
		}
	}
	var overwork *eval.OverworkError
	var broken *eval.InternalError
	switch {
	case errors.As(out.Err, &overwork):
		out.Err = &WorkLimitError{Rule: RuleRef{Rule: x.Source()}, Part: rulePart, Reason: overwork.Error()}
	case errors.As(out.Err, &broken):
		out.Err = bugOf(&RuleRef{Rule: x.Source()}, broken)
	}
	return out
}

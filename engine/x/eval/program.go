package eval

import (
	"context"
	"errors"
	"fmt"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// A Program is a planned expression. It is immutable and safe for concurrent use.
type Program struct {
	test      testFunc // nil unless the code is of boolKind
	val       valFunc
	slots     int
	limit     uint64
	errorsEnd bool

	over *OverworkError // set if the program always returns this error
}

// Overworked returns a program that evaluates nothing: Eval returns an OverworkError with the given
// reason.
func Overworked(why string) *Program { return &Program{over: &OverworkError{Why: why}} }

// Outcome is the result of an evaluation.
type Outcome struct {
	// Value is the result, or nil if Err is set.
	Value ref.Val
	// Cost is the number of CEL cost units spent, also if Err is set.
	Cost uint64
	// Err is the failure. An *OverworkError or an *InternalError is not a verdict.
	Err error
	// Stopped is set if the evaluation ended because its cost exceeded the limit. Err is then also set.
	Stopped bool
}

// False reports whether there is a value other than true. As a condition, null is false.
func (o Outcome) False() bool {
	held, _ := o.Value.(celtypes.Bool)
	return o.Err == nil && !bool(held)
}

var errCostLimit error = interpreter.EvalCancelledError{
	Cause:   interpreter.CostLimitExceeded,
	Message: "operation cancelled: actual cost limit exceeded",
}

// Eval evaluates the program with the values of a.
func (p *Program) Eval(ctx context.Context, a *Activation) (out Outcome) {
	if ctx == nil {
		return Outcome{Err: errors.New("context can not be nil")}
	}
	if p.over != nil {
		return Outcome{Err: p.over}
	}
	f := a.ownFrame()
	f.start(ctx, p)
	defer f.finish(ctx, &out)
	return p.run(ctx, f)
}

func (p *Program) run(ctx context.Context, f *frame) Outcome {
	var v ref.Val
	if p.test != nil {
		switch p.test(f) {
		case yes:
			return Outcome{Value: celtypes.True, Cost: f.cost}
		case no:
			return Outcome{Value: celtypes.False, Cost: f.cost}
		}
		v = f.err
	} else {
		v = p.val(f)
	}
	err, ok := v.(*celtypes.Err)
	if !ok {
		return Outcome{Value: v, Cost: f.cost}
	}
	return f.failed(ctx, err)
}

func (f *frame) failed(ctx context.Context, err *celtypes.Err) Outcome {
	if f.interrupted && errors.Is(err, errInterruption) {
		return f.canceledOutcome(ctx)
	}
	return Outcome{Err: err, Cost: f.cost}
}

func (f *frame) canceledOutcome(ctx context.Context) Outcome {
	return Outcome{Err: fmt.Errorf("%w: %w", errInterrupted, context.Cause(ctx)), Cost: f.cost}
}

func (f *frame) recovered(ctx context.Context, r any) Outcome {
	switch r := r.(type) {
	case costLimitExceeded:
		return Outcome{Err: errCostLimit, Cost: f.cost, Stopped: true}
	case *OverworkError:
		f.worked = f.began + f.workLimit() // the actual work may depend on the iteration order of a map
		return Outcome{Err: r, Cost: f.cost}
	case tooManyElements:
		return Outcome{Err: r.overwork(), Cost: f.cost}
	case canceled:
		return f.canceledOutcome(ctx)
	}
	return Outcome{Err: panicked(r), Cost: f.cost}
}

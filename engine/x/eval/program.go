package eval

import (
	"context"
	"errors"
	"fmt"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// Program is an expression ready to run.
type Program struct {
	test  testFunc // of a condition, else nil
	val   valFunc
	slots int
	limit uint64

	over *OverworkError // of a program that is never run
}

// Overworked is a program that is never run: its outcome is that it asks for too
// much work.
func Overworked(why string) *Program { return &Program{over: &OverworkError{Why: why}} }

// Outcome is the result of one evaluation.
type Outcome struct {
	// Value is the result; nil when Err is set.
	Value ref.Val
	// Cost is the number of CEL cost units spent, also on failure.
	Cost uint64
	// Err is why there is no value: in the API server's words, or an
	// *OverworkError, or an *InternalError, which are no verdict.
	Err error
	// Stopped is true when Err is that the cost passed the limit.
	Stopped bool
}

// False is true when there is a value other than true: as a condition, null is
// false.
func (o Outcome) False() bool { return o.Err == nil && o.Value != celtypes.True }

var errCostLimit error = interpreter.EvalCancelledError{
	Cause:   interpreter.CostLimitExceeded,
	Message: "operation cancelled: actual cost limit exceeded",
}

// Eval runs the program.
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
	if f.interrupted && errors.Is(err, interpreter.InterruptError{}) {
		return f.wasCancelled(ctx)
	}
	return Outcome{Err: err, Cost: f.cost}
}

func (f *frame) wasCancelled(ctx context.Context) Outcome {
	return Outcome{Err: fmt.Errorf("%w: %w", errInterrupted, context.Cause(ctx)), Cost: f.cost}
}

func (f *frame) recovered(ctx context.Context, r any) Outcome {
	switch r := r.(type) {
	case costLimitExceeded:
		return Outcome{Err: errCostLimit, Cost: f.cost, Stopped: true}
	case *OverworkError:
		f.worked = f.began + f.workLimit() // how far it got may depend on the order of a map
		return Outcome{Err: r, Cost: f.cost}
	case tooManyElements:
		return Outcome{Err: r.overwork(), Cost: f.cost}
	case cancelled:
		return f.wasCancelled(ctx)
	}
	return Outcome{Err: panicked(r), Cost: f.cost}
}

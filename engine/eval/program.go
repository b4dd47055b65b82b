package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/types"
)

// Program is an expression ready to run.
type Program struct {
	test  testFunc // of a condition, else nil
	val   valFunc
	slots int
	limit uint64

	cel cel.Program // what could not be planned here, else nil
}

// celProgram leaves the expression to cel-go, which may refuse it.
func celProgram(env *cel.Env, ast *cel.Ast, d *types.Decl, limit int64) (*Program, error) {
	prog, err := env.Program(ast,
		cel.CostLimit(uint64(limit)),
		cel.CostTracking(cost.Estimator(d)),
		cel.InterruptCheckFrequency(celconfig.CheckFrequency),
	)
	if err != nil {
		return nil, err
	}
	return &Program{cel: prog}, nil
}

// Outcome is the result of one evaluation.
type Outcome struct {
	// Value is the result; nil when Err is set.
	Value ref.Val
	// Cost is the number of CEL cost units spent, also on failure.
	Cost uint64
	// Err is why there is no value, in the API server's words, or an
	// *UnboundedError.
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
	if p.cel != nil {
		return p.celEval(ctx, a)
	}
	f := a.ownFrame()
	f.start(ctx, p)
	defer f.finish(&out)
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
		return Outcome{Err: fmt.Errorf("%w: %w", err, context.Cause(ctx)), Cost: f.cost}
	}
	return Outcome{Err: err, Cost: f.cost}
}

func (f *frame) recovered(r any) Outcome {
	switch r := r.(type) {
	case costLimitExceeded:
		return Outcome{Err: errCostLimit, Cost: f.cost, Stopped: true}
	case *UnboundedError:
		return Outcome{Err: r, Cost: f.cost}
	}
	return Outcome{Err: fmt.Errorf("internal error: %v", r), Cost: f.cost}
}

func (p *Program) celEval(ctx context.Context, a *Activation) Outcome {
	v, details, err := p.cel.ContextEval(ctx, a)
	out := Outcome{Value: v, Err: err}
	if details != nil && details.ActualCost() != nil {
		out.Cost = *details.ActualCost()
	}
	if err != nil {
		out.Value = nil
		var cancelled interpreter.EvalCancelledError
		out.Stopped = errors.As(err, &cancelled) && cancelled.Cause == interpreter.CostLimitExceeded
	}
	return out
}

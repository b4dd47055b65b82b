package eval

import (
	"context"

	celtypes "github.com/google/cel-go/common/types"
)

// Tested is the result of Test.
type Tested struct {
	// True is the number of conditions that are true, and Cost their cost.
	True int
	Cost uint64
	// Next is set if the condition after these was evaluated, too.
	Next bool
}

// Test evaluates conditions with the same values, in order, until one is not true or the total cost exceeds
// budget. It stores the Outcome of that condition in next, unless Eval must evaluate it, for example because it
// exceeds a limit.
//
// Nearly all conditions of rules are true, and returning an Outcome for each of them would take a good part of
// the time.
func (a *Activation) Test(ctx context.Context, conditions []*Program, budget int64, next *Outcome) (t Tested) {
	if ctx == nil {
		return t
	}
	f := a.ownFrame()
	defer f.endTest()
	for _, p := range conditions {
		if p.over != nil || p.test == nil {
			break
		}
		f.start(ctx, p)
		if is := p.test(f); is != yes || t.Cost+f.cost > uint64(max(budget, 0)) {
			*next, t.Next = f.outcome(ctx, is), true
			break
		}
		t.Cost += f.cost
		t.True++
	}
	return t
}

// outcome returns the Outcome of a condition.
func (f *frame) outcome(ctx context.Context, is truth) Outcome {
	if is == bad {
		return f.failed(ctx, f.err)
	}
	return Outcome{Value: celtypes.Bool(is == yes), Cost: f.cost}
}

// endTest is finish for Test. Eval evaluates the condition that panicked again, and reports the panic.
func (f *frame) endTest() {
	if recover() != nil {
		f.worked, f.calling = f.began, ""
	}
	f.clear()
}

package eval

import "context"

// Tested is the result of Test.
type Tested struct {
	// True is the number of conditions that are true.
	True int
	// False is set if the next condition is false.
	False bool
	// Cost is the cost of all of these conditions.
	Cost uint64
}

// Test evaluates conditions with the same values, in order, until one is not true or the total cost would exceed
// budget. If that condition is not false, Test has no effect on it: call Eval for its Outcome, which may be an
// error.
//
// Nearly all conditions of rules are true. Returning an Outcome for each of them would take a good part of the
// time.
func (a *Activation) Test(ctx context.Context, conditions []*Program, budget int64) (t Tested) {
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
		is := p.test(f)
		if is == bad || t.Cost+f.cost > uint64(max(budget, 0)) {
			f.worked = f.began
			break
		}
		t.Cost += f.cost
		if is == no {
			t.False = true
			break
		}
		t.True++
	}
	return t
}

// endTest is finish for Test. Eval evaluates the condition that panicked again, and reports the panic.
func (f *frame) endTest() {
	if recover() != nil {
		f.worked, f.calling = f.began, ""
	}
	f.clear()
}

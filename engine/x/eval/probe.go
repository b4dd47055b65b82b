package eval

import (
	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/types"
)

// How it works: whoever measures a rule plans it a second time with probes. A
// program without any is what it always was: nothing in it looks for one.

// Probe is told of each evaluation of one condition: before it, and behind it
// with what it came to. An evaluation that a limit ends has no End.
type Probe interface {
	Begin()
	End(Truth)
}

// Truth is what a condition came to.
type Truth uint8

// What a condition can come to.
const (
	False = Truth(no)
	True  = Truth(yes)
	Erred = Truth(bad)
)

// PlanProbed is PlanWith, for a program that tells the probes, by the IDs of
// their nodes. The nodes must be conditions: operands of && and ||, the operand
// of !, the condition of ?: or a branch that is a bool, a macro's predicate, or
// the whole. The program counts a step less here and there, and is not for use
// by several goroutines.
func (p *Planner) PlanProbed(checked *cel.Ast, roots []types.Root, limit int64, probes map[int64]Probe) (*Program, error) {
	return p.program(checked, checked.NativeRep().Expr(), roots, limit, func(one *planner) { one.probes = probes })
}

func probed(c *code, probe Probe) *code {
	test := c.truth()
	return boolCode(func(f *frame) truth {
		probe.Begin()
		t := test(f)
		probe.End(Truth(t))
		return t
	})
}

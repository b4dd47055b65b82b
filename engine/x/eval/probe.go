package eval

import (
	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/engine/x/celenv"
)

// How it works: to measure a rule, it is planned a second time with probes. Programs without probes
// contain no code for them.

// A Probe observes the evaluations of a condition: Begin is called before each, and End with the
// result after it. If a limit ends the evaluation, End is not called.
type Probe interface {
	Begin()
	End(Truth)
}

// A Prober returns the probes for a checked expression, keyed by the IDs of nodes as PlanProbed
// requires.
type Prober interface {
	Probes(checked *cel.Ast) map[int64]Probe
}

// Truth is the result of a condition.
type Truth uint8

// The possible results of a condition.
const (
	False = Truth(no)
	True  = Truth(yes)
	Erred = Truth(bad)
)

// PlanProbed is like PlanWith, for a program that calls probes, which are keyed by the IDs of
// nodes. Each node must be a condition: an operand of &&, ||, or !, the condition of ?: or a branch
// of type bool, the predicate of a macro, or the whole expression. The cost of a probed program may
// be slightly too low, and the program is not safe for concurrent use.
func (p *Planner) PlanProbed(checked *cel.Ast, roots []celenv.Root, limit int64, probes map[int64]Probe) (*Program, error) {
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

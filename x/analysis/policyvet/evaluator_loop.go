package policyvet

import (
	"maps"

	"github.com/google/cel-go/common/ast"
)

func (n *evaluator) loop(loop ast.ComprehensionExpr) result {
	over, start := n.eval(loop.IterRange()), n.eval(loop.AccuInit())
	out := result{set: (over.set | start.set) & isError}
	if over.set&isNull != 0 {
		out.set |= isError
	}
	if over.set&anything == 0 {
		return out
	}
	outer := n.vars
	defer func() { n.vars = outer }()
	n.vars = maps.Clone(outer)
	n.vars[loop.AccuVar()] = start
	if isBind(loop) {
		v := n.eval(loop.Result())
		v.set |= out.set
		return v
	}
	if items := n.unrolled(loop); len(items) > 0 {
		times := n.times
		defer func() { n.times = times }()
		for _, item := range items {
			n.times = times * len(items)
			v := n.eval(item)
			v.set &^= isError
			n.vars[loop.IterVar()] = v
			n.vars[loop.AccuVar()] = n.eval(loop.LoopStep())
		}
		v := n.eval(loop.Result())
		v.set |= out.set
		return v
	}
	item := unknown
	if over.elem != nil {
		item = *over.elem
	}
	n.vars[loop.IterVar()] = item
	if loop.HasIterVar2() {
		n.vars[loop.IterVar()], n.vars[loop.IterVar2()] = unknown, item
	}
	if start.set&isBool != 0 {
		n.vars[loop.AccuVar()] = result{set: isBool}
	} else {
		n.vars[loop.AccuVar()] = result{set: anything}
	}
	step := n.eval(loop.LoopStep())
	n.vars[loop.AccuVar()] = result{set: (start.set | step.set) &^ isError}
	v := n.eval(loop.Result())
	out.set |= v.set | step.set&isError
	return out
}

// maxUnrolled limits how often the step of a loop is evaluated, with the loops around it.
const maxUnrolled = 16

// unrolled returns the items of the list of a loop if the step is evaluated for each of them, as in
// ['Pod', 'Job'].exists(k, k == object.kind), or nil.
func (n *evaluator) unrolled(loop ast.ComprehensionExpr) []ast.Expr {
	list := loop.IterRange()
	if list.Kind() != ast.ListKind || loop.HasIterVar2() || list.AsList().Size()*n.times > maxUnrolled {
		return nil
	}
	return list.AsList().Elements()
}

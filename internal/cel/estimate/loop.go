package estimate

import (
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
)

// macro returns the estimate of a comprehension.
func (w *walk) macro(e ast.Expr) priced {
	loop := e.AsComprehension()
	over, start := w.expr(loop.IterRange()), w.expr(loop.AccuInit())
	if !w.literalPaths && (over.at.overwritten() || over.at.inSpareCapacity(over.at.steps+1) || loop.HasIterVar2() && over.at.hasSpareCapacity()) {
		return w.stop()
	}
	depth := len(w.locals)
	if w.has[entrySizes] {
		w.measure(&start, loop.AccuInit())
		w.locals = append(w.locals, local{name: loop.AccuVar(), at: start.at, size: start.size, entries: start.entries})
		w.pushSized(loop, over)
	} else {
		w.push(loop, over)
	}
	cond, step := w.expr(loop.LoopCondition()), w.expr(loop.LoopStep())
	if w.has[entrySizes] {
		w.locals = w.locals[:depth+1] // the result can read the accumulator
	} else {
		w.locals = w.locals[:depth]
	}
	result := w.expr(loop.Result())
	w.locals = w.locals[:depth]

	// Only now: with literal paths, the loop may have overwritten the path of its range.
	w.measure(&over, loop.IterRange())
	times := over.size.orAny()
	x := priced{cost: over.cost.Add(start.cost).Add(result.cost).Add(times.MultiplyByCost(step.cost.Add(cond.cost)))}
	switch kind := loop.AccuInit().Kind(); {
	case !w.has[entrySizes]:
		x.size = size{SizeEstimate: times, known: w.has[loopSizes]}
	case kind == ast.LiteralKind:
		x.size = start.size
	case kind == ast.ListKind, kind == ast.MapKind:
		x.size, x.entries = ranged(times), step.entries
	}
	return x
}

// push declares the iteration variable of a macro. Each use of the variable extends the path of the
// range.
func (w *walk) push(loop ast.ComprehensionExpr, over priced) {
	l := local{name: loop.IterVar(), at: over.at}
	switch w.checked.GetType(loop.IterRange().ID()).Kind() {
	case celtypes.ListKind:
		l.step = "@items"
	case celtypes.MapKind:
		l.step = "@keys"
	default:
		l.at = destination{}
	}
	w.locals = append(w.locals, l)
}

// pushSized declares the iteration variables of a macro.
func (w *walk) pushSized(loop ast.ComprehensionExpr, over priced) {
	container := over.entries.container
	if !over.entries.known {
		container = w.checked.GetType(loop.IterRange().ID()).Kind()
	}
	keys, values := "@keys", "@values"
	if container == celtypes.ListKind {
		keys, values = "@indices", "@items"
	}
	switch {
	case loop.HasIterVar2():
		w.pushEntry(loop.IterVar(), over, keys, over.entries.key)
		if range_ := loop.IterRange(); range_.Kind() == ast.IdentKind { // may be hidden by the first variable
			if l := w.local(range_.AsIdent()); l != nil {
				over.at, over.entries = l.at, l.entries
			}
		}
		w.pushEntry(loop.IterVar2(), over, values, over.entries.val)
	case container == celtypes.ListKind:
		w.pushEntry(loop.IterVar(), over, values, over.entries.val)
	default:
		w.pushEntry(loop.IterVar(), over, keys, over.entries.key)
	}
}

func (w *walk) pushEntry(name string, over priced, step string, of checker.SizeEstimate) {
	l := local{name: name, at: w.step(over.at, step), size: size{SizeEstimate: of, known: over.entries.known}}
	l.at.variable = l.at.steps
	w.locals = append(w.locals, l)
}

// isBind reports whether a comprehension evaluates its result once with a variable, as cel.bind and
// the macros of optionals do.
func isBind(loop ast.ComprehensionExpr) bool {
	over, cond := loop.IterRange(), loop.LoopCondition()
	return over.Kind() == ast.ListKind && over.AsList().Size() == 0 &&
		cond.Kind() == ast.LiteralKind && cond.AsLiteral() == celtypes.False &&
		loop.AccuVar() != parser.AccumulatorName
}

func (w *walk) bind(e ast.Expr) priced {
	loop := e.AsComprehension()
	over, start := w.expr(loop.IterRange()), w.measured(loop.AccuInit())
	w.locals = append(w.locals, local{name: loop.AccuVar(), at: start.at, size: start.size, entries: start.entries})
	result := w.expr(loop.Result())
	w.locals = w.locals[:len(w.locals)-1]
	w.measure(&result, loop.Result())
	return priced{cost: over.cost.Add(start.cost).Add(result.cost), size: result.size, entries: result.entries}
}

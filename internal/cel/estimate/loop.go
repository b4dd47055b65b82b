package estimate

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
)

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
		if w.has[nestedSizes] {
			w.measure(&over, loop.IterRange())
		}
		w.pushSized(loop, over)
	} else {
		w.push(loop, over)
	}
	cond, step := w.expr(loop.LoopCondition()), w.expr(loop.LoopStep())
	if w.has[nestedSizes] {
		w.measure(&step, loop.LoopStep())
	}
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
	case w.has[nestedSizes] && (kind == ast.ListKind || kind == ast.MapKind):
		x.size = collected(loop, over.size.orUnknown(), step.size)
	case kind == ast.ListKind, kind == ast.MapKind:
		x.size, x.entries = ranged(times), step.entries
	}
	return x
}

func collected(loop ast.ComprehensionExpr, over, step size) size {
	s := over
	if step.elem != nil {
		s.elem = step.elem
	}
	if loop.AccuInit().Kind() == ast.ListKind {
		s.key = nil
	} else if step.key != nil {
		s.key = step.key
	}
	if isCall(loop.LoopStep(), operators.Conditional) {
		s.Min = 0 // it may skip all entries
	}
	return s
}

// Each use of the variable extends the path of the range.
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

func (w *walk) pushSized(loop ast.ComprehensionExpr, over priced) {
	container := over.entries.container
	if !over.entries.known {
		container = w.checked.GetType(loop.IterRange().ID()).Kind()
	}
	keys, values := "@keys", "@values"
	isList := container == celtypes.ListKind
	if isList {
		keys, values = "@indices", "@items"
	}
	key, val := w.entrySizesOf(over, isList)
	switch {
	case loop.HasIterVar2():
		w.pushEntry(loop.IterVar(), over, keys, key)
		if range_ := loop.IterRange(); range_.Kind() == ast.IdentKind { // may be hidden by the first variable
			if l := w.local(range_.AsIdent()); l != nil {
				over.at, over.entries = l.at, l.entries
				_, val = w.entrySizesOf(over, isList)
			}
		}
		w.pushEntry(loop.IterVar2(), over, values, val)
	case isList:
		w.pushEntry(loop.IterVar(), over, values, val)
	case w.has[nestedSizes] && container == celtypes.DynKind && !key.known && val.known:
		w.pushEntry(loop.IterVar(), over, "@items", val)
	default:
		w.pushEntry(loop.IterVar(), over, keys, key)
	}
}

func (w *walk) entrySizesOf(over priced, isList bool) (key, val size) {
	if !w.has[nestedSizes] {
		known := over.entries.known
		return size{SizeEstimate: over.entries.key, known: known}, size{SizeEstimate: over.entries.val, known: known}
	}
	if isList {
		key = fixed(1)
	} else if over.size.key != nil {
		key = *over.size.key
	}
	if over.size.elem != nil {
		val = *over.size.elem
	}
	return key, val
}

func (w *walk) pushEntry(name string, over priced, step string, of size) {
	l := local{name: name, at: w.step(over.at, step), size: of}
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
	if w.has[nestedSizes] {
		w.measure(&result, loop.Result()) // which can be the variable
	}
	w.locals = w.locals[:len(w.locals)-1]
	w.measure(&result, loop.Result())
	x := priced{cost: over.cost.Add(start.cost).Add(result.cost), size: result.size, entries: result.entries}
	if w.has[nestedSizes] {
		x.at = result.at
	}
	return x
}

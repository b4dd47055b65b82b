package estimate

import (
	"math"
	"unicode/utf8"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
)

// Of returns the estimate of checker.Cost for an expression whose variables are declared as root.
// Presence tests cost nothing. ok is false if this package cannot estimate the expression.
func Of(checked *ast.AST, root Declaration) (est checker.CostEstimate, ok bool) {
	w := &walk{checked: checked, root: root, known: known()}
	x := w.expr(checked.Expr())
	return x.cost, !w.unknown
}

// walk is the state of a walk over an expression.
type walk struct {
	checked *ast.AST
	root    Declaration
	known   *overloadSets
	locals  []local
	unknown bool
}

// A local is a variable of a macro.
type local struct {
	name    string
	at      place
	size    size
	entries entries
}

// A size is the size of a value, if known.
type size struct {
	checker.SizeEstimate
	known bool
}

func fixed(n uint64) size { return size{checker.FixedSizeEstimate(n), true} }

// orAny returns s, or the range of all sizes if s is not known.
func (s size) orAny() checker.SizeEstimate {
	if s.known {
		return s.SizeEstimate
	}
	return checker.UnknownSizeEstimate()
}

// entries is the size of the items of a list that the expression creates, if known.
type entries struct {
	of    checker.SizeEstimate
	known bool
}

func (e entries) union(other entries) entries {
	if !e.known || !other.known {
		return entries{}
	}
	return entries{e.of.Union(other.of), true}
}

// priced is the estimate of an expression.
type priced struct {
	cost    checker.CostEstimate
	size    size
	entries entries
	at      place
	kind    celtypes.Kind
	typ     *celtypes.Type // nil for literals and lists
}

// stop ends the walk, because the expression is not supported.
func (w *walk) stop() priced {
	w.unknown = true
	return priced{}
}

func (w *walk) expr(e ast.Expr) priced {
	if w.unknown {
		return priced{}
	}
	switch e.Kind() {
	case ast.LiteralKind:
		return w.literal(e)
	case ast.IdentKind:
		return w.ident(e)
	case ast.SelectKind:
		return w.field(e)
	case ast.CallKind:
		return w.call(e)
	case ast.ListKind:
		return w.list(e)
	case ast.ComprehensionKind:
		return w.macro(e)
	}
	return w.stop()
}

func (w *walk) literal(e ast.Expr) priced {
	x := priced{cost: checker.FixedCostEstimate(common.ConstCost), size: fixed(1)}
	switch v := e.AsLiteral().(type) {
	case celtypes.String:
		x.size = fixed(uint64(utf8.RuneCountInString(string(v))))
	case celtypes.Bool, celtypes.Int, celtypes.Uint, celtypes.Double, celtypes.Null:
	default:
		return w.stop()
	}
	return x
}

func (w *walk) ident(e ast.Expr) priced {
	x := priced{cost: checker.FixedCostEstimate(common.SelectAndIdentCost), at: place{steps: 1, decl: w.root}}
	name := e.AsIdent()
	for i := len(w.locals) - 1; i >= 0; i-- {
		if l := &w.locals[i]; l.name == name {
			x.at, x.entries = l.at, l.entries
			if w.measure(&x, e); !x.size.known {
				x.size = l.size
			}
			return x
		}
	}
	w.measure(&x, e)
	return x
}

// measure sets the type of x and, if its size is not known, the size: the declared maximum, or 1
// for a scalar.
func (w *walk) measure(x *priced, e ast.Expr) {
	t := w.checked.GetType(e.ID())
	x.kind, x.typ = t.Kind(), t
	switch {
	case x.size.known:
	case x.at.decl != nil:
		x.size = size{checker.SizeEstimate{Max: uint64(x.at.decl.MaxSize())}, true}
	case scalar(t):
		x.size = fixed(1)
	}
}

func scalar(t *celtypes.Type) bool {
	switch t.Kind() {
	case celtypes.BoolKind, celtypes.DoubleKind, celtypes.DurationKind, celtypes.IntKind, celtypes.TimestampKind, celtypes.UintKind:
		return true
	case celtypes.OpaqueKind:
		return t.TypeName() == "optional_type" && scalar(t.Parameters()[0])
	}
	return false
}

func (w *walk) field(e ast.Expr) priced {
	sel := e.AsSelect()
	of, name := w.expr(sel.Operand()), sel.FieldName()
	x := priced{cost: of.cost}
	if sel.IsTestOnly() {
		w.measure(&x, e)
		return x
	}
	switch of.kind {
	case celtypes.MapKind, celtypes.StructKind, celtypes.TypeParamKind:
		x.cost = x.cost.Add(checker.FixedCostEstimate(common.SelectAndIdentCost))
	}
	if name == parser.AccumulatorName || name == parser.HiddenAccumulatorName {
		return w.stop() // checker.Cost ignores paths that begin with this name
	}
	x.at = of.at.step(w.root, name)
	w.measure(&x, e)
	return x
}

func (w *walk) list(e ast.Expr) priced {
	items := e.AsList().Elements()
	x := priced{cost: checker.FixedCostEstimate(common.ListCreateBaseCost), size: fixed(uint64(len(items))), kind: celtypes.ListKind}
	sizes := checker.SizeEstimate{Min: math.MaxUint64}
	if len(items) == 0 {
		sizes.Min = 0
	}
	for _, item := range items {
		of := w.expr(item)
		x.cost = x.cost.Add(of.cost)
		sizes = sizes.Union(of.size.orAny())
	}
	x.entries = entries{sizes, true}
	return x
}

func (w *walk) macro(e ast.Expr) priced {
	loop := e.AsComprehension()
	over, start := w.expr(loop.IterRange()), w.expr(loop.AccuInit())
	isList := loop.AccuInit().Kind() == ast.ListKind
	switch {
	case loop.HasIterVar2(), isBind(loop), !isList && loop.AccuInit().Kind() != ast.LiteralKind,
		over.at.overwritten(), over.at.inRoom(over.at.steps + 1):
		return w.stop()
	}
	w.locals = append(w.locals, local{name: loop.AccuVar(), size: start.size, entries: start.entries}, w.variable(loop.IterVar(), over))
	cond, step := w.expr(loop.LoopCondition()), w.expr(loop.LoopStep())
	w.locals = w.locals[:len(w.locals)-1]
	result := w.expr(loop.Result())
	w.locals = w.locals[:len(w.locals)-1]

	times := over.size.orAny()
	x := priced{cost: over.cost.Add(start.cost).Add(result.cost).Add(times.MultiplyByCost(step.cost.Add(cond.cost))), size: start.size}
	if isList {
		x.size, x.entries = size{times, true}, step.entries
	}
	w.measure(&x, e)
	return x
}

func isBind(loop ast.ComprehensionExpr) bool {
	over := loop.IterRange()
	return over.Kind() == ast.ListKind && over.AsList().Size() == 0
}

// variable returns the iteration variable of a macro over a list or map.
func (w *walk) variable(name string, over priced) local {
	l := local{name: name}
	if over.kind == celtypes.ListKind || over.entries.known {
		l.at, l.size = over.at.step(w.root, "@items"), size{over.entries.of, over.entries.known}
	} else {
		l.at = over.at.step(w.root, "@keys")
	}
	l.at.variable = l.at.steps
	return l
}

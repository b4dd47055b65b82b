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

// Of returns the estimate for an expression whose variables are declared as root.
func (m *Model) Of(checked *ast.AST, root Declaration) checker.CostEstimate {
	_, x := m.walk(walk{checked: checked, roots: func(string) Declaration { return root }})
	return x.cost
}

// Measure returns the estimate for an expression, and the declaration of its value, or nil if its size is not known or
// not bounded. roots returns the declaration of a variable, or nil if nothing is declared.
//
// Unlike in estimates of rules, a scalar that is converted to a string has a maximum length. No API server makes
// estimates of other expressions.
func (m *Model) Measure(checked *ast.AST, roots func(variable string) Declaration) (checker.CostEstimate, Declaration) {
	w, x := m.walk(walk{checked: checked, roots: roots, shortTexts: true})
	w.measure(&x, checked.Expr())
	if d := w.declared(x.at); d != nil {
		return x.cost, d
	}
	return x.cost, x.declaration()
}

func (m *Model) walk(start walk) (*walk, priced) {
	start.Model = m
	w := start
	x := w.expr(w.checked.Expr())
	if w.ambiguous {
		w = start
		w.literalPaths = true
		x = w.expr(w.checked.Expr())
	}
	return &w, x
}

type walk struct {
	*Model
	checked *ast.AST
	roots   func(variable string) Declaration
	locals  []local
	// shortTexts is set if scalars that are converted to strings have a maximum length.
	shortTexts bool
	// literalPaths makes the walk hold paths as checker.Cost does.
	literalPaths bool
	// ambiguous reports that a path may have been overwritten, which ends the walk.
	ambiguous bool
}

type local struct {
	name    string
	at      destination
	size    size
	entries entries
	// step is the name that each use of the variable appends to its path, if not empty.
	step string
}

type size struct {
	checker.SizeEstimate
	known bool
	// ofType reports that the size only follows from the type.
	ofType bool
	// key and elem are the sizes of the keys of a map and of the entries of a list or map, with
	// nestedSizes; nil if not known.
	key, elem *size
}

func fixed(n uint64) size { return size{SizeEstimate: checker.FixedSizeEstimate(n), known: true} }

func ranged(s checker.SizeEstimate) size { return size{SizeEstimate: s, known: true} }

func (s size) orAny() checker.SizeEstimate {
	if s.known {
		return s.SizeEstimate
	}
	return checker.UnknownSizeEstimate()
}

func (s size) orUnknown() size {
	if s.known {
		return s
	}
	return unknown()
}

func (s size) union(other size) size {
	if s.known && other.known {
		u := ranged(s.Union(other.SizeEstimate))
		u.key, u.elem = unionOf(s.key, other.key), unionOf(s.elem, other.elem)
		return u
	}
	if s.known {
		return s
	}
	return other
}

// entries holds the sizes of the entries of a list or map that the expression creates, if known.
type entries struct {
	container celtypes.Kind
	key, val  checker.SizeEstimate
	known     bool
}

func (e entries) union(other entries) entries {
	if !e.known || !other.known {
		return entries{}
	}
	return entries{e.container, e.key.Union(other.key), e.val.Union(other.val), true}
}

type priced struct {
	cost    checker.CostEstimate
	size    size
	entries entries
	at      destination
	parts   []operand // of a list or map, with nestedSizes
}

func (w *walk) stop() priced {
	w.ambiguous = true
	return priced{}
}

// expr does not set the size of a variable or field; measure does.
func (w *walk) expr(e ast.Expr) priced {
	if w.ambiguous {
		return priced{}
	}
	switch e.Kind() {
	case ast.LiteralKind:
		return literal(e)
	case ast.IdentKind:
		return w.ident(e)
	case ast.SelectKind:
		return w.field(e)
	case ast.CallKind:
		return w.call(e)
	case ast.ListKind:
		return w.list(e)
	case ast.MapKind:
		return w.mapping(e)
	case ast.StructKind:
		return w.message(e)
	case ast.ComprehensionKind:
		if w.has[entrySizes] && isBind(e.AsComprehension()) {
			return w.bind(e)
		}
		return w.macro(e)
	}
	return priced{}
}

func literal(e ast.Expr) priced {
	x := priced{cost: checker.FixedCostEstimate(common.ConstCost), size: fixed(1)}
	switch v := e.AsLiteral().(type) {
	case celtypes.String:
		x.size = fixed(uint64(utf8.RuneCountInString(string(v))))
	case celtypes.Bytes:
		x.size = fixed(uint64(len(v)))
	}
	return x
}

func (w *walk) local(name string) *local {
	for i := len(w.locals) - 1; i >= 0; i-- {
		if w.locals[i].name == name {
			return &w.locals[i]
		}
	}
	return nil
}

func (w *walk) ident(e ast.Expr) priced {
	x := priced{cost: checker.FixedCostEstimate(common.SelectAndIdentCost)}
	name := e.AsIdent()
	l := w.local(name)
	switch {
	case l == nil && accumulator(name):
	case l == nil:
		x.at = destination{steps: 1, decl: w.roots(name)}
		if w.literalPaths {
			x.at.path = []string{name}
		}
	case l.step == "":
		x.at, x.entries = l.at, l.entries
	default:
		x.at = w.step(l.at, l.step)
		x.at.variable = x.at.steps
	}
	return x
}

func accumulator(name string) bool {
	return name == parser.AccumulatorName || name == parser.HiddenAccumulatorName
}

// measure sets the size of x, the estimate of e, if it is not known yet.
func (w *walk) measure(x *priced, e ast.Expr) {
	if x.size.known {
		return
	}
	if w.has[nestedSizes] {
		x.size = w.nested(x, e)
		return
	}
	if d := w.declared(x.at); d != nil {
		x.size = atMost(d)
		return
	}
	if w.scalar(w.checked.GetType(e.ID())) {
		x.size = size{SizeEstimate: checker.FixedSizeEstimate(1), known: true, ofType: true}
		return
	}
	if e.Kind() == ast.IdentKind {
		if l := w.local(e.AsIdent()); l != nil {
			x.size = l.size
		}
	}
}

func (w *walk) measured(e ast.Expr) priced {
	x := w.expr(e)
	w.measure(&x, e)
	return x
}

func (w *walk) scalar(t *celtypes.Type) bool {
	switch t.Kind() {
	case celtypes.BoolKind, celtypes.DoubleKind, celtypes.DurationKind, celtypes.IntKind, celtypes.TimestampKind, celtypes.UintKind:
		return true
	case celtypes.TypeKind:
		return w.has[nestedSizes]
	case celtypes.OpaqueKind:
		if !w.has[optionalScalars] || t.TypeName() != "optional_type" {
			return false
		}
		of := t.Parameters()[0]
		return w.scalar(of) && !(w.has[nestedSizes] && of.Kind() == celtypes.OpaqueKind)
	}
	return false
}

func (w *walk) field(e ast.Expr) priced {
	sel := e.AsSelect()
	of, name := w.expr(sel.Operand()), sel.FieldName()
	x := priced{cost: of.cost}
	if sel.IsTestOnly() {
		if w.has[presenceCost] {
			x.cost = x.cost.Add(checker.FixedCostEstimate(common.SelectAndIdentCost))
		}
		if w.has[nestedSizes] {
			x.cost = x.cost.Add(branches(sel.Operand()))
			x.at = w.below(of.at, name)
		}
		return x
	}
	kind := w.checked.GetType(sel.Operand().ID()).Kind()
	if w.has[nestedSizes] || kind == celtypes.MapKind || kind == celtypes.StructKind || kind == celtypes.TypeParamKind {
		x.cost = x.cost.Add(checker.FixedCostEstimate(common.SelectAndIdentCost))
	}
	x.at = w.below(of.at, name)
	return x
}

// noSizes is the neutral element of Union.
var noSizes = checker.SizeEstimate{Min: math.MaxUint64}

func (w *walk) list(e ast.Expr) priced {
	items := e.AsList().Elements()
	x := priced{cost: checker.FixedCostEstimate(common.ListCreateBaseCost), size: fixed(uint64(len(items)))}
	if w.has[nestedSizes] {
		return w.literalOf(x.cost, items)
	}
	sizes := noSizes
	if len(items) == 0 {
		sizes.Min = 0
	}
	for _, item := range items {
		of := w.measured(item)
		x.cost = x.cost.Add(of.cost)
		sizes = sizes.Union(of.size.orAny())
	}
	if w.has[entrySizes] {
		x.entries = entries{celtypes.ListKind, checker.FixedSizeEstimate(1), sizes, true}
	}
	return x
}

func (w *walk) mapping(e ast.Expr) priced {
	all := e.AsMap().Entries()
	x := priced{cost: checker.FixedCostEstimate(common.MapCreateBaseCost), size: fixed(uint64(len(all)))}
	if w.has[nestedSizes] {
		parts := make([]ast.Expr, 0, 2*len(all))
		for _, entry := range all {
			parts = append(parts, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return w.literalOf(x.cost, parts)
	}
	keys, values := noSizes, noSizes
	if len(all) == 0 {
		keys.Min, values.Min = 0, 0
	}
	for _, entry := range all {
		key, value := entry.AsMapEntry().Key(), entry.AsMapEntry().Value()
		k, v := w.expr(key), w.expr(value)
		w.measure(&k, key)
		w.measure(&v, value)
		x.cost = x.cost.Add(k.cost).Add(v.cost)
		keys, values = keys.Union(k.size.orAny()), values.Union(v.size.orAny())
	}
	if w.has[entrySizes] {
		x.entries = entries{celtypes.MapKind, keys, values, true}
	}
	return x
}

func (w *walk) literalOf(cost checker.CostEstimate, parts []ast.Expr) priced {
	x := priced{cost: cost, parts: make([]operand, 0, len(parts))}
	for _, part := range parts {
		of := w.expr(part)
		if !w.literalPaths && of.at.overwritten() {
			return w.stop()
		}
		x.cost, x.parts = x.cost.Add(of.cost), append(x.parts, operand{of, part})
	}
	return x
}

func (w *walk) message(e ast.Expr) priced {
	x := priced{cost: checker.FixedCostEstimate(common.StructCreateBaseCost)}
	for _, field := range e.AsStruct().Fields() {
		x.cost = x.cost.Add(w.expr(field.AsStructField().Value()).cost)
	}
	if w.has[emptyMessages] {
		x.size = fixed(0)
	}
	return x
}

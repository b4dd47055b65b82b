package prove

// How it works. A value does not always have the declared type of its expression. A nullable item
// that is declared as a string can be null, and a dyn value can be anything; functions fail for
// such values. Equality fails if a list or map is compared with another kind of value at any depth:
// with null, an int-or-string, or a value that x-kubernetes-preserve-unknown-fields keeps. Equality
// is also asymmetric: an object with a null field equals an object with another field instead, but
// not vice versa. In all these cases, whether an operation fails is a free literal.

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

// dynamic reports whether a value of type t, or a part of it, can have another type at run time, for
// which functions fail.
func dynamic(t *celtypes.Type) bool {
	return anything(t.Kind()) || slices.ContainsFunc(t.Parameters(), dynamic)
}

func anything(k celtypes.Kind) bool {
	return k == celtypes.DynKind || k == celtypes.AnyKind || k == celtypes.ErrorKind
}

func (x *reading) dynamic(e ast.Expr) bool { return dynamic(x.ast.GetType(e.ID())) }

// sure reports whether the value of e, if any, has its declared type and is not null.
func (x *reading) sure(e ast.Expr) bool { return !x.dynamic(e) && !x.mayBeNull(e) }

func (x *reading) mayBeNull(e ast.Expr) bool {
	if !x.nulls {
		return false
	}
	switch e.Kind() {
	case ast.LiteralKind:
		return e.AsLiteral() == celtypes.NullValue
	case ast.IdentKind:
		v := x.vars[e.AsIdent()]
		return v.truth == nil && (len(v.alts) == 0 || slices.ContainsFunc(v.alts, func(a alt) bool { return !a.solid() }))
	case ast.SelectKind: // a null field is absent; a null entry is not
		s := e.AsSelect()
		return !s.IsTestOnly() && x.kind(s.Operand()) != celtypes.StructKind
	case ast.CallKind:
		name := e.AsCall().FunctionName()
		return !slices.Contains(total, name) && !slices.Contains(typed, name)
	case ast.ComprehensionKind:
		_, ok := quantifierOf(e)
		return !ok
	}
	return false
}

// solid reports whether a is known not to be null.
func (a alt) solid() bool {
	return a.place != nil || a.constant != nil && a.constant != celtypes.NullValue
}

// typed holds functions that either fail or return a value of their declared type.
var typed = []string{
	operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Equals, operators.NotEquals,
	operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
	operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo, operators.Negate,
	"matches", "int", "uint", "double", "string", "bool", "bytes", "duration", "timestamp", "hasValue",
}

func (x *reading) taken(operation string, left ast.Expr, a alt, right ast.Expr, b alt) sat.Lit {
	is := func(e ast.Expr, a alt) bool { return !anything(x.kind(e)) && (a.solid() || !x.mayBeNull(e)) }
	if is(left, a) && is(right, b) {
		return x.formula.yes
	}
	return x.formula.named("defined: " + operation + " " + a.name() + ", " + b.name())
}

func usesNullAsValue(e ast.Expr) bool {
	n := 0
	null := func(e ast.Expr) bool { return e.Kind() == ast.LiteralKind && e.AsLiteral() == celtypes.NullValue }
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case null(e):
			n++
		case e.Kind() == ast.CallKind && (e.AsCall().FunctionName() == operators.Equals || e.AsCall().FunctionName() == operators.NotEquals):
			for _, arg := range e.AsCall().Args() {
				if null(arg) {
					n--
				}
			}
		}
	}))
	return n > 0
}

type elementTraits struct{ nulls, hidden bool }

func elementTraitsOf(d *types.Decl, seen map[*types.Decl]bool) (o elementTraits) {
	if seen[d] {
		return o
	}
	seen[d] = true
	add := func(below elementTraits) { o.nulls, o.hidden = o.nulls || below.nulls, o.hidden || below.hidden }
	if d.Elem != nil {
		add(elementTraits{d.Elem.Nullable, d.Elem.Kind == types.Hidden})
		add(elementTraitsOf(d.Elem, seen))
	}
	for _, f := range d.Fields {
		add(elementTraitsOf(f.Decl, seen))
	}
	return o
}

type side struct {
	alt
	scalar bool // not a list, map, or object
	plain  bool // if not scalar: comparing its contents cannot fail
	typed  bool
}

func (x *reading) side(e ast.Expr, a alt) side {
	if a.place != nil && !a.size {
		return x.placed(a.place, !x.dynamic(e))
	}
	s := side{alt: a, typed: !x.dynamic(e)}
	s.scalar = a.size || a.op != "" || a.constant != nil || s.typed && scalarKind(x.kind(e))
	s.plain = s.typed && !x.nulls && !x.hidden
	return s
}

func (x *reading) placed(p *place, typed bool) side {
	return side{alt: alt{place: p}, scalar: scalar(p.decl.Kind), plain: x.formula.comparable(p.decl).total, typed: typed}
}

func scalar(k types.Kind) bool {
	return k != types.Hidden && k != types.Object && k != types.Map && k != types.List
}

func scalarKind(k celtypes.Kind) bool {
	switch k {
	case celtypes.BoolKind, celtypes.IntKind, celtypes.UintKind, celtypes.DoubleKind, celtypes.StringKind,
		celtypes.BytesKind, celtypes.DurationKind, celtypes.TimestampKind, celtypes.TypeKind, celtypes.NullTypeKind:
		return true
	}
	return false
}

func (x *reading) equals(a, b side) (is, fails sat.Lit) {
	g := &x.formula.gates
	same := a.place != nil && b.place != nil && a.place.decl == b.place.decl
	switch {
	case a.constant == celtypes.NullValue, b.constant == celtypes.NullValue, a.scalar && b.scalar:
		return x.same(a.alt, b.alt, true), g.no()
	case a.plain && b.plain && (same || a.typed && b.typed):
		return x.same(a.alt, b.alt, same && x.formula.comparable(a.place.decl).bothWays), g.no()
	}
	key := a.name() + " == " + b.name()
	is = x.formula.named("equal: " + key)
	return is, g.both(is.Not(), x.formula.named("fails: "+key))
}

type comparable struct {
	total    bool // never fails
	bothWays bool // is symmetric
}

func (w *formula) comparable(d *types.Decl) comparable {
	if c, ok := w.comparables[d]; ok {
		return c
	}
	c := comparable{true, true}
	switch d.Kind {
	case types.Hidden:
		c.total = d.Schema.Type == ""
	case types.List, types.Map:
		c = w.comparable(d.Elem)
		plain := d.Elem.Kind != types.Hidden && !d.Elem.Nullable
		c.total = c.total && (plain || scalar(d.Elem.Kind) && d.ListType == types.Atomic) && (d.ListType != types.Set || scalar(d.Elem.Kind))
	case types.Object:
		c.bothWays = !d.Root && !d.Schema.XPreserveUnknownFields
		for _, f := range d.Fields {
			below := w.comparable(f.Decl)
			c.total = c.total && below.total
			c.bothWays = c.bothWays && below.bothWays && !f.Decl.Nullable
		}
	}
	w.comparables[d] = c
	return c
}

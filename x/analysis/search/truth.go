package search

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/expr"
)

// How it works. Expressions are evaluated backwards. To make && true, both sides are made true; to
// make it false, a random side is made false. To make a == b true, one side is set to the value of
// the other, and so on down to the fields that the expression reads. The engine's evaluation always
// verifies the result, so a wrong change only costs steps.

// truth changes the candidate so that a condition evaluates to want, and reports whether it now
// does.
func (b *adjuster) truth(e ast.Expr, sc *scope, want bool) bool {
	if b.is(e, sc, want) {
		return true
	}
	if b.spent() {
		return false
	}
	switch e.Kind() {
	case ast.IdentKind:
		if at := sc.find(e.AsIdent()); at != nil && at.of.from != nil {
			return b.truth(at.of.from, at.of.in, want)
		}
		b.equal(e, sc, want)
	case ast.SelectKind:
		if e.AsSelect().IsTestOnly() {
			b.presence(e, sc, want)
		} else {
			b.equal(e, sc, want)
		}
	case ast.ComprehensionKind:
		b.macro(e, sc, want)
	case ast.CallKind:
		b.call(e, sc, want)
	}
	return b.is(e, sc, want)
}

func (b *adjuster) call(e ast.Expr, sc *scope, want bool) {
	call := e.AsCall()
	args := call.Args()
	switch call.FunctionName() {
	case operators.LogicalNot:
		b.truth(args[0], sc, !want)
	case operators.LogicalAnd:
		b.junction(args, sc, true, want)
	case operators.LogicalOr:
		b.junction(args, sc, false, want)
	case operators.Conditional:
		b.conditional(args, sc, func(branch ast.Expr) bool { return b.truth(branch, sc, want) })
	case operators.Equals:
		b.same(args[0], args[1], sc, want, e)
	case operators.NotEquals:
		b.same(args[0], args[1], sc, !want, e)
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		b.order(e, sc, want)
	case operators.In:
		b.member(e, sc, want)
	case "matches", "startsWith", "endsWith", "contains":
		if !b.textCall(e, sc, want) {
			b.sample(e, sc, want)
		}
	default:
		if h, ok := b.locate(e, sc); ok && !h.key {
			b.assign(h, want)
			return
		}
		b.sample(e, sc, want)
	}
}

// junction makes && (neutral is true) or || (neutral is false) evaluate to want.
func (b *adjuster) junction(args []ast.Expr, sc *scope, neutral, want bool) {
	if want == neutral { // both
		for range 2 {
			b.truth(args[0], sc, want)
			if b.truth(args[1], sc, want) && b.is(args[0], sc, want) {
				return
			}
		}
		return
	}
	first := b.m.rng.IntN(2)
	before := b.w.clone()
	if !b.truth(args[first], sc, want) {
		*b.w = *before
		b.truth(args[1-first], sc, want)
	}
}

// conditional applies bend to one branch of ?:, usually the selected branch, and makes the
// condition select that branch. It reports whether bend succeeded.
func (b *adjuster) conditional(args []ast.Expr, sc *scope, bend func(branch ast.Expr) bool) bool {
	now := b.is(args[0], sc, true)
	first := now != (b.m.rng.IntN(4) == 0)
	before := b.w.clone()
	for _, side := range []bool{first, !first} {
		if side != first {
			*b.w = *before
		}
		if !b.truth(args[0], sc, side) {
			continue
		}
		branch := args[2]
		if side {
			branch = args[1]
		}
		if bend(branch) {
			return true
		}
	}
	return false
}

// same makes two parts equal if want is set, else different.
func (b *adjuster) same(x, y ast.Expr, sc *scope, want bool, whole ast.Expr) {
	if want {
		if b.m.rng.IntN(2) == 0 {
			x, y = y, x
		}
		if !b.alike(x, y, sc) && !b.alike(y, x, sc) {
			b.exist(whole, sc)
			if !b.alike(x, y, sc) {
				b.alike(y, x, sc)
			}
		}
		return
	}
	if b.m.rng.IntN(2) == 0 {
		x, y = y, x
	}
	if !b.differ(x, sc, whole) && !b.differ(y, sc, whole) {
		b.sampleOutcome(whole, sc, func() bool { return celtypes.IsBool(b.eval(whole, sc)) && !b.equals(x, y, sc) })
	}
}

func (b *adjuster) equals(x, y ast.Expr, sc *scope) bool {
	v, w := b.eval(x, sc), b.eval(y, sc)
	return v != nil && w != nil && v.Equal(w) == celtypes.True
}

// alike sets x to the value of y, or removes it if y is an optional without a value. It reports whether
// it succeeded.
func (b *adjuster) alike(x, y ast.Expr, sc *scope) bool {
	v := b.eval(y, sc)
	if v == nil || celtypes.IsUnknownOrError(v) {
		return false
	}
	if o, ok := v.(*celtypes.Optional); ok && !o.HasValue() {
		if h, ok := b.locate(x, sc); ok {
			return b.absent(h.objectPath)
		}
		return false
	}
	return b.equal(x, sc, expr.Native(v)) && b.eval(x, sc).Equal(v) == celtypes.True
}

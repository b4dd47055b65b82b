package search

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

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

// junction handles && (neutral is true) and || (neutral is false).
func (b *adjuster) junction(args []ast.Expr, sc *scope, neutral, want bool) {
	if want == neutral {
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

// conditional makes the condition of ?: select a branch, usually the current one, and applies bend to that branch.
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

// alike sets x to the value of y, or removes x if y is an optional without a value.
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

func (b *adjuster) order(e ast.Expr, sc *scope, want bool) {
	x, y := e.AsCall().Args()[0], e.AsCall().Args()[1]
	name := e.AsCall().FunctionName()
	less := (name == operators.Less || name == operators.LessEquals) == want
	strict := (name == operators.Less || name == operators.Greater) == want
	if !less {
		x, y = y, x // now x must be at most y
	}
	gap := 0
	if strict {
		gap = 1
	}
	if b.m.rng.IntN(4) == 0 {
		gap += b.m.rng.IntN(3)
	}
	move := func(side, other ast.Expr, by int) bool {
		v := b.eval(other, sc)
		if v == nil || celtypes.IsUnknownOrError(v) {
			return false
		}
		target, ok := shifted(v, by)
		return ok && b.equal(side, sc, expr.Native(target)) && b.is(e, sc, want)
	}
	quiet := b.quiet
	b.quiet = true
	for range 2 {
		if b.m.rng.IntN(2) == 0 {
			if move(x, y, -gap) || move(y, x, gap) {
				break
			}
		} else if move(y, x, gap) || move(x, y, -gap) {
			break
		}
		b.exist(e, sc)
	}
	if b.quiet = quiet; !b.is(e, sc, want) {
		b.sample(e, sc, want)
	}
}

func shifted(v ref.Val, by int) (ref.Val, bool) {
	switch v := v.(type) {
	case celtypes.Int:
		return v + celtypes.Int(by), true
	case celtypes.Double:
		return v + celtypes.Double(by), true
	}
	return v, by == 0
}

func (b *adjuster) presence(e ast.Expr, sc *scope, want bool) {
	h, ok := b.locateField(e.AsSelect().Operand(), e.AsSelect().FieldName(), sc)
	if !ok || h.key {
		return
	}
	if want {
		b.ensure(h.objectPath)
	} else {
		b.absent(h.objectPath)
	}
}

func (b *adjuster) absent(p objectPath) bool { return b.optional(p) && b.w.drop(p) }

func (b *adjuster) optional(p objectPath) bool {
	return len(p.path) > 0 && !p.node.hasDefault() && !p.required(b.s.root)
}

// required must not be called for the root.
func (p objectPath) required(root node) bool {
	up, name := p.parent(root), p.path[len(p.path)-1].Name
	return slices.Contains(up.node.required(), name) || slices.Contains(up.parentKeys(root), name)
}

func (p objectPath) parentKeys(root node) []string {
	if len(p.path) == 0 || !p.path[len(p.path)-1].Item {
		return nil
	}
	return p.parent(root).node.listKeys()
}

func (b *adjuster) exist(e ast.Expr, sc *scope) {
	for _, h := range b.handles(e, sc) {
		if _, ok := b.w.get(h.objectPath); !ok {
			b.ensure(h.objectPath)
		}
	}
}

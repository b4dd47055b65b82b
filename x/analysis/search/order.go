package search

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine/x/expr"
)

// order changes the candidate so that a comparison evaluates to want.
func (b *adjuster) order(e ast.Expr, sc *scope, want bool) {
	x, y := e.AsCall().Args()[0], e.AsCall().Args()[1]
	name := e.AsCall().FunctionName()
	less := (name == operators.Less || name == operators.LessEquals) == want
	strict := (name == operators.Less || name == operators.Greater) == want
	if !less {
		x, y = y, x // now x must be below y
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

// shifted returns a signed integer or a double increased by the given amount. For other values, it
// returns false unless the amount is 0.
func shifted(v ref.Val, by int) (ref.Val, bool) {
	switch v := v.(type) {
	case celtypes.Int:
		return v + celtypes.Int(by), true
	case celtypes.Double:
		return v + celtypes.Double(by), true
	}
	return v, by == 0
}

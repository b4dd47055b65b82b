package search

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/loops"
)

func (b *adjuster) fails(e ast.Expr, sc *scope) bool {
	v := b.eval(e, sc)
	return v != nil && celtypes.IsError(v)
}

func (b *adjuster) fail(e ast.Expr, sc *scope) bool {
	if b.fails(e, sc) {
		return true
	}
	if b.spent() {
		return false
	}
	switch e.Kind() {
	case ast.IdentKind:
		if at := sc.find(e.AsIdent()); at != nil && at.of.from != nil {
			return b.fail(at.of.from, at.of.in)
		}
	case ast.SelectKind:
		b.failChain(e, sc)
	case ast.ListKind:
		for _, item := range shuffled(e.AsList().Elements(), b.m.rng) {
			if b.fail(item, sc) {
				return true
			}
		}
	case ast.ComprehensionKind:
		b.failMacro(e, sc)
	case ast.CallKind:
		b.failCall(e, sc)
	}
	return b.fails(e, sc)
}

func (b *adjuster) failChain(e ast.Expr, sc *scope) {
	if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() {
		b.fail(e.AsSelect().Operand(), sc)
		return
	}
	if h, ok := b.locate(e, sc); ok && !h.key {
		var ways []objectPath
		for p := h.objectPath; len(p.path) > len(b.in.self.path); p = p.parent(b.s.root) {
			if b.optional(p) {
				ways = append(ways, p)
			}
		}
		for _, p := range shuffled(ways, b.m.rng) {
			before := b.w.clone()
			b.ensureParent(p)
			if b.w.drop(p); b.fails(e, sc) {
				return
			}
			*b.w = *before
		}
	}
	switch {
	case e.Kind() == ast.SelectKind:
		b.fail(e.AsSelect().Operand(), sc)
	case e.Kind() == ast.CallKind:
		for _, arg := range shuffled(e.AsCall().Args(), b.m.rng) {
			if b.fail(arg, sc) {
				return
			}
		}
	}
}

func (b *adjuster) failMacro(e ast.Expr, sc *scope) {
	l, ok := loopOf(e)
	if !ok || b.m.rng.IntN(8) == 0 {
		b.fail(e.AsComprehension().IterRange(), sc)
		return
	}
	for try := range 2 {
		elements := b.elements(l.Over, sc)
		for _, i := range b.m.rng.Perm(len(elements)) {
			if b.fail(l.Body, l.enter(b, sc, elements[i])) {
				return
			}
			if b.spent() {
				return
			}
		}
		if try == 0 && !b.grow(l.Over, sc) {
			return
		}
	}
}

func (b *adjuster) failCall(e ast.Expr, sc *scope) {
	call := e.AsCall()
	args := call.Args()
	switch name := call.FunctionName(); name {
	case operators.LogicalAnd, operators.LogicalOr:
		first := b.m.rng.IntN(2)
		for _, i := range []int{first, 1 - first} {
			before := b.w.clone()
			if b.fail(args[i], sc) {
				b.truth(args[1-i], sc, name == operators.LogicalAnd)
				if b.fails(e, sc) {
					return
				}
			}
			*b.w = *before
		}
	case operators.Conditional:
		if b.m.rng.IntN(4) == 0 && b.fail(args[0], sc) {
			return
		}
		b.conditional(args, sc, func(branch ast.Expr) bool { return b.fail(branch, sc) })
	case operators.Index:
		b.failChain(e, sc)
	case operators.Divide, operators.Modulo:
		if !b.equal(args[1], sc, int64(0)) || !b.fails(e, sc) {
			b.failOperands(e, sc)
		}
	case "value":
		if h, ok := b.locate(call.Target(), sc); ok && !h.key {
			b.absent(h.objectPath)
		}
	default:
		b.failOperands(e, sc)
	}
}

func (b *adjuster) failOperands(e ast.Expr, sc *scope) {
	for _, part := range shuffled(loops.Children(e), b.m.rng) {
		before := b.w.clone()
		if b.fail(part, sc) && b.fails(e, sc) {
			return
		}
		*b.w = *before
	}
	b.sampleOutcome(e, sc, func() bool { return b.fails(e, sc) })
}

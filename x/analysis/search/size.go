package search

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
)

// size changes the number of elements or characters to at least lo and at most hi, and reports
// whether it succeeded. hi < 0 means no upper bound.
func (b *adjuster) size(e ast.Expr, sc *scope, lo, hi int) bool {
	if b.spent() {
		return false
	}
	if h, ok := b.locate(e, sc); ok {
		return b.sizeAt(h, lo, hi)
	}
	if b.isText(e) {
		return b.wantText(e, sc, textWant{min: lo, max: hi})
	}
	if e.Kind() == ast.CallKind {
		if call := e.AsCall(); call.FunctionName() == operators.Conditional {
			return b.conditional(call.Args(), sc, func(branch ast.Expr) bool { return b.size(branch, sc, lo, hi) })
		}
	}
	return b.resize(func() []binding { return b.elements(e, sc) }, func() bool { return b.grow(e, sc) }, lo, hi)
}

// resize adds or drops elements until their number is in bounds, and reports whether it succeeded.
func (b *adjuster) resize(elements func() []binding, grow func() bool, lo, hi int) bool {
	if lo > maxItems {
		return false
	}
	for n := len(elements()); n < lo; {
		if b.spent() || !grow() {
			return false
		}
		more := len(elements())
		if more <= n {
			return false
		}
		n = more
	}
	for {
		all := elements()
		if hi < 0 || len(all) <= hi {
			return true
		}
		if b.spent() || !b.dropElement(all[len(all)-1]) {
			return false
		}
	}
}

func (b *adjuster) sizeAt(h handle, lo, hi int) bool {
	if h.key || h.node.kind() == "string" || h.node.kind() == "intOrString" {
		return b.textAt(h, textWant{min: lo, max: hi})
	}
	if f := b.m.facts(h.node, nil); lo > maxItems || hi >= 0 && hi < max(f.minItems, f.minProperties) {
		return false
	}
	if _, ok := b.w.get(h.objectPath); !ok && !b.ensure(h.objectPath) {
		return false
	}
	return b.resize(func() []binding { return b.elementsAt(h.objectPath) }, func() bool { return b.add(h.objectPath) }, lo, hi)
}

func (b *adjuster) isText(e ast.Expr) bool {
	t := b.r.program.parts.Type(e)
	return t != nil && t.Kind() == celtypes.StringKind
}

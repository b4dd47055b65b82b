package search

import (
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/expr"
)

// member changes the candidate so that the in operator evaluates to want.
func (b *adjuster) member(e ast.Expr, sc *scope, want bool) {
	x, of := e.AsCall().Args()[0], e.AsCall().Args()[1]
	if !want {
		if !b.differ(x, sc, e) {
			b.expel(x, of, sc)
		}
		return
	}
	all := elementsOf(b.eval(of, sc))
	for _, i := range b.m.rng.Perm(len(all)) {
		if b.equal(x, sc, expr.Native(all[i])) && b.is(e, sc, true) {
			return
		}
	}
	if !b.admit(x, of, sc) {
		b.exist(e, sc)
		b.admit(x, of, sc)
	}
}

// expel removes a value from a list or a key from a map, and reports whether it did.
func (b *adjuster) expel(x, of ast.Expr, sc *scope) bool {
	v := b.eval(x, sc)
	for _, el := range b.elements(of, sc) {
		if now := b.bound(el); now != nil && now.Equal(v) == celtypes.True {
			return b.dropElement(el)
		}
	}
	return false
}

// admit adds a value to a list, or ensures that a map has it as a key, and reports whether it
// succeeded.
func (b *adjuster) admit(x, of ast.Expr, sc *scope) bool {
	v, ok := b.native(x, sc)
	if !ok {
		return false
	}
	h, ok := b.locate(of, sc)
	if !ok || h.key {
		elements := b.elements(of, sc)
		if len(elements) == 0 {
			if !b.grow(of, sc) {
				return false
			}
			elements = b.elements(of, sc)
		}
		for _, el := range elements {
			if b.equalBinding(el, v) {
				return true
			}
		}
		return false
	}
	if name, ok := v.(string); ok && h.node.isMap() {
		return b.ensure(h.field(name))
	}
	list, _ := b.w.get(h.objectPath)
	items, _ := list.([]any)
	if items == nil && !b.ensure(h.objectPath) {
		return false
	}
	f := b.m.facts(h.node, nil)
	if f.maxItems >= 0 && len(items) >= f.maxItems && len(items) > 0 {
		return b.assign(handle{objectPath: h.item(len(items) - 1)}, v)
	}
	return b.assign(handle{objectPath: h.objectPath}, append(items[:len(items):len(items)], v))
}

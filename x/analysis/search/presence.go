package search

import (
	"slices"

	"github.com/google/cel-go/common/ast"
)

// presence changes the candidate so that has() evaluates to want.
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

// optional reports whether p may be removed and is not restored by a default.
func (b *adjuster) optional(p objectPath) bool {
	if len(p.path) == 0 || p.node.hasDefault() {
		return false
	}
	up := p.parent(b.s.root)
	name := p.path[len(p.path)-1].Name
	return !slices.Contains(up.node.required(), name) && !slices.Contains(up.parentKeys(b.s.root), name)
}

// parentKeys returns the keys of the map list that has p as an item, or nil if no map list has.
func (p objectPath) parentKeys(root node) []string {
	if len(p.path) == 0 || !p.path[len(p.path)-1].Item {
		return nil
	}
	return p.parent(root).node.listKeys()
}

// exist creates the missing values that a part reads.
func (b *adjuster) exist(e ast.Expr, sc *scope) {
	for _, h := range b.handles(e, sc) {
		if _, ok := b.w.get(h.objectPath); !ok {
			b.ensure(h.objectPath)
		}
	}
}

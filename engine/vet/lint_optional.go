package vet

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/types"
)

// optionalImmutable finds self == oldSelf on a field that is optional or is in an optional object.
// A user can remove it and add it again with another value, and the rule does not run.
func optionalImmutable(r *rule) string {
	if !comparesSelves(r.expr.ast.NativeRep().Expr()) || r.expr.key.Optional {
		return ""
	}
	b := r.at
	for b.kind == atProperty && (!b.removable() || r.unit.guards(b)) {
		b = b.parent
	}
	if b.kind != atProperty || b != r.at && b.parent.parent == nil { // users do not remove a whole spec
		return ""
	}
	parent := b.parent.objectPath()
	if parent == "" {
		parent = "the root"
	}
	ident, ok := types.Escape(b.name)
	if !ok {
		ident = b.name
	}
	operand := "the field"
	if b != r.at {
		operand = b.objectPath()
	}
	return fmt.Sprintf("%s can be removed and then set to another value, because the rule runs only if both values exist: add the rule \"!has(oldSelf.%s) || has(self.%s)\" to %s, or make %s required", b.objectPath(), ident, ident, parent, operand)
}

// removable reports whether b is an optional property without a default.
func (b *branch) removable() bool {
	return b.kind == atProperty && b.props.Default == nil && !slices.Contains(b.parent.props.Required, b.name)
}

// guards reports whether a transition rule of an ancestor tests for the property.
func (u *unit) guards(b *branch) bool {
	return slices.ContainsFunc(u.rules, func(r *rule) bool {
		return r.at != b && b.within(r.at) && r.expr != nil && !r.expr.rejected && r.expr.usesOld && tests(r.expr, b.name)
	})
}

// within reports whether b is above or a descendant of it.
func (b *branch) within(above *branch) bool {
	for b != nil && b != above {
		b = b.parent
	}
	return b != nil
}

func comparesSelves(e ast.Expr) bool {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Equals {
		return false
	}
	args := e.AsCall().Args()
	is := func(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }
	return is(args[0], types.Self) && is(args[1], types.OldSelf) || is(args[0], types.OldSelf) && is(args[1], types.Self)
}

// tests reports whether an expression applies has() to a field of this name.
func tests(x *compiled, field string) (found bool) {
	ident, _ := types.Escape(field)
	ast.PreOrderVisit(x.ast.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() && e.AsSelect().FieldName() == ident {
			found = true
		}
	}))
	return found
}

// optionalRead finds optional fields that are read without has(). If such a field is absent,
// evaluation fails with "no such key".
func optionalRead(in *inspection) *problem {
	w, read := in.walk, ""
	w.visit(in.expr.ast.NativeRep().Expr(), func(e ast.Expr, at *exprPath) {
		if read != "" || e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly() || at == nil || at.above == nil {
			return
		}
		if !at.alwaysThere() && !w.tested[at.path] {
			read = at.path
		}
	})
	if read == "" {
		return nil
	}
	return &problem{read: read, message: fmt.Sprintf("%s is optional and is read without has(): if it is absent, the rule fails with \"no such key\"; write has(%s) && …, or !has(%s) || …", read, read, read)}
}

// alwaysThere reports whether every valid object has the field.
func (p *exprPath) alwaysThere() bool {
	f, ok := p.above.decl.ByIdent(p.step)
	if !ok || p.node == nil || f.Required || p.node.Default.Object != nil {
		return true
	}
	if p.above.decl.Root { // the server sets these
		return f.Name == "metadata" || f.Name == "apiVersion" || f.Name == "kind"
	}
	return f.Name == "name" && p.above.isOwnMetadata()
}

// isOwnMetadata reports whether p is the metadata of the object itself, which always has a name. The metadata of an
// embedded object can have only a generateName.
func (p *exprPath) isOwnMetadata() bool {
	self := p.above
	return p.name == "metadata" && self != nil && self.decl.Root && self.above == nil && self.from == nil && len(self.at) == 0
}

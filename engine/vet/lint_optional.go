package vet

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/types"
)

// optionalImmutable finds self == oldSelf on a field that may be left out:
// remove it, add it again with another value, and no rule has run.
func optionalImmutable(r *rule) string {
	b, p := r.at, r.at.parent
	if b.kind != atProperty || p == nil || !comparesSelves(r.expr.ast.NativeRep().Expr()) || b.props.Default != nil {
		return ""
	}
	if slices.Contains(p.props.Required, b.name) || r.expr.key.optional {
		return ""
	}
	for _, other := range r.unit.rules {
		if other.at == p && other.expr != nil && !other.expr.refused && other.expr.usesOld && tests(other.expr, b.name) {
			return ""
		}
	}
	parent := p.place()
	if parent == "" {
		parent = "the root"
	}
	ident, ok := types.Escape(b.name)
	if !ok {
		ident = b.name
	}
	return fmt.Sprintf("%s can be removed and then set to another value, since the rule runs only where both values exist: add the rule \"!has(oldSelf.%s) || has(self.%s)\" to %s, or make the field required", r.at.place(), ident, ident, parent)
}

func comparesSelves(e ast.Expr) bool {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Equals {
		return false
	}
	args := e.AsCall().Args()
	is := func(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }
	return is(args[0], types.Self) && is(args[1], types.OldSelf) || is(args[0], types.OldSelf) && is(args[1], types.Self)
}

// tests is true when a rule asks whether some value has the field.
func tests(x *compiled, field string) (found bool) {
	ident, _ := types.Escape(field)
	ast.PreOrderVisit(x.ast.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() && e.AsSelect().FieldName() == ident {
			found = true
		}
	}))
	return found
}

// optionalRead finds fields that may be absent and are read without has():
// the rule then fails to evaluate, and says "no such key".
func optionalRead(r *rule) string {
	w := newPlaceWalk(r.expr)
	read := ""
	w.visit(r.expr.ast.NativeRep().Expr(), func(e ast.Expr, at *exprPlace) {
		if read != "" || e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly() || at == nil || at.above == nil {
			return
		}
		f, ok := at.above.decl.ByIdent(e.AsSelect().FieldName())
		if ok && !alwaysThere(at.above.decl, f) && !w.tested[at.path] {
			read = at.path
		}
	})
	if read == "" {
		return ""
	}
	return fmt.Sprintf("%s is optional and read without has(): where it is absent the rule fails with \"no such key\"; write has(%s) && …, or !has(%s) || …", read, read, read)
}

// alwaysThere is true of fields that any valid object has.
func alwaysThere(d *types.Decl, f *types.Field) bool {
	s, ok := d.Schema.Properties[f.Name]
	if !ok || f.Required || s.Default.Object != nil {
		return true
	}
	if d.Root { // the server fills these in
		return f.Name == "metadata" || f.Name == "apiVersion" || f.Name == "kind"
	}
	return false
}

// exprPlace is the place of a value that an expression reads.
type exprPlace struct {
	path  string // as the rule writes it: "self.spec.hosts"
	decl  *types.Decl
	above *exprPlace // the object that the field is of
}

// placeWalk follows self, oldSelf and the variables of macros.
type placeWalk struct {
	vars   map[string]*exprPlace
	tested map[string]bool // by has()
}

func newPlaceWalk(x *compiled) *placeWalk {
	w := &placeWalk{vars: map[string]*exprPlace{types.Self: {path: types.Self, decl: x.key.decl}}, tested: map[string]bool{}}
	if !x.key.optional {
		w.vars[types.OldSelf] = &exprPlace{path: types.OldSelf, decl: x.key.decl}
	}
	w.visit(x.ast.NativeRep().Expr(), func(e ast.Expr, at *exprPlace) {
		if at != nil && e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() {
			w.tested[at.path] = true
		}
	})
	return w
}

// visit calls f for each part of an expression, with its place if it has one.
func (w *placeWalk) visit(e ast.Expr, f func(ast.Expr, *exprPlace)) {
	f(e, w.place(e))
	switch e.Kind() {
	case ast.SelectKind:
		w.visit(e.AsSelect().Operand(), f)
	case ast.CallKind:
		call := e.AsCall()
		if call.IsMemberFunction() {
			w.visit(call.Target(), f)
		}
		for i, arg := range call.Args() {
			if i == 1 && call.FunctionName() == operators.OptSelect {
				continue
			}
			w.visit(arg, f)
		}
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			w.visit(item, f)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			w.visit(entry.AsMapEntry().Key(), f)
			w.visit(entry.AsMapEntry().Value(), f)
		}
	case ast.ComprehensionKind:
		w.loop(e.AsComprehension(), f)
	}
}

func (w *placeWalk) loop(loop ast.ComprehensionExpr, f func(ast.Expr, *exprPlace)) {
	w.visit(loop.IterRange(), f)
	w.visit(loop.AccuInit(), f)
	outer := w.vars
	w.vars = cloneMap(outer)
	elem := w.element(loop.IterRange())
	w.vars[loop.AccuVar()] = nil
	if loop.IterVar2() != "" {
		w.vars[loop.IterVar()], w.vars[loop.IterVar2()] = nil, named(elem, loop.IterVar2())
	} else {
		w.vars[loop.IterVar()] = named(elem, loop.IterVar())
	}
	w.visit(loop.LoopCondition(), f)
	w.visit(loop.LoopStep(), f)
	w.visit(loop.Result(), f)
	w.vars = outer
}

// element is what a loop over a list goes through; the variable of a loop over
// a map is a key.
func (w *placeWalk) element(e ast.Expr) *exprPlace {
	p := w.place(e)
	if p == nil || p.decl.Kind != types.List {
		return nil
	}
	return &exprPlace{decl: p.decl.Elem}
}

func named(p *exprPlace, name string) *exprPlace {
	if p == nil {
		return nil
	}
	return &exprPlace{path: name, decl: p.decl}
}

// place is nil where an expression is not simply a place of the object.
func (w *placeWalk) place(e ast.Expr) *exprPlace {
	switch e.Kind() {
	case ast.IdentKind:
		return w.vars[e.AsIdent()]
	case ast.SelectKind:
		above := w.place(e.AsSelect().Operand())
		if above == nil || above.decl == nil || above.decl.Kind != types.Object {
			return nil
		}
		if f, ok := above.decl.ByIdent(e.AsSelect().FieldName()); ok {
			return &exprPlace{path: above.path + "." + f.Escaped, decl: f.Decl, above: above}
		}
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() != operators.Index {
			return nil
		}
		above := w.place(call.Args()[0])
		if above != nil && (above.decl.Kind == types.List || above.decl.Kind == types.Map) {
			return &exprPlace{path: above.path + "[…]", decl: above.decl.Elem}
		}
	}
	return nil
}

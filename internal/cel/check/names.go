package check

import (
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/containers"
	"github.com/google/cel-go/common/decls"
	celtypes "github.com/google/cel-go/common/types"
)

var factory = ast.NewExprFactory()

func (s *state) local(name string) *local {
	for i := len(s.locals) - 1; i >= 0; i-- {
		if s.locals[i].name == name {
			return &s.locals[i]
		}
	}
	return nil
}

func (s *state) root(name string) *Variable {
	for _, v := range s.roots {
		if v.name == name {
			return v
		}
	}
	return nil
}

// global resolves a name outside of macros. Like cel-go, it looks for a variable, a type, and a
// constant, in this order.
func (s *state) global(name string) *Variable {
	if v := s.root(name); v != nil {
		return v
	}
	if v := s.variables[name]; v != nil {
		return v
	}
	if found, ok := s.provider.FindIdent(name); ok {
		if t, ok := found.(*celtypes.Type); ok {
			return NewVariable(decls.NewVariable(name, celtypes.NewTypeTypeWithParam(t)))
		}
	}
	if t, ok := s.provider.FindStructType(name); ok {
		return NewVariable(decls.NewVariable(name, t))
	}
	if value := s.provider.EnumValue(name); value.Type() != celtypes.ErrType {
		return NewVariable(decls.NewConstant(name, celtypes.IntType, value))
	}
	return nil
}

// ident checks an identifier. A leading dot skips the variables of macros.
func (s *state) ident(e ast.Expr) *celtypes.Type {
	name, global := strings.CutPrefix(e.AsIdent(), ".")
	local := s.local(name)
	if local == nil || global {
		return s.named(e, s.global(name), local != nil)
	}
	if local.ref == nil {
		local.ref = ast.NewIdentReference(name, nil)
	}
	return s.referred(e, local.typ, local.ref)
}

// named turns e into a reference to v and returns its type, or nil if v is nil. If a macro variable
// hides v, the name keeps its leading dot.
func (s *state) named(e ast.Expr, v *Variable, hidden bool) *celtypes.Type {
	if v == nil {
		return nil
	}
	name, ref := v.name, v.ref
	if hidden {
		name = "." + name
		ref = ast.NewIdentReference(name, ref.Value)
	}
	if e.Kind() != ast.IdentKind || e.AsIdent() != name {
		e.SetKindCase(factory.NewIdent(e.ID(), name))
	}
	return s.referred(e, v.typ, ref)
}

func (s *state) referred(e ast.Expr, t *celtypes.Type, ref *ast.ReferenceInfo) *celtypes.Type {
	if !s.refer(e, ref) {
		return nil
	}
	return t
}

func (s *state) selection(e ast.Expr) *celtypes.Type {
	sel := e.AsSelect()
	if v, hidden := s.qualified(e); v != nil {
		return s.named(e, v, hidden)
	}
	t := s.field(sel.Operand(), sel.FieldName(), false)
	switch {
	case t == nil:
		return nil
	case sel.IsTestOnly():
		return celtypes.BoolType
	}
	return s.resolved(termOf(t))
}

// qualified resolves e as a qualified name a.b.c. hidden is set if a macro declares a.
func (s *state) qualified(e ast.Expr) (v *Variable, hidden bool) {
	first, ok := firstName(e)
	if !ok {
		return nil, false
	}
	first, global := strings.CutPrefix(first, ".")
	hidden = s.local(first) != nil
	if hidden && !global || !s.dotted && s.root(first) != nil {
		return nil, false
	}
	name, _ := containers.ToQualifiedName(e)
	return s.global(strings.TrimPrefix(name, ".")), hidden
}

// firstName returns a for a.b.c. ok is false if e does not have this form.
func firstName(e ast.Expr) (name string, ok bool) {
	for e.Kind() == ast.SelectKind {
		sel := e.AsSelect()
		if sel.IsTestOnly() {
			return "", false
		}
		e = sel.Operand()
	}
	if e.Kind() != ast.IdentKind {
		return "", false
	}
	return e.AsIdent(), true
}

// field returns the type of a field, or nil if the field or its operand is rejected. The type is an
// optional if the operand is an optional or if optional is set.
func (s *state) field(operand ast.Expr, name string, optional bool) *celtypes.Type {
	whole := s.check(operand)
	if whole == nil {
		return nil
	}
	t, wasOptional := unwrapped(s.resolved(termOf(whole)))
	result := celtypes.DynType
	switch t.Kind() {
	case celtypes.MapKind:
		result = t.Parameters()[1]
	case celtypes.StructKind:
		field, ok := s.provider.FindStructFieldType(t.TypeName(), name)
		if !ok {
			return nil
		}
		result = field.Type
	case celtypes.TypeParamKind:
		s.assignable(celtypes.DynType, t)
	default:
		if !isDynOrError(t) {
			return nil
		}
	}
	if optional || wasOptional {
		return celtypes.NewOptionalType(result)
	}
	return result
}

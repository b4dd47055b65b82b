package assist

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/types"
)

// referent is the target of an expression: a declaration, its path in the object, the schema node,
// and the values of the loaded object at that path.
type referent struct {
	decl   *types.Decl
	steps  []engine.Step
	schema *apiextensionsv1.JSONSchemaProps // nil if the CRD has no schema for the path
	values []any
}

func (f referent) below(d *types.Decl, step engine.Step, values []any) referent {
	return referent{d, append(slices.Clone(f.steps), step), SchemaBelow(f.schema, step), values}
}

// resolver finds the declaration of an expression without checking it, so it also works for
// incomplete expressions.
type resolver struct {
	context *Context
	vars    map[string]referent
}

// expr returns the referent of an expression. Its decl is nil if the expression has no declaration,
// such as the result of most functions.
func (r *resolver) expr(e ast.Expr) referent {
	if of, name, _ := read(e); of != nil && !isTest(e) {
		return r.expr(of).field(name)
	}
	switch e.Kind() {
	case ast.IdentKind:
		return r.ident(e.AsIdent())
	case ast.CallKind:
		return r.call(e.AsCall())
	case ast.ComprehensionKind:
		if l, ok := loops.Of(e); ok && l.Name == loops.Filter && l.Index == "" { // it keeps the elements themselves
			return r.expr(l.Over)
		}
	}
	return referent{}
}

func (r *resolver) ident(name string) referent {
	if v, ok := r.vars[name]; ok {
		return v
	}
	switch p := r.context; {
	case name == types.Self && !p.Node.Bare:
		return referent{p.Node.Decl, p.around.steps, p.Schema, []any{p.Self}}
	case name == types.OldSelf && !p.Node.Bare:
		return referent{p.Node.Decl, p.around.steps, p.Schema, []any{p.Old}}
	default:
		for _, root := range p.Roots {
			if root.Name == name && root.Decl != nil {
				return referent{decl: root.Decl}
			}
		}
	}
	return referent{}
}

func (r *resolver) call(call ast.CallExpr) referent {
	switch call.FunctionName() {
	case operators.Index, operators.OptIndex:
		return r.expr(call.Args()[0]).index(call.Args()[1])
	case "value", "orValue", "or", "distinct", "reverse", "slice", "sort":
		if call.IsMemberFunction() {
			return r.expr(call.Target())
		}
	case "first", "last":
		if call.IsMemberFunction() {
			return r.expr(call.Target()).elements()
		}
	}
	return referent{}
}

func (f referent) field(ident string) referent {
	if f.decl == nil {
		return referent{}
	}
	if f.decl.Kind == types.Map {
		return f.below(f.decl.Elem, engine.Step{Any: true}, each(f.values, func(m map[string]any) any { return m[ident] }))
	}
	field, ok := f.decl.ByIdent(ident)
	if !ok {
		return referent{}
	}
	return f.below(field.Decl, engine.Step{Name: field.Name}, each(f.values, func(m map[string]any) any { return m[field.Name] }))
}

func (f referent) index(index ast.Expr) referent {
	if f.decl == nil || f.decl.Elem == nil {
		return referent{}
	}
	if key, ok := textIn(index); ok {
		return f.field(key)
	}
	return f.elements()
}

func (f referent) elements() referent {
	if f.decl == nil || f.decl.Elem == nil {
		return referent{}
	}
	out := f.below(f.decl.Elem, engine.Step{Any: true}, nil)
	for _, v := range f.values {
		switch v := v.(type) {
		case []any:
			out.values = append(out.values, v...)
		case map[string]any:
			for _, element := range v {
				out.values = append(out.values, element)
			}
		}
	}
	return out
}

func each(values []any, get func(map[string]any) any) []any {
	var out []any
	for _, v := range values {
		if m, ok := v.(map[string]any); ok {
			if child := get(m); child != nil {
				out = append(out, child)
			}
		}
	}
	return out
}

package celcost

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/internal/cel/estimate"
	"github.com/celadon-cel/celadon/types"
)

// A Model estimates expressions as the API server of one Kubernetes version does. Estimates depend
// on that version alone, not on the linked releases of k8s.io and cel-go. A Model is safe for
// concurrent use.
//
// Use declarations of the same version: their bounds differ as well.
type Model struct{ of *estimate.Model }

// For returns the model of a version.
func For(v types.Version) Model { return Model{estimate.For(v.Minor)} }

// Of estimates the cost of a checked expression whose self is declared as d. d may be nil if nothing
// is declared.
func (m Model) Of(checked *cel.Ast, d *types.Decl) cost.Estimate {
	return m.OfTree(checked.NativeRep(), d)
}

// OfTree is like Of for an expression in cel-go's representation.
func (m Model) OfTree(checked *ast.AST, d *types.Decl) cost.Estimate {
	est := m.of.Of(checked, declarationOf(d))
	return cost.Estimate{Min: est.Min, Max: est.Max}
}

// If estimates the cost of a checked expression under assumption a.
func (m Model) If(checked *cel.Ast, d *types.Decl, a *Assumption) cost.Estimate {
	var root estimate.Declaration
	if d != nil {
		root = assumed{assumption: a, decl: d}
	}
	est := m.of.Of(checked.NativeRep(), root)
	return cost.Estimate{Min: est.Min, Max: est.Max}
}

// declaration adapts a *types.Decl to the estimate package.
type declaration struct{ decl *types.Decl }

func declarationOf(d *types.Decl) estimate.Declaration {
	if d == nil {
		return nil
	}
	return declaration{d}
}

func (d declaration) Child(step string) estimate.Declaration {
	return declarationOf(d.decl.Child(step))
}

func (d declaration) MaxSize() int64 { return d.decl.Max.Max }

// assumed is a declaration with the sizes of an assumption.
type assumed struct {
	assumption *Assumption
	decl       *types.Decl
	path       []string
}

func (d assumed) Child(step string) estimate.Declaration {
	of := d.decl.Child(step)
	if of == nil {
		return nil
	}
	return assumed{d.assumption, of, append(d.path[:len(d.path):len(d.path)], step)}
}

func (d assumed) MaxSize() int64 { return d.assumption.size(d.path, d.decl) }

// A Value declares the values of a variable for Measure. The zero Value declares nothing.
type Value struct{ of estimate.Declaration }

// Declared returns a Value with the declaration d, which may be nil.
func Declared(d *types.Decl) Value { return Value{declarationOf(d)} }

// Fields returns the Value of an object with the given fields. Fields that are added later count.
func Fields(fields map[string]Value) Value { return Value{object(fields)} }

// Sized returns the Value of a string, list, or map of at most max bytes, items, or entries. elem is the
// Value of the items or of the entries' values.
func Sized(max int64, elem Value) Value { return Value{sized{max, elem}} }

type sized struct {
	max  int64
	elem Value
}

func (s sized) Child(step string) estimate.Declaration {
	if step == "@items" || step == "@values" {
		return s.elem.of
	}
	return nil
}

func (s sized) MaxSize() int64 { return s.max }

// object is the declaration of an object by its fields.
type object map[string]Value

func (o object) Child(step string) estimate.Declaration { return o[step].of }

func (o object) MaxSize() int64 { return int64(len(o)) }

// Measure estimates the cost of a checked expression with the given variables. It also returns the
// Value of the expression. Variables that are missing declare nothing.
func (m Model) Measure(checked *cel.Ast, variables map[string]Value) (cost.Estimate, Value) {
	est, value := m.of.Measure(checked.NativeRep(), func(name string) estimate.Declaration { return variables[name].of })
	return cost.Estimate{Min: est.Min, Max: est.Max}, Value{value}
}

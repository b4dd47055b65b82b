package celcost

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/internal/cel/estimate"
	"github.com/celadon-cel/celadon/internal/cel/upstream"
	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/types"
)

// A Model estimates expressions as the API server of one Kubernetes version does. It is safe for concurrent use.
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

type object map[string]Value

func (o object) Child(step string) estimate.Declaration { return o[step].of }

func (o object) MaxSize() int64 { return int64(len(o)) }

// Measure estimates the cost of a checked expression with the given variables. It also returns the
// Value of the expression. Variables that are missing declare nothing.
func (m Model) Measure(checked *cel.Ast, variables map[string]Value) (cost.Estimate, Value) {
	est, value := m.of.Measure(checked.NativeRep(), func(name string) estimate.Declaration { return variables[name].of })
	return cost.Estimate{Min: est.Min, Max: est.Max}, Value{value}
}

// Of estimates the cost of a checked expression whose self is declared as d, as the newest version
// does. env is the environment that checked it.
func Of(env *cel.Env, ast *cel.Ast, d *types.Decl) (cost.Estimate, error) {
	if upstream.CEL {
		est, err := env.EstimateCost(ast, Estimator(d))
		return cost.Estimate{Min: est.Min, Max: est.Max}, err
	}
	return For(types.Version{Minor: types.Newest}).Of(ast, d), nil
}

// An Assumption replaces declared sizes in an estimate. Use it to find the cost of an expression if
// values were smaller.
type Assumption struct {
	// Sizes holds maximum sizes by path from self, in the form of Path. Other paths keep their
	// declared sizes.
	Sizes map[string]int64
	// OnSize, if not nil, is called for each path whose size the estimate uses.
	OnSize func(path []string, d *types.Decl)
}

// Path returns the key of a path in Assumption.Sizes. The steps below self have the form of
// cel-go's checker: identifiers, @items, @values, and @keys.
func Path(steps []string) string { return strings.Join(steps, "/") }

// Estimator returns an estimator for cel-go that prices calls as the linked release of
// k8s.io/apiserver does, with sizes from d. It works for estimates and for tracking actual cost.
func Estimator(d *types.Decl) *kubecel.CostEstimator {
	return &kubecel.CostEstimator{SizeEstimator: sizes{d}}
}

// sizes estimates the size of a value from the declaration of its path, which begins at any variable.
type sizes struct{ root *types.Decl }

func (s sizes) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	path := node.Path()
	if len(path) == 0 {
		return nil
	}
	d := s.root
	for _, step := range path[1:] { // the first is the variable
		if d != nil {
			d = d.Child(step)
		}
	}
	if d == nil {
		return nil
	}
	return &checker.SizeEstimate{Max: uint64(d.Max.Max)}
}

func (a *Assumption) size(path []string, d *types.Decl) int64 {
	if a.OnSize != nil {
		a.OnSize(path, d)
	}
	if len(a.Sizes) > 0 {
		if size, ok := a.Sizes[Path(path)]; ok {
			return size
		}
	}
	return d.Max.Max
}

func (s sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil // use the library's estimate
}

package celcost

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/cel/upstream"
	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/types"
)

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

// Estimator returns cel-go's form of an estimator that prices calls as the linked release of
// k8s.io/apiserver does, with sizes from d.
// It works for estimates and for tracking actual cost.
func Estimator(d *types.Decl) *kubecel.CostEstimator {
	return &kubecel.CostEstimator{SizeEstimator: sizes{root: d}}
}

// EstimatorWith is like Estimator, but takes any roots.
func EstimatorWith(roots []celenv.Root) *kubecel.CostEstimator {
	return &kubecel.CostEstimator{SizeEstimator: sizes{roots: roots}}
}

// sizes estimates the size of a value from the declaration of its path.
type sizes struct {
	root  *types.Decl   // declaration of every variable, unless roots is set
	roots []celenv.Root // declarations by variable
}

func (s sizes) of(variable string) *types.Decl {
	for i := range s.roots {
		if s.roots[i].Name == variable {
			return s.roots[i].Decl
		}
	}
	return s.root
}

func (s sizes) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	path := node.Path()
	if len(path) == 0 {
		return nil
	}
	d := s.of(path[0])
	if d == nil {
		return nil
	}
	for _, step := range path[1:] { // the first is the variable
		if d = d.Child(step); d == nil {
			return nil
		}
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

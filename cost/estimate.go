package cost

import (
	"math"
	"math/bits"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/celadon-cel/celadon/types"
)

// Estimate is the range of costs that an expression may have for any value
// its declaration allows, in CEL cost units.
type Estimate struct{ Min, Max uint64 }

// Of estimates a checked expression whose self is declared as d.
func Of(env *cel.Env, ast *cel.Ast, d *types.Decl) (Estimate, error) {
	est, err := env.EstimateCost(ast, Estimator(d))
	if err != nil {
		return Estimate{}, err
	}
	return Estimate{est.Min, est.Max}, nil
}

// Assumption stands in for a declaration while estimating: what would an
// expression cost if values were smaller?
type Assumption struct {
	// Sizes are the greatest sizes by path from self, as Path writes it; other
	// places keep those that they declare.
	Sizes map[string]int64
	// Asked, if set, is told of each place whose size the estimate asks for.
	Asked func(path []string, d *types.Decl)
}

// Path names a place for Assumption.Sizes: the steps below self as CEL's
// checker writes them, identifiers and @items, @values, @keys.
func Path(steps []string) string { return strings.Join(steps, "/") }

// If estimates a checked expression under an assumption.
func If(env *cel.Env, ast *cel.Ast, d *types.Decl, a *Assumption) (Estimate, error) {
	est, err := env.EstimateCost(ast, &library.CostEstimator{SizeEstimator: sizes{root: d, assume: a}})
	if err != nil {
		return Estimate{}, err
	}
	return Estimate{est.Min, est.Max}, nil
}

// Estimator prices calls as the API server does, with sizes from d. It serves
// estimates and the tracking of actual cost alike.
func Estimator(d *types.Decl) *library.CostEstimator {
	return &library.CostEstimator{SizeEstimator: sizes{root: d}}
}

// EstimatorWith is as Estimator for an expression that starts from any roots.
func EstimatorWith(roots []types.Root) *library.CostEstimator {
	return &library.CostEstimator{SizeEstimator: sizes{roots: roots}}
}

// sizes bounds what an expression reads by the declaration of its path.
type sizes struct {
	root   *types.Decl  // of every variable, or
	roots  []types.Root // of each by name
	assume *Assumption  // nil: none
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
	size := d.Max.Max
	if s.assume != nil {
		size = s.assume.size(path[1:], d)
	}
	return &checker.SizeEstimate{Max: uint64(size)}
}

func (a *Assumption) size(path []string, d *types.Decl) int64 {
	if a.Asked != nil {
		a.Asked(path, d)
	}
	if len(a.Sizes) > 0 {
		if size, ok := a.Sizes[Path(path)]; ok {
			return size
		}
	}
	return d.Max.Max
}

func (s sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil // the library's
}

// Unbounded is the cardinality of an element that can occur any number of
// times.
const Unbounded = math.MaxUint64

// Mul multiplies, at most math.MaxUint64.
func Mul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

// Add adds, at most math.MaxUint64.
func Add(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}

// Occurrences is how often a value of at least minSize bytes fits into a
// request: the cardinality of a rule below lists or maps without bounds.
func Occurrences(minSize int64) uint64 {
	return uint64(celconfig.MaxRequestSizeBytes / (minSize + 1)) // and a comma each
}

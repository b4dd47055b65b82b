package estimate

import (
	"math"
	"strings"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
)

func sets(factor float64) price {
	return func(o *operands) (priced, bool) {
		pairs := o.argument(0).Multiply(o.argument(1))
		return priced{cost: pairs.MultiplyByCostFactor(factor).Add(checker.FixedCostEstimate(1))}, true
	}
}

// newList returns the estimate of a function that creates a list of the given size, whose items have the
// size elem if it is not nil.
func newList(factor float64, of checker.SizeEstimate, elem *size) (priced, bool) {
	x := priced{cost: of.MultiplyByCostFactor(factor).Add(checker.FixedCostEstimate(1 + common.ListCreateBaseCost)), size: ranged(of)}
	x.size.elem = elem
	return x, true
}

func slice(o *operands) (priced, bool) {
	start, end := o.integer(0, 0), o.integer(1, o.receiver().Max)
	return newList(1, checker.FixedSizeEstimate(end-start), o.target.size.elem)
}

func flattened(o *operands) (priced, bool) {
	depth := uint64(1)
	if len(o.args) == 1 {
		depth = o.integer(0, math.MaxUint)
		if n, _ := integerOf(o.args[0].expr); o.walk.has[nestedSizes] && n < 0 {
			depth = math.MaxUint
		}
	}
	return newList(float64(depth), o.receiver(), o.target.size.elem)
}

func range_(o *operands) (priced, bool) {
	var elem *size
	if o.walk.has[nestedSizes] {
		elem = new(size)
		*elem = fixed(1)
	}
	return o.exactly(newList(1, checker.FixedSizeEstimate(o.integer(0, math.MaxUint)), elem))
}

func reversed(o *operands) (priced, bool) {
	return o.exactly(newList(1, o.receiver(), o.target.size.elem))
}

// With nestedSizes, the cost of a new list is not rounded.
func (o *operands) exactly(x priced, ok bool) (priced, bool) {
	if o.walk.has[nestedSizes] {
		x.cost = checker.CostEstimate{Min: x.size.Min, Max: x.size.Max}.Add(checker.FixedCostEstimate(1 + common.ListCreateBaseCost))
	}
	return x, ok
}

func distinct(o *operands) (priced, bool) {
	s := o.receiver()
	factor := 2.0
	if k := parameter(o.typeOf(o.target), 0).Kind(); o.walk.has[nestedSizes] && (k == celtypes.StringKind || k == celtypes.BytesKind) {
		factor += common.StringTraversalCostFactor
	}
	return newList(factor, s.Multiply(s), o.target.size.elem)
}

// sorted is the estimate of a sort of a list, or of a sort by the keys in the argument.
func sorted(o *operands) (priced, bool) {
	s := o.receiver()
	if len(o.args) == 1 {
		s = o.argument(0)
	}
	factor := 2.0
	if strings.HasPrefix(o.overload, "list_string_") || strings.HasPrefix(o.overload, "list_bytes_") {
		factor += common.StringTraversalCostFactor
	}
	return newList(factor, s.Multiply(s), o.target.size.elem)
}

var comparable = []*celtypes.Type{
	celtypes.IntType, celtypes.UintType, celtypes.DoubleType, celtypes.BoolType,
	celtypes.DurationType, celtypes.TimestampType, celtypes.StringType, celtypes.BytesType,
}

func overloadsOf(function string) []string {
	var ids []string
	for _, t := range comparable {
		ids = append(ids, "list_"+t.TypeName()+"_"+function)
	}
	return ids
}

// integer returns the value of an integer literal, 0 if it is negative, or other if argument i is
// not an integer literal.
func (o *operands) integer(i int, other uint64) uint64 {
	if n, ok := integerOf(o.args[i].expr); ok {
		return uint64(max(n, 0))
	}
	return other
}

func integerOf(e ast.Expr) (n celtypes.Int, ok bool) {
	if e.Kind() == ast.LiteralKind {
		n, ok = e.AsLiteral().(celtypes.Int)
	}
	return n, ok
}

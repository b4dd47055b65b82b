package estimate

import (
	"math"
	"strings"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
)

// sets returns the estimate of functions that compare each element of a list with each element of
// another.
func sets(factor float64) price {
	return func(o *operands) (priced, bool) {
		pairs := o.argument(0).Multiply(o.argument(1))
		return priced{cost: pairs.MultiplyByCostFactor(factor).Add(checker.FixedCostEstimate(1))}, true
	}
}

func newList(factor float64, of checker.SizeEstimate) (priced, bool) {
	cost := of.MultiplyByCostFactor(factor).Add(checker.FixedCostEstimate(1 + common.ListCreateBaseCost))
	return priced{cost: cost, size: ranged(of)}, true
}

func slice(o *operands) (priced, bool) {
	start, end := o.integer(0, 0), o.integer(1, o.receiver().Max)
	return newList(1, checker.FixedSizeEstimate(end-start))
}

func flattened(o *operands) (priced, bool) {
	depth := uint64(1)
	if len(o.args) == 1 {
		depth = o.integer(0, math.MaxUint)
	}
	return newList(float64(depth), o.receiver())
}

func range_(o *operands) (priced, bool) {
	return newList(1, checker.FixedSizeEstimate(o.integer(0, math.MaxUint)))
}

func reversed(o *operands) (priced, bool) { return newList(1, o.receiver()) }

func distinct(o *operands) (priced, bool) {
	s := o.receiver()
	return newList(2, s.Multiply(s))
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
	return newList(factor, s.Multiply(s))
}

// comparable holds the types of the elements that lists are sorted by.
var comparable = []*celtypes.Type{
	celtypes.IntType, celtypes.UintType, celtypes.DoubleType, celtypes.BoolType,
	celtypes.DurationType, celtypes.TimestampType, celtypes.StringType, celtypes.BytesType,
}

// overloadsOf returns the IDs of a function's overloads for comparable types.
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
	e := o.args[i].expr
	if e.Kind() != ast.LiteralKind {
		return other
	}
	n, ok := e.AsLiteral().(celtypes.Int)
	if !ok {
		return other
	}
	return uint64(max(n, 0))
}

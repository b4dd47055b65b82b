package eval

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"k8s.io/apiserver/pkg/cel/library"
)

// How it works: the API server charges a call after it was made, by its arguments and its result.
// Typed code has its cost next to it. This file is for calls on boxed values. It first consults the
// Kubernetes estimator, as the API server does, and then uses the costs of cel-go's runtime
// tracker. The costs that cel-go's extensions compute in trackers of their own are repeated here,
// because they are not exported. TestOverloads compares the cost of every overload with cel-go's
// tracker.

// prices returns the costs of the functions in the Kubernetes libraries, and nil for other
// functions.
var prices library.CostEstimator

// callCost returns the cost of a call on boxed values.
func callCost(function, overload string, args []ref.Val, result ref.Val) uint64 {
	if c, ok := extensionCost(overload, args, result); ok {
		return c
	}
	if c := prices.CallCost(function, overload, args, result); c != nil {
		return *c
	}
	switch overload {
	case overloads.StartsWithString, overloads.EndsWithString:
		return scanCost(sizeOf(args[1]))
	case overloads.StringToBytes, overloads.BytesToString, overloads.ExtQuoteString, overloads.ExtFormatString:
		return scanCost(sizeOf(args[0]))
	case overloads.InList:
		return sizeOf(args[1])
	case overloads.LessString, overloads.GreaterString, overloads.LessEqualsString, overloads.GreaterEqualsString,
		overloads.LessBytes, overloads.GreaterBytes, overloads.LessEqualsBytes, overloads.GreaterEqualsBytes,
		overloads.Equals, overloads.NotEquals:
		return scanCost(min(sizeOf(args[0]), sizeOf(args[1])))
	case overloads.AddString, overloads.AddBytes:
		return scanCost(sizeOf(args[0]) + sizeOf(args[1]))
	case overloads.Matches, overloads.MatchesString:
		return matchCost(sizeOf(args[0]), sizeOf(args[1]))
	case overloads.ContainsString:
		return scanCost(sizeOf(args[0])) * scanCost(sizeOf(args[1]))
	}
	return 1
}

// scanCost returns the cost of reading n characters, items, or bytes.
func scanCost(n uint64) uint64 {
	if n <= 10 {
		return min(n, 1)
	}
	return uint64(math.Ceil(float64(n) * common.StringTraversalCostFactor))
}

func matchCost(text, pattern uint64) uint64 {
	scan := uint64(math.Ceil((1.0 + float64(text)) * common.StringTraversalCostFactor))
	return scan * uint64(math.Ceil(float64(pattern)*common.RegexStringLengthCostFactor))
}

// sizeOf returns the size that CEL's costs are based on: 1 for values without a size.
func sizeOf(v ref.Val) uint64 {
	if s, ok := v.(celtypes.String); ok {
		return runes(string(s))
	}
	if s, ok := v.(traits.Sizer); ok {
		return uint64(s.Size().(celtypes.Int))
	}
	if opt, ok := v.(*celtypes.Optional); ok && opt.HasValue() {
		return sizeOf(opt.GetValue())
	}
	return 1
}

func runes(s string) uint64 { return uint64(utf8.RuneCountInString(s)) }

// extensionCost returns the cost of a call of an extension function of cel-go, and reports whether
// overload belongs to such a function.
func extensionCost(overload string, args []ref.Val, result ref.Val) (uint64, bool) {
	switch overload {
	case "list_sets_contains_list", "list_sets_intersects_list":
		return addSizes(1, flatSize(args[0])*flatSize(args[1])), true
	case "list_sets_equivalent_list":
		return addSizes(1, uint64(float64(flatSize(args[0])*flatSize(args[1]))*2)), true
	case "list_slice", "lists_range", "list_reverse":
		return newListCost(1, flatSize(result)), true
	case "list_flatten", "list_flatten_int":
		depth := 1.0
		if len(args) == 2 {
			depth = float64(args[1].(celtypes.Int))
		}
		return newListCost(depth, flatSize(args[0])), true
	case "list_distinct":
		return selfCompareCost(args[0].(traits.Lister)), true
	}
	switch {
	case !strings.HasPrefix(overload, "list_"):
		return 0, false
	case strings.HasSuffix(overload, "_sort"):
		return selfCompareCost(args[0].(traits.Lister)), true
	case strings.HasSuffix(overload, "_sortByAssociatedKeys"):
		return selfCompareCost(args[1].(traits.Lister)), true
	}
	return 0, false
}

// flatSize returns the size that the extensions' costs are based on. Unlike sizeOf, it does not
// look into optionals.
func flatSize(v ref.Val) uint64 {
	if s, ok := v.(traits.Sizer); ok {
		return uint64(s.Size().(celtypes.Int))
	}
	return 1
}

func selfCompareCost(l traits.Lister) uint64 {
	n := flatSize(l)
	factor := 2.0
	if n == 0 {
		return newListCost(factor, 0)
	}
	if t := l.Get(celtypes.IntZero).Type(); t == celtypes.StringType || t == celtypes.BytesType {
		factor += common.StringTraversalCostFactor
	}
	return newListCost(factor, mulSizes(n, n))
}

func newListCost(factor float64, n uint64) uint64 {
	if factor < 0 {
		factor = 1
	}
	return addSizes(uint64(float64(n)*factor), 1+common.ListCreateBaseCost)
}

func addSizes(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

func mulSizes(a, b uint64) uint64 {
	if b != 0 && a > math.MaxUint64/b {
		return math.MaxUint64
	}
	return a * b
}

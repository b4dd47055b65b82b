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

	"github.com/celadon-cel/celadon/cost"
)

// How it works: typed code has its cost next to it. This file is for calls on boxed values: the costs of cel-go's
// runtime tracker, and the costs that cel-go's extensions compute in their own trackers. The costs of the Kubernetes
// libraries, which take precedence over the standard costs, are in price.go. TestOverloads compares the costs with
// cel-go's tracker.

// price returns the function that computes the cost of a call. overload is "" if it depends on the arguments' values.
func (m *semantics) price(function, overload string) price {
	switch {
	case isExtension(overload):
		return m.extensionCost
	case m.prices[function] != nil:
		return m.prices[function]
	}
	return m.standardPrice(overload)
}

func (m *semantics) standardPrice(overload string) price {
	size := m.sizeOf
	read := func(arg int) price {
		return func(_ string, args []ref.Val, _ ref.Val) uint64 { return scanCost(size(args[arg])) }
	}
	switch overload {
	case overloads.StartsWithString, overloads.EndsWithString:
		if m.has[affixByReceiver] {
			return read(0)
		}
		return read(1)
	case overloads.StringToBytes, overloads.BytesToString, overloads.ExtQuoteString, overloads.ExtFormatString:
		return read(0)
	case overloads.InList:
		return func(_ string, args []ref.Val, _ ref.Val) uint64 { return size(args[1]) }
	case overloads.LessString, overloads.GreaterString, overloads.LessEqualsString, overloads.GreaterEqualsString,
		overloads.LessBytes, overloads.GreaterBytes, overloads.LessEqualsBytes, overloads.GreaterEqualsBytes, overloads.NotEquals:
		return m.comparison
	case overloads.Equals:
		return m.equality
	case overloads.AddString, overloads.AddBytes:
		return func(_ string, args []ref.Val, _ ref.Val) uint64 { return scanCost(size(args[0]) + size(args[1])) }
	case overloads.Matches:
		if m.has[globalMatches] {
			return m.matching
		}
	case overloads.MatchesString:
		return m.matching
	case overloads.ContainsString:
		return func(_ string, args []ref.Val, _ ref.Val) uint64 {
			return scanCost(size(args[0])) * scanCost(size(args[1]))
		}
	}
	return fixedPrice(1)
}

func (m *semantics) comparison(_ string, args []ref.Val, _ ref.Val) uint64 {
	return scanCost(min(m.sizeOf(args[0]), m.sizeOf(args[1])))
}

func (m *semantics) equality(overload string, args []ref.Val, result ref.Val) uint64 {
	if m.has[fixedEquality] && hasFixedEquality(args[0]) {
		return 1
	}
	return m.comparison(overload, args, result)
}

func (m *semantics) matching(_ string, args []ref.Val, _ ref.Val) uint64 {
	return matchCost(m.sizeOf(args[0]), m.sizeOf(args[1]))
}

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

func isExtension(overload string) bool {
	switch overload {
	case "list_sets_contains_list", "list_sets_intersects_list", "list_sets_equivalent_list", "list_slice", "lists_range", "list_reverse",
		"list_flatten", "list_flatten_int", "list_distinct":
		return true
	}
	return isSort(overload) || isSortBy(overload)
}

func isSort(overload string) bool {
	return strings.HasPrefix(overload, "list_") && strings.HasSuffix(overload, "_sort")
}

func isSortBy(overload string) bool {
	return strings.HasPrefix(overload, "list_") && strings.HasSuffix(overload, "_sortByAssociatedKeys")
}

func (m *semantics) extensionCost(overload string, args []ref.Val, result ref.Val) uint64 {
	switch overload {
	case "list_sets_contains_list", "list_sets_intersects_list":
		return cost.Add(1, flatSize(args[0])*flatSize(args[1]))
	case "list_sets_equivalent_list":
		return cost.Add(1, uint64(float64(flatSize(args[0])*flatSize(args[1]))*2))
	case "list_slice", "lists_range", "list_reverse":
		if m.has[errorsEnd] && celtypes.IsError(result) {
			return newListCost(1, 0)
		}
		return newListCost(1, flatSize(result))
	case "list_flatten", "list_flatten_int":
		depth := 1.0
		if len(args) == 2 && (!m.has[errorsEnd] || args[1].Type() == celtypes.IntType) {
			depth = float64(args[1].(celtypes.Int))
		}
		return m.flattenCost(depth, flatSize(args[0]))
	case "list_distinct":
		return selfCompareCost(args[0].(traits.Lister))
	}
	if isSortBy(overload) {
		return selfCompareCost(args[1].(traits.Lister))
	}
	return selfCompareCost(args[0].(traits.Lister))
}

// flatSize is like sizeOf, but an optional has size 1.
// The extensions' costs are based on it, and in versions without optionalSizes the costs of standard functions.
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
	return newListCost(factor, cost.Mul(n, n))
}

// flattenCost returns the cost of flattening a list of n items. A negative depth is an error, but the
// call is charged.
func (m *semantics) flattenCost(depth float64, n uint64) uint64 {
	switch {
	case depth >= 0:
		return newListCost(depth, n)
	case m.has[errorsEnd]:
		return newListCost(0, n)
	case m.has[negativeDepths]:
		// The conversion of a negative number to uint64, as on amd64: it reduces the cost so far.
		return uint64(int64(max(float64(n)*depth, math.MinInt64))) + 1 + common.ListCreateBaseCost
	}
	return newListCost(1, n)
}

func newListCost(factor float64, n uint64) uint64 {
	return cost.Add(uint64(float64(n)*factor), 1+common.ListCreateBaseCost)
}

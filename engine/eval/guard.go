package eval

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// UnboundedError means that a function of a library was not called, since it
// would take memory or time that neither its price nor its arguments' length
// bounds. What the API server makes of such a call cannot be known.
type UnboundedError struct {
	Function string
	// Why says what the call would take.
	Why string
}

func (e *UnboundedError) Error() string { return "call of " + e.Function + ": " + e.Why }

// What is beyond these no rule asks for that runs within its cost limit.
const (
	maxText     = 64 << 20 // bytes of a new string
	maxList     = 4 << 20  // items of a new list
	maxCompared = 1 << 30  // characters
	maxDigits   = 256 << 10
	maxExponent = 100_000
)

// guards say what a call would take: "" where that is bounded. The arguments
// are no errors.
var guards = map[string]func(args []ref.Val) string{
	"string_replace_string_string":     replaced,
	"string_replace_string_string_int": replaced,
	"list_join":                        joined,
	"list_join_string":                 joined,
	"list_flatten":                     flattened,
	"list_flatten_int":                 flattened,
	"string_index_of_string":           searched,
	"string_index_of_string_int":       searched,
	"string_last_index_of_string":      searched,
	"string_last_index_of_string_int":  searched,
	"string_to_quantity":               quantity,
	"is_quantity_string":               quantity,
}

// guard ends the evaluation, whatever is around the call.
func (b *binding) guard(args []ref.Val) {
	for _, arg := range args {
		if celtypes.IsUnknownOrError(arg) {
			return
		}
	}
	if why := b.unbounded(args); why != "" {
		panic(&UnboundedError{b.function, why})
	}
}

func replaced(args []ref.Val) string {
	s, okS := args[0].(celtypes.String)
	from, okFrom := args[1].(celtypes.String)
	to, okTo := args[2].(celtypes.String)
	if !okS || !okFrom || !okTo || len(to) <= len(from) {
		return ""
	}
	times := int64(strings.Count(string(s), string(from)))
	if len(args) == 4 {
		if n, ok := args[3].(celtypes.Int); ok && n >= 0 {
			times = min(times, int64(n))
		}
	}
	return textOf(float64(len(s)) + float64(times)*float64(len(to)-len(from)))
}

func joined(args []ref.Val) string {
	list, ok := args[0].(traits.Lister)
	if !ok {
		return ""
	}
	separator := 0
	if len(args) == 2 {
		s, _ := args[1].(celtypes.String)
		separator = len(s)
	}
	size := 0.0
	for it := list.Iterator(); it.HasNext() == celtypes.True && size <= maxText; {
		s, _ := it.Next().(celtypes.String)
		size += float64(len(s) + separator)
	}
	return textOf(size)
}

func textOf(size float64) string {
	if size <= maxText {
		return ""
	}
	return fmt.Sprintf("the text would have over %d MiB", maxText>>20)
}

func flattened(args []ref.Val) string {
	list, ok := args[0].(traits.Lister)
	depth := int64(1)
	if len(args) == 2 {
		n, isInt := args[1].(celtypes.Int)
		depth, ok = int64(n), ok && isInt
	}
	if !ok || flatItems(list, depth, maxList) >= 0 {
		return ""
	}
	return fmt.Sprintf("the list would have over %d items", maxList)
}

// flatItems takes the items of a flattened list from left; less than zero means
// that there are more.
func flatItems(list traits.Lister, depth int64, left int) int {
	for it := list.Iterator(); left >= 0 && it.HasNext() == celtypes.True; left-- {
		if inner, ok := it.Next().(traits.Lister); ok && depth > 0 {
			left = flatItems(inner, depth-1, left)
		}
	}
	return left
}

// searched looks at every character of one string for every one of the other.
func searched(args []ref.Val) string {
	s, _ := args[0].(celtypes.String)
	part, _ := args[1].(celtypes.String)
	if float64(len(s))*float64(len(part)) <= maxCompared {
		return ""
	}
	return "the texts are too long to be searched character by character"
}

// quantity: numbers as large as their text says are computed with.
func quantity(args []ref.Val) string {
	s, ok := args[0].(celtypes.String)
	if !ok {
		return ""
	}
	if len(s) > maxDigits {
		return fmt.Sprintf("the quantity has over %d digits", maxDigits)
	}
	if at := strings.LastIndexAny(string(s), "eE"); at >= 0 {
		exponent, err := strconv.ParseFloat(string(s[at+1:]), 64)
		if err == nil && math.Abs(exponent) > maxExponent {
			return fmt.Sprintf("the quantity's exponent is beyond %d", maxExponent)
		}
	}
	return ""
}

// isPricedFirst knows calls that take more than linear time, by a price that
// needs no result: the cost limit ends them before they begin.
func isPricedFirst(overload string) bool {
	switch overload {
	case "list_sets_contains_list", "list_sets_intersects_list", "list_sets_equivalent_list", "list_distinct":
		return true
	}
	return strings.HasPrefix(overload, "list_") && (strings.HasSuffix(overload, "_sort") || strings.HasSuffix(overload, "_sortByAssociatedKeys"))
}

package eval

import (
	"strings"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// How it works: operands of type dyn are boxed, and cel-go finds the overload by the types of the
// values. Most are two ints or two strings, whose results need no lookup. Costs do not change.

// shortcuts holds functions that return the result for two ints or two strings, and nil for other
// values.
var shortcuts = map[string]func(a, b ref.Val) ref.Val{
	operators.Less:          ofInts(func(a, b celtypes.Int) bool { return a < b }),
	operators.LessEquals:    ofInts(func(a, b celtypes.Int) bool { return a <= b }),
	operators.Greater:       ofInts(func(a, b celtypes.Int) bool { return a > b }),
	operators.GreaterEquals: ofInts(func(a, b celtypes.Int) bool { return a >= b }),
	overloads.StartsWith:    ofStrings(strings.HasPrefix),
	overloads.EndsWith:      ofStrings(strings.HasSuffix),
	overloads.Contains:      ofStrings(strings.Contains),
}

func ofInts(compare func(a, b celtypes.Int) bool) func(a, b ref.Val) ref.Val {
	return func(a, b ref.Val) ref.Val {
		x, ok := a.(celtypes.Int)
		y, also := b.(celtypes.Int)
		if !ok || !also {
			return nil
		}
		return celtypes.Bool(compare(x, y))
	}
}

func ofStrings(compare func(a, b string) bool) func(a, b ref.Val) ref.Val {
	return func(a, b ref.Val) ref.Val {
		x, ok := a.(celtypes.String)
		y, also := b.(celtypes.String)
		if !ok || !also {
			return nil
		}
		return celtypes.Bool(compare(string(x), string(y)))
	}
}

package eval

import (
	"math"
	"strings"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
)

// How it works: before errorsEnd, both operands are evaluated and charged before an error is returned,
// as in cel-go, because the cost depends on it. The first of two errors is returned, so it is saved
// before the second operand is evaluated.

// typedCall returns the code of a standard overload whose arguments are typed. It returns nil for
// any other call.
func (m *semantics) typedCall(inv *invocation) *code {
	switch len(inv.args) {
	case 1:
		return typedUnary(inv, inv.args[0])
	case 2:
		return m.typedBinary(inv, inv.args[0], inv.args[1])
	}
	return nil
}

func typedUnary(inv *invocation, a *code) *code {
	switch inv.overload {
	case overloads.LogicalNot:
		return boolCode(not(a.truth()))
	case overloads.NegateInt64:
		if x := a.ints(); x != nil {
			return intCode(negate(x))
		}
	case overloads.SizeString, overloads.SizeStringInst:
		if x := a.strings(); x != nil {
			return intCode(stringSize(x))
		}
	case overloads.SizeList, overloads.SizeListInst, overloads.SizeMap, overloads.SizeMapInst:
		if a.kind == rawKind {
			return intCode(rawSize(a.raw))
		}
		if a.list != nil {
			return intCode(listSize(a.list))
		}
	}
	return nil
}

func (m *semantics) typedBinary(inv *invocation, a, b *code) *code {
	switch inv.function {
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return ordering(inv, a, b)
	case operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo:
		return arithmetic(inv, a, b)
	}
	x, y := a.strings(), b.strings()
	if x == nil || y == nil {
		return nil
	}
	switch inv.overload {
	case overloads.StartsWithString:
		return boolCode(m.affix(x, y, strings.HasPrefix))
	case overloads.EndsWithString:
		return boolCode(m.affix(x, y, strings.HasSuffix))
	case overloads.ContainsString:
		return boolCode(containsText(x, y))
	}
	return nil
}

func negate(x intFunc) intFunc {
	return func(f *frame) (int64, bool) {
		n, ok := x(f)
		f.chargeCall(1, ok)
		if ok && n == math.MinInt64 {
			f.err = errOverflow
			return 0, false
		}
		return -n, ok
	}
}

func stringSize(x strFunc) intFunc {
	return func(f *frame) (int64, bool) {
		s, ok := x(f)
		f.chargeCall(1, ok)
		return int64(f.runes(s)), ok
	}
}

func listSize(x listFunc) intFunc {
	return func(f *frame) (int64, bool) {
		items, ok := x(f)
		f.chargeCall(1, ok)
		return int64(len(items)), ok
	}
}

var errNullSize = newErr("no such overload: %s", overloads.Size)

func rawSize(x rawFunc) intFunc {
	return func(f *frame) (int64, bool) {
		v, ok := x(f)
		f.chargeCall(1, ok)
		if !ok {
			return 0, false
		}
		switch v := v.(type) {
		case []any:
			return int64(len(v)), true
		case map[string]any:
			return int64(len(v)), true
		}
		f.err = errNullSize
		return 0, false
	}
}

var intRelations = map[string]func(a, b int64) bool{
	overloads.LessInt64:          func(a, b int64) bool { return a < b },
	overloads.LessEqualsInt64:    func(a, b int64) bool { return a <= b },
	overloads.GreaterInt64:       func(a, b int64) bool { return a > b },
	overloads.GreaterEqualsInt64: func(a, b int64) bool { return a >= b },
}

func ordering(inv *invocation, a, b *code) *code {
	holds, x, y := intRelations[inv.overload], a.ints(), b.ints()
	if holds == nil || x == nil || y == nil {
		return nil
	}
	return boolCode(func(f *frame) truth {
		a, b, ok := both(f, x, y)
		f.chargeCall(1, ok)
		if !ok {
			return bad
		}
		return truthOf(holds(a, b))
	})
}

// both evaluates two operands. If both fail, the first error is kept. With errorsEnd, the second one is
// not evaluated if the first one fails.
func both[T any](f *frame, x, y func(*frame) (T, bool)) (a, b T, ok bool) {
	a, okA, b, okB := pair(f, x, y)
	return a, b, okA && okB
}

// pair is like both, but reports for each operand whether it succeeded.
func pair[T any](f *frame, x, y func(*frame) (T, bool)) (a T, okA bool, b T, okB bool) {
	a, okA = x(f)
	if !okA && f.errorsEnd {
		return a, okA, b, okB
	}
	err := f.err
	b, okB = y(f)
	if !okA {
		f.err = err
	}
	return a, okA, b, okB
}

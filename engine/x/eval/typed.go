package eval

import (
	"math"
	"strings"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/types"
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
		if a.split != nil {
			return intCode(a.split.size)
		}
		if a.list != nil {
			return intCode(listSize(a.list))
		}
	case "optional_hasValue":
		if a.kind == optionalKind {
			return boolCode(hasValue(a.opt))
		}
	case overloads.TypeConvertType:
		if a.kind == boxedKind && a.raw != nil && a.decl != nil && a.decl.Kind == types.IntOrString {
			return boxedCode(asValue, typeOfRaw(a.raw))
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
	case operators.In:
		return containment(inv, a, b)
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

func typeOfRaw(x rawFunc) valFunc {
	return func(f *frame) ref.Val {
		v, ok := x(f)
		f.chargeCall(1, ok)
		if !ok {
			return f.err
		}
		if _, ok := v.(string); ok {
			return celtypes.StringType
		}
		return celtypes.IntType
	}
}

// ordering plans <, <=, >, and >=.
func ordering(inv *invocation, a, b *code) *code {
	rel := relations[inv.function]
	var test testFunc
	switch inv.overload {
	case overloads.LessInt64, overloads.LessEqualsInt64, overloads.GreaterInt64, overloads.GreaterEqualsInt64:
		if x, y := a.ints(), b.ints(); x != nil && y != nil {
			test = orderInts(x, y, rel)
		}
	case overloads.LessString, overloads.LessEqualsString, overloads.GreaterString, overloads.GreaterEqualsString:
		if x, y := a.strings(), b.strings(); x != nil && y != nil {
			test = orderStrings(x, y, rel)
		}
	}
	if test == nil {
		return nil
	}
	return boolCode(test)
}

// A relation holds the outcomes of a comparison for which an operator is true.
type relation struct{ less, equal, greater bool }

var relations = map[string]relation{
	operators.Less:          {less: true},
	operators.LessEquals:    {less: true, equal: true},
	operators.Greater:       {greater: true},
	operators.GreaterEquals: {greater: true, equal: true},
}

func order[T int64 | string](r relation, a, b T) truth {
	switch {
	case a < b:
		return truthOf(r.less)
	case a > b:
		return truthOf(r.greater)
	}
	return truthOf(r.equal)
}

func orderInts(x, y intFunc, r relation) testFunc {
	return func(f *frame) truth {
		a, b, ok := both(f, x, y)
		f.chargeCall(1, ok)
		if !ok {
			return bad
		}
		return order(r, a, b)
	}
}

func orderStrings(x, y strFunc, r relation) testFunc {
	return func(f *frame) truth {
		s, okS, t, okT := pair(f, x, y)
		f.chargeCall(f.errorPairCost(s, okS, t, okT), okS && okT)
		if !okS || !okT {
			return bad
		}
		return order(r, s, t)
	}
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

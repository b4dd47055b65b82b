package eval

import (
	"math"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"
)

// How it works: numbers keep their Go types. Overflow and division by zero are checked as in cel-go's common/types,
// because the error message is part of the verdict.

var (
	errOverflow     = newErr("integer overflow")
	errDivideByZero = newErr("division by zero")
	errModuloByZero = newErr("modulus by zero")
)

func arithmetic(inv *invocation, a, b *code) *code {
	switch inv.overload {
	case overloads.AddInt64, overloads.SubtractInt64, overloads.MultiplyInt64, overloads.DivideInt64, overloads.ModuloInt64:
		if x, y := a.ints(), b.ints(); x != nil && y != nil {
			return intCode(calculate(x, y, intOperators[inv.function]))
		}
	case overloads.AddString:
		if x, y := a.strings(), b.strings(); x != nil && y != nil {
			return stringCode(concatenate(x, y))
		}
	}
	return nil
}

type intOperator func(a, b int64) (int64, *celtypes.Err)

var intOperators = map[string]intOperator{
	operators.Add: func(a, b int64) (int64, *celtypes.Err) {
		if sum := a + b; (sum > a) == (b > 0) {
			return sum, nil
		}
		return 0, errOverflow
	},
	operators.Subtract: func(a, b int64) (int64, *celtypes.Err) {
		if diff := a - b; (diff < a) == (b > 0) {
			return diff, nil
		}
		return 0, errOverflow
	},
	operators.Multiply: multiply,
	operators.Divide: func(a, b int64) (int64, *celtypes.Err) {
		switch {
		case b == 0:
			return 0, errDivideByZero
		case a == math.MinInt64 && b == -1:
			return 0, errOverflow
		}
		return a / b, nil
	},
	operators.Modulo: func(a, b int64) (int64, *celtypes.Err) {
		switch {
		case b == 0:
			return 0, errModuloByZero
		case a == math.MinInt64 && b == -1:
			return 0, errOverflow
		}
		return a % b, nil
	},
}

func multiply(a, b int64) (int64, *celtypes.Err) {
	if a == 0 || b == 0 {
		return 0, nil
	}
	product := a * b
	if a == -1 && b == math.MinInt64 || b == -1 && a == math.MinInt64 || product/b != a {
		return 0, errOverflow
	}
	return product, nil
}

func calculate(x, y intFunc, op intOperator) intFunc {
	return func(f *frame) (int64, bool) {
		a, b, ok := both(f, x, y)
		f.chargeCall(1, ok)
		if !ok {
			return 0, false
		}
		n, err := op(a, b)
		if err != nil {
			f.err = err
			return 0, false
		}
		return n, true
	}
}

func concatenate(x, y strFunc) strFunc {
	return func(f *frame) (string, bool) {
		s, okS, t, okT := pair(f, x, y)
		if okS && okT {
			f.charge(scanCost(f.runes(s) + f.runes(t)))
			f.make(float64(len(s) + len(t)))
			return s + t, true
		}
		f.chargeCall(scanCost(f.sizeOrOne(s, okS)+f.sizeOrOne(t, okT)), false)
		return "", false
	}
}

func (f *frame) sizeOrOne(s string, ok bool) uint64 {
	if ok {
		return f.runes(s)
	}
	return 1
}

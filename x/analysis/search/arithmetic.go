package search

import (
	"math"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// arithmetic makes an arithmetic call result in v by changing one operand, and reports whether it
// set an operand.
func (b *adjuster) arithmetic(call ast.CallExpr, sc *scope, v any) bool {
	switch call.FunctionName() {
	case operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo:
	default:
		return false
	}
	first := b.m.rng.IntN(2)
	for _, i := range []int{first, 1 - first} {
		other, ok := b.native(call.Args()[1-i], sc)
		if !ok {
			continue
		}
		if target, ok := solve(call.FunctionName(), i, v, other); ok && b.equal(call.Args()[i], sc, target) {
			return true
		}
	}
	return false
}

// solve returns the value of operand i for which the operator returns v, given the other operand.
func solve(operator string, i int, v, other any) (any, bool) {
	switch v := v.(type) {
	case int64:
		o, ok := other.(int64)
		if !ok {
			return nil, false
		}
		return solveInt(operator, i, v, o)
	case float64:
		o, ok := other.(float64)
		if !ok {
			return nil, false
		}
		switch operator {
		case operators.Add:
			return v - o, true
		case operators.Subtract:
			if i == 0 {
				return v + o, true
			}
			return o - v, true
		}
	case string:
		o, _ := other.(string)
		if operator != operators.Add {
			return nil, false
		}
		if i == 0 {
			return strings.CutSuffix(v, o)
		}
		return strings.CutPrefix(v, o)
	case []any:
		o, _ := other.([]any)
		if operator == operators.Add && len(o) <= len(v) {
			if i == 0 {
				return v[:len(v)-len(o)], true
			}
			return v[len(o):], true
		}
	}
	return nil, false
}

func solveInt(operator string, i int, v, o int64) (any, bool) {
	switch operator {
	case operators.Add:
		return v - o, true
	case operators.Subtract:
		if i == 0 {
			return v + o, true
		}
		return o - v, true
	case operators.Multiply:
		if o != 0 && v%o == 0 {
			return v / o, true
		}
	case operators.Divide:
		if i == 0 && o != 0 && math.Abs(float64(v))*math.Abs(float64(o)) < math.MaxInt64 {
			return v * o, true
		}
	case operators.Modulo:
		if i == 0 && v < o {
			return o + v, true
		}
	}
	return nil, false
}

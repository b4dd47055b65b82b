package eval

import (
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/types"
)

// How it works: scalars of the same type are compared as Go values. Objects, maps, and lists with the same declaration
// are first compared as JSON (celvalue.Same). Most of them are equal, and then nothing is boxed. Otherwise the list
// types decide (sets and maps ignore order), which the boxed values implement.

func (m *semantics) equalityCode(inv *invocation) *code {
	equal := inv.function == operators.Equals
	a, b := inv.args[0], inv.args[1]
	// A constant is never an error and costs nothing, so swapping is not observable, except in the cost of
	// a comparison of '' with an error.
	if a.isConst() && !b.isConst() && sameScalar(a, b) && !(m.has[errorsEnd] && sizeOf(a.constant) == 0) {
		a, b = b, a
	}
	var test testFunc
	strategy := typed
	switch {
	case a.strings() != nil && b.strings() != nil:
		test = equalStrings(a, b, equal, m.errorCost(b))
	case a.ints() != nil && b.ints() != nil:
		test = equalNumbers(a.ints(), b.ints(), equal)
	case a.kind == boolKind && b.kind == boolKind:
		test = equalTruths(a.test, b.test, equal)
	case a.kind == rawKind && b.kind == rawKind && a.decl == b.decl:
		test = equalStructures(a.raw, b.raw, a.decl, equal)
	default:
		test, strategy = m.equalBoxed(inv, equal), asEquality
	}
	c := boolCode(test)
	c.strategy = strategy
	return c
}

func sameScalar(a, b *code) bool {
	return a.kind == b.kind && a.kind != boxedKind || a.kind == stringKind && b.strings() != nil || a.kind == intKind && b.ints() != nil
}

func (m *semantics) errorCost(b *code) uint64 {
	if m.has[errorsEnd] || !b.isConst() {
		return 1
	}
	return scanCost(min(1, sizeOf(b.constant)))
}

func verdict(same, equal bool) truth { return truthOf(same == equal) }

func equalStrings(a, b *code, equal bool, onError uint64) testFunc {
	x, y := a.strings(), b.strings()
	if s, ok := b.constant.(celtypes.String); ok {
		return equalText(x, string(s), equal, onError)
	}
	return func(f *frame) truth {
		s, okS, t, okT := pair(f, x, y)
		if !okS || !okT {
			f.charge(scanCost(min(f.sizeOrOne(s, okS), f.sizeOrOne(t, okT)))) // an error counts as one character
			return bad
		}
		f.charge(f.pairCost(s, t))
		return verdict(s == t, equal)
	}
}

// pairCost returns the cost of reading the shorter of two strings. It does not need to count
// characters if a string has at most ten bytes.
func (f *frame) pairCost(s, t string) uint64 {
	if n := min(len(s), len(t)); n <= 10 {
		return min(uint64(n), 1)
	}
	return scanCost(f.fewerRunes(s, t))
}

func equalText(x strFunc, t string, equal bool, onError uint64) testFunc {
	full := scanCost(runes(t))
	return func(f *frame) truth {
		s, ok := x(f)
		if !ok {
			f.charge(onError)
			return bad
		}
		if s == t {
			f.work(len(t))
			f.charge(full)
			return verdict(true, equal)
		}
		f.charge(f.pairCost(s, t))
		return verdict(false, equal)
	}
}

func equalNumbers[T int64 | float64](x, y func(*frame) (T, bool), equal bool) testFunc {
	return func(f *frame) truth {
		n, m, ok := both(f, x, y)
		f.charge(1)
		if !ok {
			return bad
		}
		return verdict(n == m, equal)
	}
}

func equalTruths(x, y testFunc, equal bool) testFunc {
	return func(f *frame) truth {
		a := x(f)
		if a == bad && f.errorsEnd {
			f.charge(1)
			return bad
		}
		err := f.err
		b := y(f)
		f.charge(1)
		if a == bad {
			f.err = err
			return bad
		}
		if b == bad {
			return bad
		}
		return verdict(a == b, equal)
	}
}

func (m *semantics) equalBoxed(inv *invocation, equal bool) testFunc {
	x, y := inv.args[0].boxed(), inv.args[1].boxed()
	function, overload := inv.function, "equals"
	if !equal {
		overload = "not_equals"
	}
	cost := m.price(function, overload)
	return func(f *frame) truth {
		a := x(f)
		b := a
		if !f.errorsEnd || !celtypes.IsError(a) {
			b = y(f)
		}
		if i, ok := a.(celtypes.Int); ok {
			if j, ok := b.(celtypes.Int); ok {
				f.charge(1)
				return truthOf((i == j) == equal)
			}
		}
		base := len(f.args)
		f.args = append(f.args, a, b)
		args := f.args[base:]
		f.demand(function, equated, args)
		result := compareBoxed(a, b, equal)
		f.charge(cost(overload, args, result))
		f.popArgs(base)
		return f.truth(result)
	}
}

func equalStructures(x, y rawFunc, d *types.Decl, equal bool) testFunc {
	return func(f *frame) truth {
		a, okA, b, okB := pair(f, x, y)
		if !okA || !okB {
			f.charge(scanCost(min(rawSizeOrOne(a), rawSizeOrOne(b))))
			return bad
		}
		cost := scanCost(min(rawSizeOrOne(a), rawSizeOrOne(b)))
		left := f.workLeft()
		same := celvalue.Same(a, b, d, &left)
		if same || left < 0 {
			f.work(f.workLeft() - left) // if not the same, demand adds all of the work below
		}
		if same {
			f.charge(cost)
			return verdict(true, equal)
		}
		x, y := celvalue.New(a, d), celvalue.New(b, d)
		f.demand(operators.Equals, equated, []ref.Val{x, y})
		result := compareBoxed(x, y, equal)
		f.charge(cost)
		if b, ok := result.(celtypes.Bool); ok {
			return truthOf(bool(b))
		}
		f.fail(result)
		return bad
	}
}

func rawSizeOrOne(v any) uint64 {
	switch v := v.(type) {
	case []any:
		return uint64(len(v))
	case map[string]any:
		return uint64(len(v))
	}
	return 1
}

func compareBoxed(a, b ref.Val, equal bool) ref.Val {
	if celtypes.IsUnknownOrError(a) {
		return a
	}
	if celtypes.IsUnknownOrError(b) {
		return b
	}
	same := celtypes.Equal(a, b)
	if equal {
		return same
	}
	return celtypes.Bool(same != celtypes.True)
}

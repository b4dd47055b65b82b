package eval

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// How it works: the result of CEL's && and || can be decided by one operand even if the other is an
// error: false && error is false in both orders. So an error is saved until all terms are
// evaluated; of several errors, the first is returned. Nested && are flattened into a single list
// where that changes neither errors nor records; it costs the same and needs fewer calls.

// junction plans && or || over any number of terms. It stops at the first term equal to decides, which takes precedence
// over errors.
func junction(terms []testFunc, decides, rest truth) testFunc {
	return func(f *frame) truth {
		var err *celtypes.Err
		for _, term := range terms {
			switch term(f) {
			case decides:
				return decides
			case bad:
				if err == nil {
					err = f.err
				}
			}
		}
		if err != nil {
			f.err = err
			return bad
		}
		return rest
	}
}

// errNotBool is the error of && and || with an operand that is not a bool, in versions with
// lateTypeErrors. It is distinct from errNoOverload, the error of the operand itself.
var errNotBool = newErr("no such overload")

func junctionLate(a, b testFunc, decides, rest truth) testFunc {
	return func(f *frame) truth {
		x := a(f)
		if x == decides {
			return decides
		}
		err := f.err
		y := b(f)
		switch {
		case y == decides:
			return decides
		case x == bad && err != errNoOverload:
			f.err = err
		case y == bad && f.err != errNoOverload:
		case x == bad || y == bad:
			f.err = errNotBool
		default:
			return rest
		}
		return bad
	}
}

// not charges its unit even if the operand is an error.
func not(test testFunc) testFunc {
	return func(f *frame) truth {
		t := test(f)
		f.charge(1)
		switch t {
		case yes:
			return no
		case no:
			return yes
		}
		return bad
	}
}

func ternary(cond testFunc, a, b *code) *code {
	switch {
	case a.kind == boolKind && b.kind == boolKind:
		return boolCode(chooseTest(cond, a.test, b.test))
	case a.strings() != nil && b.strings() != nil:
		return stringCode(choose(cond, a.strings(), b.strings()))
	case a.ints() != nil && b.ints() != nil:
		return intCode(choose(cond, a.ints(), b.ints()))
	case a.kind == rawKind && b.kind == rawKind && a.decl == b.decl:
		return jsonCode(choose(cond, a.raw, b.raw), a.decl)
	}
	x, y := a.boxed(), b.boxed()
	c := boxedCode(asChoice, func(f *frame) ref.Val {
		switch cond(f) {
		case yes:
			return x(f)
		case no:
			return y(f)
		}
		return f.err
	})
	c.exact = a.exact && b.exact
	return c
}

func chooseTest(cond, a, b testFunc) testFunc {
	return func(f *frame) truth {
		switch cond(f) {
		case yes:
			return a(f)
		case no:
			return b(f)
		}
		return bad
	}
}

func choose[T any](cond testFunc, a, b func(*frame) (T, bool)) func(*frame) (T, bool) {
	return func(f *frame) (T, bool) {
		switch cond(f) {
		case yes:
			return a(f)
		case no:
			return b(f)
		}
		var zero T
		return zero, false
	}
}

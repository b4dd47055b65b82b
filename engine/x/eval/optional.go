package eval

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/types"
)

// How it works: x.?a.?b is an optional, usually followed by hasValue() or orValue(). An optFunc
// passes the value to that call as JSON with a truth, so no optional is made. or() and orValue()
// evaluate their argument only if necessary, and cel-go does not charge them.

// optionalOr plans or() and orValue() of optionals. It returns nil for other functions of that
// name.
func (m *semantics) optionalOr(inv *invocation) *code {
	if len(inv.args) != 2 {
		return nil
	}
	unwrap := inv.function == "orValue"
	switch inv.overload {
	case "", "optional_or_optional", "optional_orValue_value":
	default:
		return nil
	}
	if unwrap && inv.args[0].kind == optionalKind {
		if c := orValue(inv.args[0], inv.args[1]); c != nil {
			return c
		}
	}
	c := boxedCode(asCall, boxedOr(inv.args[0].boxed(), inv.args[1].boxed(), unwrap, m.has[anyOr]))
	if unwrap && inv.args[0].kind == optionalKind {
		if c.list = orItems(inv.args[0], inv.args[1]); c.list != nil {
			c.elem = inv.args[0].decl.Elem
		}
	}
	return c
}

// boxedOr plans or, or orValue if unwrap is set. If anyLeft is set, a left operand that is not an
// optional is the result.
func boxedOr(x, y valFunc, unwrap, anyLeft bool) valFunc {
	return func(f *frame) ref.Val {
		v := x(f)
		if celtypes.IsUnknownOrError(v) {
			return v
		}
		opt, ok := v.(*celtypes.Optional)
		switch {
		case !ok && anyLeft:
			return v
		case !ok:
			return errNoOverload
		case !opt.HasValue():
			return y(f)
		case unwrap:
			return opt.GetValue()
		}
		return opt
	}
}

// hasValue plans hasValue() of an optional.
func hasValue(opt optFunc) testFunc {
	return func(f *frame) truth {
		_, t := opt(f)
		f.chargeCall(1, t != bad)
		return t
	}
}

// orValue plans orValue() with a default of the same kind. It returns nil for any other default.
func orValue(a, b *code) *code {
	opt, d := a.opt, a.decl
	switch {
	case a.null:
	case d.Kind == types.String && b.strings() != nil:
		rest := b.strings()
		return stringCode(func(f *frame) (string, bool) {
			v, t := opt(f)
			if t != yes {
				return otherwise(f, t, rest)
			}
			s, ok := v.(string)
			if !ok {
				f.failMismatch(v, d)
			}
			return s, ok
		})
	case d.Kind == types.Int && b.ints() != nil:
		rest := b.ints()
		return intCode(func(f *frame) (int64, bool) {
			v, t := opt(f)
			if t != yes {
				return otherwise(f, t, rest)
			}
			n, ok := v.(int64)
			if !ok {
				f.failMismatch(v, d)
			}
			return n, ok
		})
	case d.Kind == types.Bool && b.kind == boolKind:
		return boolCode(orTruth(opt, d, b.test))
	}
	return nil
}

func orTruth(opt optFunc, d *types.Decl, rest testFunc) testFunc {
	return func(f *frame) truth {
		v, t := opt(f)
		switch t {
		case bad:
			return bad
		case no:
			return rest(f)
		}
		b, ok := v.(bool)
		if !ok {
			f.failMismatch(v, d)
			return bad
		}
		return truthOf(b)
	}
}

// otherwise returns the default if the optional is empty, and false if it is an error.
func otherwise[T any](f *frame, t truth, rest func(*frame) (T, bool)) (T, bool) {
	if t == no {
		return rest(f)
	}
	var zero T
	return zero, false
}

// orItems plans orValue() for code that only needs the items of the list. It returns nil if the
// item declarations differ.
func orItems(a, b *code) listFunc {
	d := a.decl
	if b = listOf(b); a.null || !isList(d) || b == nil || b.elem != nil && b.elem != d.Elem {
		return nil
	}
	opt, rest := a.opt, b.list
	return func(f *frame) ([]any, bool) {
		v, t := opt(f)
		if t != yes {
			return otherwise(f, t, rest)
		}
		items, ok := v.([]any)
		if !ok {
			f.failMismatch(v, d)
		}
		return items, ok
	}
}

package eval

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// How it works: or() and orValue() evaluate their argument only if necessary, and cel-go does not
// charge them.

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
	return boxedCode(asCall, boxedOr(inv.args[0].boxed(), inv.args[1].boxed(), unwrap, m.has[anyOr]))
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

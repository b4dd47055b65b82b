package eval

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// optionalOr is or() and orValue() of optionals: the argument is evaluated only
// when it is needed, and neither call is priced.
func optionalOr(inv *invocation) *code {
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
	c := &code{kind: boxedKind, val: boxedOr(inv.args[0].boxed(), inv.args[1].boxed(), unwrap)}
	if unwrap && inv.args[0].kind == optionalKind {
		if c.list = orItems(inv.args[0], inv.args[1]); c.list != nil {
			c.elem = inv.args[0].decl.Elem
		}
	}
	return c
}

func boxedOr(x, y valFunc, unwrap bool) valFunc {
	return func(f *frame) ref.Val {
		v := x(f)
		if celtypes.IsUnknownOrError(v) {
			return v
		}
		opt, ok := v.(*celtypes.Optional)
		switch {
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

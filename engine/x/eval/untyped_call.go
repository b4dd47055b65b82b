package eval

import (
	"strings"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
)

// How it works: see untyped.go. A quick function handles the operands that most calls have. The call on
// ref.Vals handles the others, and those that are errors.

// A quickCall returns the result of a call and charges it. ok is false if the operands have other types.
type quickCall func(f *frame, a, b any) (result truth, ok bool)

// untypedCode returns the code of a comparison, of a search, or of size if an argument is JSON without a
// declaration. It returns nil for other calls.
func (b *binding) untypedCode(inv *invocation) *code {
	if b.listed || b.semantics.prices[inv.function] != nil {
		return nil
	}
	switch {
	case len(inv.args) == 1 && inv.args[0].json != nil:
		if inv.function == overloads.Size && inv.overload == "" {
			return intCode(untypedSize(inv.args[0].json, b.caller()))
		}
	case len(inv.args) == 2:
		x, y := inv.args[0].untyped(), inv.args[1].untyped()
		if quick := b.semantics.quickCall(inv); x != nil && y != nil && quick != nil {
			return boolCode(untypedTest(x, y, quick, b.caller()))
		}
	}
	return nil
}

func untypedTest(x, y jsonFunc, quick quickCall, call callFunc) testFunc {
	return func(f *frame) truth {
		v, boxedV := x(f)
		w, boxedW := y(f)
		if boxedV == nil && boxedW == nil {
			if result, ok := quick(f, v, w); ok {
				return result
			}
		}
		base := len(f.args)
		f.args = append(f.args, box(v, boxedV), box(w, boxedW))
		return f.truth(call(f, base))
	}
}

// untypedSize plans size(), whose overload depends on the value. It then costs 1.
func untypedSize(x jsonFunc, call callFunc) intFunc {
	return func(f *frame) (int64, bool) {
		v, boxed := x(f)
		if boxed == nil {
			n := int64(-1)
			switch v := v.(type) {
			case string:
				n = int64(f.runes(v))
			case []any:
				n = int64(len(v))
			case map[string]any:
				n = int64(len(v))
			}
			if n >= 0 {
				f.charge(1)
				return n, true
			}
		}
		base := len(f.args)
		f.args = append(f.args, box(v, boxed))
		result := call(f, base)
		if n, ok := result.(celtypes.Int); ok {
			return int64(n), true
		}
		f.fail(result)
		return 0, false
	}
}

// quickCall returns the quick function of a call, or nil.
func (m *semantics) quickCall(inv *invocation) quickCall {
	if _, revised := m.revised[inv.function]; revised {
		return nil
	}
	switch inv.function {
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return quickOrder(relations[inv.function], inv.overload)
	case operators.In:
		return quickIn(inv.overload)
	}
	switch inv.overload {
	case overloads.StartsWithString:
		return m.quickAffix(strings.HasPrefix)
	case overloads.EndsWithString:
		return m.quickAffix(strings.HasSuffix)
	case overloads.ContainsString:
		return quickTexts(strings.Contains, func(f *frame, s, t string) uint64 { return scanCost(f.runes(s)) * scanCost(f.runes(t)) })
	}
	return nil
}

// quickOrder compares two ints or two strings. If the overload depends on the values, it costs 1.
func quickOrder(r relation, overload string) quickCall {
	switch overload {
	case "":
		return func(f *frame, a, b any) (truth, bool) {
			switch x := a.(type) {
			case int64:
				if y, ok := b.(int64); ok {
					f.charge(1)
					return order(r, x, y), true
				}
			case string:
				if y, ok := b.(string); ok {
					f.work(len(x) + len(y))
					f.charge(1)
					return order(r, x, y), true
				}
			}
			return no, false
		}
	case overloads.LessString, overloads.LessEqualsString, overloads.GreaterString, overloads.GreaterEqualsString:
		return func(f *frame, a, b any) (truth, bool) {
			x, ok := a.(string)
			y, also := b.(string)
			if !ok || !also {
				return no, false
			}
			f.charge(scanCost(f.fewerRunes(x, y)))
			return order(r, x, y), true
		}
	}
	return nil
}

func (m *semantics) quickAffix(has func(s, t string) bool) quickCall {
	if m.has[affixByReceiver] {
		return quickTexts(has, func(f *frame, s, _ string) uint64 { return scanCost(f.runes(s)) })
	}
	return quickTexts(has, func(f *frame, _, t string) uint64 { return scanCost(f.runes(t)) })
}

func quickTexts(test func(s, t string) bool, cost func(f *frame, s, t string) uint64) quickCall {
	return func(f *frame, a, b any) (truth, bool) {
		s, ok := a.(string)
		t, also := b.(string)
		if !ok || !also {
			return no, false
		}
		f.charge(cost(f, s, t))
		return truthOf(test(s, t)), true
	}
}

// quickIn looks for a string in a map, or in a list if the overload depends on the value.
func quickIn(overload string) quickCall {
	if overload != "" {
		return nil
	}
	return func(f *frame, a, b any) (truth, bool) {
		key, ok := a.(string)
		if !ok {
			return no, false
		}
		switch of := b.(type) {
		case map[string]any:
			f.work(2 * len(key))
			f.charge(1)
			_, found := of[key]
			return truthOf(found), true
		case []any:
			f.work(len(of) * (1 + len(key)/perByte8))
			f.charge(1)
			result, _ := findItem(of, key, true)
			return truthOf(result == yes), true
		}
		return no, false
	}
}

// equalUntyped plans == and != if one operand is JSON without a declaration, or returns nil.
func (m *semantics) equalUntyped(inv *invocation, equal bool) testFunc {
	x, y := inv.args[0].untyped(), inv.args[1].untyped()
	if x == nil || y == nil {
		return nil
	}
	rest := m.boxedEquality(inv.function, equal)
	return func(f *frame) truth {
		v, boxedV := x(f)
		w, boxedW := y(f)
		if boxedV == nil && boxedW == nil {
			switch s := v.(type) {
			case string:
				if t, ok := w.(string); ok {
					f.work(min(len(s), len(t)))
					f.charge(f.pairCost(s, t))
					return verdict(s == t, equal)
				}
			case int64:
				if n, ok := w.(int64); ok {
					f.charge(1)
					return verdict(s == n, equal)
				}
			}
		}
		return rest(f, box(v, boxedV), box(w, boxedW))
	}
}

// matchUntyped plans a match of a constant pattern whose text is JSON without a declaration. Like any call
// with such a pattern, it is not charged if the text is an error.
func matchUntyped(json jsonFunc, pattern celtypes.String, re *regexcost.Pattern, call callFunc) testFunc {
	size := runes(string(pattern))
	return func(f *frame) truth {
		v, boxed := json(f)
		if s, ok := v.(string); ok && boxed == nil {
			f.charge(matchCost(f.runes(s), size))
			f.match(re, s)
			return truthOf(re.MatchString(s))
		}
		text := box(v, boxed)
		if celtypes.IsUnknownOrError(text) {
			f.fail(text)
			return bad
		}
		base := len(f.args)
		f.args = append(f.args, text, pattern)
		return f.truth(call(f, base))
	}
}

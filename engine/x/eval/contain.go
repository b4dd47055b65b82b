package eval

import (
	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/types"
)

// How it works: cel-go turns a constant list into a set and does not charge for the lookup, so
// neither does this code. A list of the object is searched item by item, at one unit each. The
// search continues after an item that does not fit its type: such an item is an error only if no
// later item is equal.

// inConstants plans `in` over a constant list, which cel-go turns into a set. The lookup is not
// charged. inConstants returns nil if cel-go does not make a set of the list.
func inConstants(inv *invocation) *code {
	list := inv.args[1].constant.(traits.Lister)
	if list.Size() == celtypes.IntZero {
		return constant(celtypes.False, inv.typ)
	}
	set := constantSet(list)
	if set == nil {
		return nil
	}
	if x := inv.args[0].strings(); x != nil {
		return boolCode(inStrings(x, set))
	}
	if x := inv.args[0].ints(); x != nil {
		return boolCode(inInts(x, set))
	}
	val := inv.args[0].boxed()
	return boolCode(func(f *frame) truth { return f.in(set, val(f)) })
}

// in reports whether v is in the set. If v is an error, in stores it and returns bad.
func (f *frame) in(set map[ref.Val]bool, v ref.Val) truth {
	if celtypes.IsUnknownOrError(v) {
		f.fail(v)
		return bad
	}
	if s, ok := v.(celtypes.String); ok {
		f.compared(len(s))
	}
	return truthOf(set[v])
}

// constantSet returns the items as a set, or nil if an item is not a scalar or is bytes. A number
// is added in each numeric type that can hold it.
func constantSet(list traits.Lister) map[ref.Val]bool {
	set := map[ref.Val]bool{}
	for it := list.Iterator(); it.HasNext() == celtypes.True; {
		v := it.Next()
		if !celtypes.IsPrimitiveType(v) || v.Type() == celtypes.BytesType {
			return nil
		}
		set[v] = true
		switch v.(type) {
		case celtypes.Double:
			for _, t := range []ref.Type{celtypes.IntType, celtypes.UintType} {
				if n := v.ConvertToType(t); !celtypes.IsError(n) && n.Equal(v) == celtypes.True {
					set[n] = true
				}
			}
		case celtypes.Int:
			addConverted(set, v, celtypes.DoubleType, celtypes.UintType)
		case celtypes.Uint:
			addConverted(set, v, celtypes.DoubleType, celtypes.IntType)
		}
	}
	return set
}

func addConverted(set map[ref.Val]bool, v ref.Val, as ...ref.Type) {
	for _, t := range as {
		if n := v.ConvertToType(t); !celtypes.IsError(n) {
			set[n] = true
		}
	}
}

func inStrings(x strFunc, set map[ref.Val]bool) testFunc {
	texts := map[string]bool{}
	for v := range set {
		if s, ok := v.(celtypes.String); ok {
			texts[string(s)] = true
		}
	}
	return func(f *frame) truth {
		s, ok := x(f)
		if !ok {
			return bad
		}
		f.compared(len(s))
		return truthOf(texts[s])
	}
}

func inInts(x intFunc, set map[ref.Val]bool) testFunc {
	ints := map[int64]bool{}
	for v := range set {
		if n, ok := v.(celtypes.Int); ok {
			ints[int64(n)] = true
		}
	}
	return func(f *frame) truth {
		n, ok := x(f)
		if !ok {
			return bad
		}
		return truthOf(ints[n])
	}
}

// containment plans `in` over a JSON list or map. It returns nil if the operands are not typed.
func containment(inv *invocation, a, b *code) *code {
	var test testFunc
	switch {
	case inv.overload == overloads.InMap && b.kind == rawKind && isMap(b.decl) && a.strings() != nil:
		test = inMap(a.strings(), b.raw, b.decl.Elem)
	case inv.overload != overloads.InList:
	case b.kind == listKind:
		test = inItems(a, b.list, b.elem)
	case b.kind == rawKind && isList(b.decl):
		raw := b.raw
		test = inItems(a, func(f *frame) ([]any, bool) {
			v, ok := raw(f)
			if v == nil && ok {
				if f.errorsEnd {
					f.charge(1) // the call ends with an error, but no operand does
				}
				f.err, ok = errNoOverload, false
			}
			items, _ := v.([]any)
			return items, ok
		}, b.decl.Elem)
	}
	if test == nil {
		return nil
	}
	return boolCode(test)
}

func inMap(x strFunc, raw rawFunc, elem *types.Decl) testFunc {
	k := goTypeOf(elem)
	return func(f *frame) truth {
		key, okKey := x(f)
		if !okKey && f.errorsEnd {
			return bad
		}
		err := f.err
		v, ok := raw(f)
		f.chargeCall(1, ok)
		if !okKey {
			f.err = err
			return bad
		}
		if !ok {
			return bad
		}
		m, ok := v.(map[string]any)
		if !ok {
			f.err = errNoOverload
			return bad
		}
		f.compared(len(key))
		found, ok := m[key]
		switch {
		case !ok:
			return no
		case found == nil && elem.Nullable || f.matches(k, found, elem):
			return yes
		}
		f.failMismatch(found, elem)
		return bad
	}
}

// inItems plans the search for a string or an int in a list of that type, or returns nil.
func inItems(a *code, list listFunc, elem *types.Decl) testFunc {
	switch elem.Kind {
	case types.String:
		if x := a.strings(); x != nil {
			return inListOf(x, list, elem, func(s string) int { return len(s) / perByte8 })
		}
	case types.Int:
		if x := a.ints(); x != nil {
			return inListOf(x, list, elem, func(int64) int { return 0 })
		}
	}
	return nil
}

// inListOf searches the list. Items that do not fit their declaration are errors only if no item is
// equal to x.
func inListOf[T comparable](x func(*frame) (T, bool), list listFunc, elem *types.Decl, work func(T) int) testFunc {
	return func(f *frame) truth {
		want, okWant := x(f)
		if !okWant && f.errorsEnd {
			return bad
		}
		err := f.err
		items, ok := list(f)
		size := uint64(1)
		if ok {
			size = uint64(len(items))
		}
		var mismatch any
		result := no
		if okWant && ok {
			f.work(len(items) * (1 + work(want)))
			result, mismatch = findItem(items, want, elem.Nullable)
		}
		f.chargeCall(size, ok)
		switch {
		case !okWant:
			f.err = err
			return bad
		case !ok:
			return bad
		case result == bad:
			f.failMismatch(mismatch, elem)
		}
		return result
	}
}

func findItem[T comparable](items []any, want T, nullable bool) (result truth, mismatch any) {
	for _, item := range items {
		v, ok := item.(T)
		if ok && v == want {
			return yes, nil
		}
		if !ok && result == no && (item != nil || !nullable) {
			result, mismatch = bad, item
		}
	}
	return result, mismatch
}

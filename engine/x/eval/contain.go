package eval

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// How it works: cel-go turns a constant list into a set and does not charge for the lookup, so
// neither does this code. Other lists and maps are searched as ref.Vals.

// inConstants plans `in` over a constant list. It returns nil if cel-go does not make a set of the
// list.
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

// constantSet returns nil if the type of an item is not primitive, or is bytes. A number is also added in the other
// numeric types, as in cel-go.
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

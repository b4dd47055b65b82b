package eval

import (
	"strings"

	"github.com/google/cel-go/common/functions"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/types"
)

// How it works: an object under dyn can have fields that its schema does not
// know. They count in its size but have no name: upstream's iterator gives a Go
// nil as their key, which cel-go reads as null wherever an expression names it.
// Here the key is null from the start. Three library functions of cel-go ask an
// iterator's keys themselves, and panic on the nil, which makes the rule fail;
// they get here, by the error that they give for null, or before they are
// called.

// upstreamPanic is a panic that upstream's code would have made here.
type upstreamPanic string

const nilDereference upstreamPanic = "runtime error: invalid memory address or nil pointer dereference"

// unnamedFormat is format, which asks each key of a map for its type.
func unnamedFormat(format functions.FunctionOp) functions.FunctionOp {
	return func(args ...ref.Val) ref.Val {
		result := format(args...)
		if failed(result, "no formatting function for map key of type null_type") && firstNullKey(args[1]) == unnamedKey {
			panic(nilDereference)
		}
		return result
	}
}

// unnamedInsert is the inserting of a map into another. A call is only
// dispatched once the type of the map's first key is known; nil keys are last.
func unnamedInsert(insert functions.BinaryOp) functions.BinaryOp {
	return func(target, with ref.Val) ref.Val {
		to, ok := target.(traits.Mapper)
		unnamed := types.Unnamed(with)
		if unnamed == 0 || !ok {
			return insert(target, with)
		}
		from := with.(traits.Mapper)
		if from.Size() == celtypes.Int(unnamed) {
			panic(nilDereference)
		}
		for it := from.Iterator(); it.HasNext() == celtypes.True; {
			key := it.Next()
			result := celtypes.InsertMapKeyValue(to, key, from.Get(key))
			if celtypes.IsError(result) {
				if key == celtypes.NullValue {
					return newErr("insert failed: key <nil> already exists")
				}
				return result
			}
			to = result.(traits.Mapper)
		}
		return to
	}
}

// unnamedFields is for the result of making a message: its map fields convert
// each key.
func unnamedFields(result ref.Val, fields map[string]ref.Val) {
	if !failed(result, "type conversion error from 'null_type' to 'string'") {
		return
	}
	for _, v := range fields {
		if types.Unnamed(v) > 0 {
			panic(nilDereference)
		}
	}
}

func failed(result ref.Val, with string) bool {
	err, ok := result.(*celtypes.Err)
	return ok && strings.HasSuffix(err.Error(), with)
}

// nullKey is a key that is null: of a map that has one, or of an object's field
// without a name.
type nullKey uint8

const (
	noNullKey nullKey = iota
	ownNullKey
	unnamedKey
)

// firstNullKey is the first that format meets on its way through a value.
func firstNullKey(v ref.Val) nullKey {
	switch v := v.(type) {
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			key := it.Next()
			if key == celtypes.NullValue {
				if types.Unnamed(v) > 0 {
					return unnamedKey
				}
				return ownNullKey
			}
			if found := firstNullKey(v.Get(key)); found != noNullKey {
				return found
			}
		}
	case traits.Lister:
		size, _ := v.Size().(celtypes.Int)
		for i := range size {
			if found := firstNullKey(v.Get(i)); found != noNullKey {
				return found
			}
		}
	}
	return noNullKey
}

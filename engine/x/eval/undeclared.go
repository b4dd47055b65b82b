package eval

import (
	"strings"

	"github.com/google/cel-go/common/functions"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
)

// How it works: an object under dyn can have fields that its schema does not declare. They count in
// its size but have no name: upstream's iterator returns a Go nil as their key, which cel-go treats
// as null if an expression uses it. Here the key is null from the start. Three of cel-go's library
// functions call methods of the iterator's keys and panic on the nil, so the rule fails. This file
// reproduces these panics, either from the error that the function returns for null or before the
// function is called.

// upstreamPanic is the panic value for a panic that upstream's code has in the same situation.
type upstreamPanic string

const nilDereference upstreamPanic = "runtime error: invalid memory address or nil pointer dereference"

// wrapFormat wraps format, which reads the type of each key of a map.
func wrapFormat(format functions.FunctionOp) functions.FunctionOp {
	return func(args ...ref.Val) ref.Val {
		result := format(args...)
		if failed(result, "no formatting function for map key of type null_type") && firstNullKey(args[1]) == unnamedKey {
			panic(nilDereference)
		}
		return result
	}
}

// wrapInsert wraps the insertion of a map into another. In upstream, the call is dispatched by
// the type of the map's first key; nil keys are last.
func wrapInsert(insert functions.BinaryOp) functions.BinaryOp {
	return func(target, with ref.Val) ref.Val {
		to, ok := target.(traits.Mapper)
		undeclared := celvalue.UndeclaredFields(with)
		if undeclared == 0 || !ok {
			return insert(target, with)
		}
		from := with.(traits.Mapper)
		if from.Size() == celtypes.Int(undeclared) {
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

// checkMessageFields checks the result of making a message, whose map fields convert each key.
func checkMessageFields(result ref.Val, fields map[string]ref.Val) {
	if !failed(result, "type conversion error from 'null_type' to 'string'") {
		return
	}
	for _, v := range fields {
		if celvalue.UndeclaredFields(v) > 0 {
			panic(nilDereference)
		}
	}
}

func failed(result ref.Val, with string) bool {
	err, ok := result.(*celtypes.Err)
	return ok && strings.HasSuffix(err.Error(), with)
}

// A nullKey is the kind of a null key: an entry of a map, or an object's field without a name.
type nullKey uint8

const (
	noNullKey nullKey = iota
	ownNullKey
	unnamedKey
)

func firstNullKey(v ref.Val) nullKey {
	switch v := v.(type) {
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			key := it.Next()
			if key == celtypes.NullValue {
				if celvalue.UndeclaredFields(v) > 0 {
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

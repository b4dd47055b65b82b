package eval

import (
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/types"
)

// How it works: an object that was not validated may hold any value anywhere. In the API server, a
// value that does not fit its schema causes a CEL error in the step that reads it. So each step
// checks that the Go type of the value matches the declaration, which costs a type switch. Only
// values with a format have to be parsed for the check.

type goType uint8

const (
	goMap goType = iota
	goList
	goString
	goInt
	goDouble
	goBool
	goIntOrString
	goCheckedValue // must be checked by celvalue.New
	goAny
)

func goTypeOf(d *types.Decl) goType {
	switch d.Kind {
	case types.Object, types.Map:
		if !d.Readable() {
			return goCheckedValue
		}
		return goMap
	case types.List:
		return goList
	case types.String:
		return goString
	case types.Int:
		return goInt
	case types.Double:
		return goDouble
	case types.Bool:
		return goBool
	case types.IntOrString:
		return goIntOrString
	}
	return goCheckedValue
}

// matches reports whether v fits k. The caller handles null.
func (k goType) matches(v any, d *types.Decl) bool {
	if k == goMap {
		_, ok := v.(map[string]any)
		return ok
	}
	return k == goAny || k.matchesOther(v, d)
}

func (f *frame) matches(k goType, v any, d *types.Decl) bool {
	if k == goMap {
		_, ok := v.(map[string]any)
		return ok
	}
	return f.matchesOther(k, v, d)
}

func (f *frame) matchesOther(k goType, v any, d *types.Decl) bool {
	if k == goCheckedValue {
		f.parsed(v)
	}
	return k == goAny || k.matchesOther(v, d)
}

func (k goType) matchesOther(v any, d *types.Decl) bool {
	var ok bool
	switch k {
	case goList:
		_, ok = v.([]any)
	case goString:
		_, ok = v.(string)
	case goInt:
		_, ok = v.(int64)
	case goBool:
		_, ok = v.(bool)
	case goDouble:
		if _, ok = v.(float64); !ok {
			_, ok = v.(int64)
		}
	case goIntOrString:
		if _, ok = v.(string); !ok {
			_, ok = v.(int64)
		}
	default:
		ok = !celtypes.IsError(celvalue.New(v, d))
	}
	return ok
}

// isObject, isMap, isList, and walkable report whether paths can walk the values of a declaration.
// celvalue.New represents all values of such a declaration in the same form.
func isObject(d *types.Decl) bool { return d.Kind == types.Object && d.Readable() }

func isMap(d *types.Decl) bool {
	return d.Kind == types.Map && d.Schema.Properties == nil && !d.Root // a root has properties
}

func isList(d *types.Decl) bool {
	if d.Kind != types.List {
		return false
	}
	t := d.Schema.XListType
	return t == nil || *t == "" || *t == "atomic" || *t == "set" || *t == "map"
}

func walkable(d *types.Decl) bool { return isObject(d) || isMap(d) || isList(d) }

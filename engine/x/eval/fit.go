package eval

import (
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/types"
)

// How it works: an object that was not validated may hold any value anywhere. In the API server, a
// value that does not fit its schema causes a CEL error in the step that reads it. So each step
// checks that the Go type of the value matches the declaration, which costs a type switch. Only
// values with a format have to be parsed for the check.

// A fit is the Go type that values of a declaration have.
type fit uint8

const (
	fitMap fit = iota
	fitList
	fitString
	fitInt
	fitDouble
	fitBool
	fitIntOrString
	fitValue // must be checked by types.Value
	fitAny   // not checked here; checked later
)

func fitOf(d *types.Decl) fit {
	switch d.Kind {
	case types.Object, types.Map:
		if !d.Readable() {
			return fitValue
		}
		return fitMap
	case types.List:
		return fitList
	case types.String:
		return fitString
	case types.Int:
		return fitInt
	case types.Double:
		return fitDouble
	case types.Bool:
		return fitBool
	case types.IntOrString:
		return fitIntOrString
	}
	return fitValue
}

// fits reports whether types.Value would accept v. The caller handles null.
func (k fit) fits(v any, d *types.Decl) bool {
	if k == fitMap {
		_, ok := v.(map[string]any)
		return ok
	}
	return k == fitAny || k.fitsOther(v, d)
}

// fits reports whether v fits, and adds the work of the check. The intermediate values of a path
// are objects, maps, and lists, whose check needs no work.
func (f *frame) fits(k fit, v any, d *types.Decl) bool {
	if k == fitMap {
		_, ok := v.(map[string]any)
		return ok
	}
	return f.fitsOther(k, v, d)
}

func (f *frame) fitsOther(k fit, v any, d *types.Decl) bool {
	if k == fitValue {
		f.parsed(v)
	}
	return k == fitAny || k.fitsOther(v, d)
}

func (k fit) fitsOther(v any, d *types.Decl) bool {
	var ok bool
	switch k {
	case fitList:
		_, ok = v.([]any)
	case fitString:
		_, ok = v.(string)
	case fitInt:
		_, ok = v.(int64)
	case fitBool:
		_, ok = v.(bool)
	case fitDouble:
		if _, ok = v.(float64); !ok {
			_, ok = v.(int64)
		}
	case fitIntOrString:
		if _, ok = v.(string); !ok {
			_, ok = v.(int64)
		}
	default:
		ok = !celtypes.IsError(types.Value(v, d))
	}
	return ok
}

// isObject, isMap, isList, and walkable report whether paths can walk the values of a declaration:
// types.Value represents all values of such a declaration in the same form.
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

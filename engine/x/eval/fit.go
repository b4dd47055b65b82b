package eval

import (
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/types"
)

// How it works: an object that was not validated may hold anything anywhere,
// and a server meets a value that does not fit its schema as an error of CEL,
// at the step that reads it. So every step checks the Go type that JSON of its
// declaration has; the type switch is all that it costs. Only formats have to
// be parsed for that.

// fit is the Go form that values of a declaration have.
type fit uint8

const (
	fitMap fit = iota
	fitList
	fitString
	fitInt
	fitDouble
	fitBool
	fitIntOrString
	fitValue // only types.Value knows
	fitAny   // looked at later
)

func fitOf(d *types.Decl) fit {
	switch d.Kind {
	case types.Object, types.Map:
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

// fits is whether types.Value would take v; null is asked for apart.
func (k fit) fits(v any, d *types.Decl) bool {
	if k == fitMap {
		_, ok := v.(map[string]any)
		return ok
	}
	return k == fitAny || k.fitsOther(v, d)
}

// fits is the fit's, with the work that it takes. On the way down a path there
// are only objects, maps and lists, which take none.
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

// isObject and the like are true for declarations whose values these paths can
// walk: types.Value gives every value of such a declaration one and the same
// form.
func isObject(d *types.Decl) bool { return d.Kind == types.Object }

func isMap(d *types.Decl) bool {
	return d.Kind == types.Map && d.Schema.Properties == nil && !d.Root // a root has some
}

func isList(d *types.Decl) bool {
	if d.Kind != types.List {
		return false
	}
	t := d.Schema.XListType
	return t == nil || *t == "" || *t == "atomic" || *t == "set" || *t == "map"
}

func walkable(d *types.Decl) bool { return isObject(d) || isMap(d) || isList(d) }

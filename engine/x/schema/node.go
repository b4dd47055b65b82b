package schema

import (
	"math"
	"slices"
)

type node struct {
	free bool
	// types are the JSON types, as named in errors. If empty, any type is allowed.
	types    []string
	accept   kinds
	nullable bool
	format   string // "" if the format is not supported

	enum    *enum
	text    *text
	number  *number
	array   *array
	object  *object
	logic   *logic
	listMap []string // the keys of a list of type map, or nil

	// Structural schema.
	properties    map[string]*node
	additional    *node // schema of fields that are not properties
	hasAdditional bool  // such fields are not pruned
	items         *node
	listType      listType
	isArray       bool
	preserve      bool
	embedded      bool
	standard      any     // the complete default, which is copied for each use
	defaults      []named // properties with defaults

	// The following fields also cover the schemas below.
	lists  bool
	listed []named
	embeds bool
}

type named struct {
	name string
	node *node
}

// If known is false, the field is pruned unless unknown fields are preserved.
func (n *node) child(name string) (child *node, known bool) {
	if n == nil {
		return nil, false
	}
	if p, ok := n.properties[name]; ok {
		return p, true
	}
	return n.additional, n.hasAdditional
}

type listType uint8

const (
	atomicList listType = iota
	setList
	mapList
)

type kinds uint8

const (
	isNull kinds = 1 << iota
	isBool
	isString
	isInt
	isWhole    // a float64 that JSON schema considers an integer
	isFraction // any other float64
	isList
	isMap
)

var allKinds = []kinds{isNull, isBool, isString, isInt, isWhole, isFraction, isList, isMap}

// kindOf returns 0 if v is not decoded JSON.
func kindOf(v any) kinds {
	switch v := v.(type) {
	case nil:
		return isNull
	case bool:
		return isBool
	case string:
		return isString
	case int64:
		return isInt
	case float64:
		return kindOfFloat(v)
	case []any:
		return isList
	case map[string]any:
		return isMap
	}
	return 0
}

func kindOfFloat(f float64) kinds {
	if jsonInteger(f) {
		return isWhole
	}
	return isFraction
}

// jsonInteger allows a rounding error as the API server does.
func jsonInteger(f float64) bool {
	const most, epsilon = 1<<53 - 1, 1e-9
	if !(math.Abs(f) <= most) { // NaN too
		return false
	}
	rounded := math.Round(f)
	return f == rounded || math.Abs(f-rounded) < epsilon*math.Abs(rounded)
}

// The format is the name of the Go type.
func (k kinds) jsonType() (name, format string) {
	switch k {
	case isBool:
		return "boolean", ""
	case isString:
		return "string", ""
	case isInt:
		return "integer", "int64"
	case isWhole, isFraction:
		return "number", "float64"
	case isList:
		return "array", ""
	case isMap:
		return "object", ""
	}
	return "", ""
}

// want and got are the types as named in the error. Strings and lists are never mistyped if the node has a format and
// no numeric type.
func (n *node) mistyped(k kinds) (want, got string, bad bool) {
	if k == isNull {
		bad = len(n.types) > 0 && !n.nullable && !slices.Contains(n.types, "null")
		return n.typeNames(), "null", bad
	}
	if len(n.types) == 0 && n.format == "" {
		return "", "", false
	}
	name, format := k.jsonType()
	numeric := slices.Contains(n.types, "number") || slices.Contains(n.types, "integer")
	ok := slices.Contains(n.types, name) ||
		k == isWhole && slices.Contains(n.types, "integer") ||
		k == isInt && slices.Contains(n.types, "number")
	switch {
	case n.format == "":
	case k != isString && k != isList:
		if !ok && format != n.format {
			return n.format, format, true
		}
	case !numeric:
		return "", "", false
	}
	return n.typeNames(), name, !ok
}

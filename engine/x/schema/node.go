package schema

import (
	"math"
	"slices"
)

// node is one schema of the tree.
type node struct {
	// free: no value is wrong, here or below.
	free bool
	// types are the JSON types, as text for errors; none: any type.
	types    []string
	accept   kinds
	nullable bool
	format   string // as far as it is supported

	enum    *enum
	text    *text
	number  *number
	array   *array
	object  *object
	logic   *logic
	listMap []string // the keys of a list of type map

	// the structure
	properties    map[string]*node
	additional    *node // of values of fields that are no properties
	hasAdditional bool  // such fields are not pruned
	items         *node
	listType      listType
	isArray       bool // by type
	preserve      bool
	embedded      bool
	standard      *standard
	defaults      []named // properties with defaults

	// what there is here or below
	lists  bool    // sets and map lists
	listed []named // properties with such
	embeds bool    // embedded resources
}

type named struct {
	name string
	node *node
}

// child is the schema of a field; known is false where it would be pruned.
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

// kinds is a set of kinds of values as the type check tells them apart.
type kinds uint8

const (
	isNull kinds = 1 << iota
	isBool
	isString
	isInt
	isWhole    // a float64 that JSON would call an integer
	isFraction // one that it would not
	isList
	isMap
)

var allKinds = []kinds{isNull, isBool, isString, isInt, isWhole, isFraction, isList, isMap}

// kindOf is 0 for values that decoding JSON does not give.
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

// jsonInteger allows for the rounding errors that the API server allows.
func jsonInteger(f float64) bool {
	const most, epsilon = 1<<53 - 1, 1e-9
	if !(math.Abs(f) <= most) { // NaN too
		return false
	}
	rounded := math.Round(f)
	return f == rounded || math.Abs(f-rounded) < epsilon*math.Abs(rounded)
}

// jsonType is a kind's type in JSON schemas and its format in Go.
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

// mistyped tells whether values of a kind are of none of the node's types. The
// type wanted and the one found are in the words of the error. Strings and
// lists pass wherever a format is asked for that is not a number's.
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

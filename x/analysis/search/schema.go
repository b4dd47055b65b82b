package search

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
)

// A node is a position in a version's schema. d is its declaration for rules, or nil if rules cannot
// read it. s is nil for fields that the schema does not contain, such as metadata.name. Both are nil
// for an unknown field.
type node struct {
	s *schema.Structural
	d *types.Decl
}

func (n node) known() bool { return n.s != nil || n.d != nil }

func (n node) kind() string {
	switch {
	case n.s != nil && n.s.XIntOrString:
		return "intOrString"
	case n.s != nil && n.s.Type != "":
		return n.s.Type
	case n.d != nil && n.s == nil:
		return cmp.Or(declared[n.d.Kind], "string")
	}
	return ""
}

// declared maps kinds to schema types. All other kinds are strings.
var declared = map[types.Kind]string{
	types.Object: "object", types.Map: "object", types.List: "array",
	types.Bool: "boolean", types.Int: "integer", types.Double: "number",
}

func (n node) field(name string) node {
	var below node
	if n.s != nil {
		if prop, ok := n.s.Properties[name]; ok {
			below.s = &prop
		} else if n.s.AdditionalProperties != nil {
			below.s = n.s.AdditionalProperties.Structural
		}
	}
	if n.d == nil {
		return below
	}
	if f := n.d.Fields[name]; f != nil {
		below.d = f.Decl
	} else if n.d.Kind == types.Map {
		below.d = n.d.Elem
	}
	return below
}

func (n node) items() node {
	var below node
	if n.s != nil {
		below.s = n.s.Items
	}
	if n.d != nil {
		below.d = n.d.Elem
	}
	return below
}

func (n node) values() node {
	if !n.isMap() {
		return node{}
	}
	return n.field("")
}

func (n node) isMap() bool {
	return n.s != nil && n.s.AdditionalProperties != nil && n.s.AdditionalProperties.Structural != nil
}

func (n node) isList() bool { return n.kind() == "array" }

func (n node) step(s engine.Step) node {
	switch {
	case s.Any && n.isList(), s.Item && !n.isMap():
		return n.items()
	case s.Any, s.Item: // in a map, an Item is a key that looks like an index
		return n.values()
	}
	return n.field(s.Name)
}

func (n node) at(path []engine.Step) node {
	for _, s := range path {
		n = n.step(s)
	}
	return n
}

func (n node) names() []string {
	if n.s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(n.s.Properties))
}

func (n node) required() []string {
	if n.s == nil || n.s.ValueValidation == nil {
		return nil
	}
	return n.s.ValueValidation.Required
}

func (n node) nullable() bool { return n.s != nil && n.s.Nullable }

func (n node) hasDefault() bool { return n.s != nil && n.s.Default.Object != nil }

func (n node) listKeys() []string {
	if n.s == nil || n.s.XListType == nil || *n.s.XListType != "map" {
		return nil
	}
	return n.s.XListMapKeys
}

func (n node) isSet() bool {
	return n.s != nil && (n.s.XListType != nil && *n.s.XListType == "set" || n.s.ValueValidation != nil && n.s.ValueValidation.UniqueItems)
}

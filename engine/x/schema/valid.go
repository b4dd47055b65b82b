package schema

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// See doc.go for the precision of the result.
func (n *node) valid(value any, m *meter) bool {
	m.spend(perNode)
	if n.free {
		return true
	}
	ok := false
	switch v := value.(type) {
	case nil:
		return n.accept&isNull != 0 && n.enum == nil
	case string:
		ok = n.accept&isString != 0 && n.text.valid(v, m)
	case bool:
		ok = n.accept&isBool != 0
	case int64:
		ok = n.accept&isInt != 0 && n.number.validInt(v)
	case float64:
		ok = n.accept&kindOfFloat(v) != 0 && n.number.validFloat(v)
	case []any:
		ok = n.accept&isList != 0 && n.array.valid(v, m)
	case map[string]any:
		ok = n.accept&isMap != 0 && n.object.valid(v, m)
	}
	return ok && n.enum.has(value, m) && n.logic.valid(value, m)
}

type array struct {
	items    *node
	min, max *int64
	unique   bool
}

func newArray(n *node, p *apiextensionsv1.JSONSchemaProps) *array {
	a := &array{min: p.MinItems, max: p.MaxItems, unique: p.UniqueItems}
	if n.items != nil && !n.items.free {
		a.items = n.items
	}
	if *a == (array{}) {
		return nil
	}
	return a
}

func (a *array) valid(items []any, m *meter) bool {
	if a == nil {
		return true
	}
	size := int64(len(items))
	if a.min != nil && size < *a.min || a.max != nil && size > *a.max {
		return false
	}
	if a.items != nil {
		for _, item := range items {
			if !a.items.valid(item, m) {
				return false
			}
		}
	}
	return !a.unique || unique(items)
}

type object struct {
	min, max *int64
	required []string
	// fields are the properties with checks; known holds all properties.
	fields    []named
	known     map[string]*node
	rest      *node
	forbidden bool
}

func newObject(n *node, p *apiextensionsv1.JSONSchemaProps, properties []named) *object {
	o := &object{
		min: p.MinProperties, max: p.MaxProperties, required: p.Required,
		fields: slices.DeleteFunc(slices.Clone(properties), func(p named) bool { return p.node.free }), known: n.properties,
		forbidden: p.AdditionalProperties != nil && !p.AdditionalProperties.Allows,
	}
	if n.additional != nil && !n.additional.free && !o.forbidden {
		o.rest = n.additional
	}
	if o.min == nil && o.max == nil && len(o.required) == 0 && len(o.fields) == 0 && o.rest == nil && !o.forbidden {
		return nil
	}
	return o
}

func (o *object) valid(fields map[string]any, m *meter) bool {
	if o == nil {
		return true
	}
	size := int64(len(fields))
	if o.min != nil && size < *o.min || o.max != nil && size > *o.max {
		return false
	}
	for _, name := range o.required {
		if _, ok := fields[name]; !ok {
			return false
		}
	}
	if o.rest != nil || o.forbidden || len(o.fields) > 2*len(fields) {
		return o.validFields(fields, m)
	}
	for _, f := range o.fields {
		if v, ok := fields[f.name]; ok && !f.node.valid(v, m) {
			return false
		}
	}
	return true
}

// validFields looks up the schema of each field, not the field of each schema.
func (o *object) validFields(fields map[string]any, m *meter) bool {
	for name, v := range fields {
		n, ok := o.known[name]
		if !ok {
			if o.forbidden {
				return false
			}
			n = o.rest
		}
		if n != nil && !n.valid(v, m) {
			return false
		}
	}
	return true
}

func (l *logic) valid(v any, m *meter) bool {
	return l == nil || l.any(v, m) && l.one(v, m) && l.all(v, m) && (l.not == nil || !l.not.valid(v, m))
}

func (l *logic) any(v any, m *meter) bool {
	for _, n := range l.anyOf {
		if n.valid(v, m) {
			return true
		}
	}
	return len(l.anyOf) == 0
}

func (l *logic) one(v any, m *meter) bool {
	valid := 0
	for _, n := range l.oneOf {
		if n.valid(v, m) {
			valid++
		}
	}
	return valid == 1 || len(l.oneOf) == 0
}

func (l *logic) all(v any, m *meter) bool {
	for _, n := range l.allOf {
		if !n.valid(v, m) {
			return false
		}
	}
	return true
}

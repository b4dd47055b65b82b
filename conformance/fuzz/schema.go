package fuzz

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type props = apiextensionsv1.JSONSchemaProps

// names contains names that need no escaping, names that need it, and names that cannot be escaped.
var names = []string{
	"a", "b", "c", "size", "name", "items", "in", "namespace", "x-y", "x.y", "p/q", "u__v", "__z", "true", "for", "ünicode", "s p", "metadata", "status", "kind", "apiVersion",
}

var keys = []string{"k", "l", "m-n"}

func (c choice) rootSchema() *props {
	s := c.object(4)
	delete(s.Properties, "metadata")
	delete(s.Properties, "apiVersion")
	delete(s.Properties, "kind")
	s.Properties["spec"] = *c.object(3)
	s.Required = nil
	if c.one(2) {
		s.Properties["metadata"] = props{Type: "object"}
		s.Properties["apiVersion"] = props{Type: "string"}
		s.Properties["kind"] = props{Type: "string"}
	}
	if !c.one(3) {
		s.Properties["status"] = *c.object(2)
	}
	return s
}

func (c choice) object(depth int) *props {
	s := &props{Type: "object", Properties: map[string]props{}}
	for range 1 + c.IntN(5) {
		name := pick(c, names)
		s.Properties[name] = *c.node(depth - 1)
		if c.one(3) {
			s.Required = append(s.Required, name)
		}
	}
	s.Required = unique(s.Required)
	return s
}

func (c choice) node(depth int) *props {
	s := c.kind(depth)
	s.Nullable = c.one(6)
	chance := 6
	if c.lenient {
		chance = 40
	}
	if c.one(chance) {
		c.restrict(s)
	}
	if c.one(chance) {
		c.alternatives(s)
	}
	if c.one(8) {
		s.Default = c.defaultOf(s)
	}
	return s
}

func (c choice) kind(depth int) *props {
	if depth <= 0 || c.one(2) {
		return c.scalar()
	}
	switch c.IntN(10) {
	case 0, 1:
		return c.object(depth)
	case 2, 3, 7, 8:
		return c.mapOf(depth)
	case 4:
		return c.mapList(depth)
	case 5:
		return c.preserved(depth)
	case 6:
		return c.embedded(depth)
	}
	return c.list(depth)
}

func (c choice) scalar() *props {
	switch c.IntN(12) {
	case 0:
		return &props{Type: "boolean"}
	case 1, 2:
		return c.bounded(&props{Type: "integer"})
	case 3:
		return c.bounded(&props{Type: "number"})
	case 4:
		return &props{XIntOrString: true}
	case 5:
		return &props{Type: "string", Format: pick(c, []string{"byte", "date", "date-time", "duration"})}
	case 6:
		return &props{Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"a"`)}, {Raw: []byte(`"b"`)}, {Raw: []byte(`"1Gi"`)}}}
	case 7:
		return &props{Type: "string", Format: pick(c, []string{"ipv4", "uri", "hostname", "uuid", "email"})}
	}
	s := &props{Type: "string"}
	if c.one(2) {
		s.MaxLength = number(int64(1 + c.IntN(40)))
	}
	return s
}

func (c choice) bounded(s *props) *props {
	if c.one(4) {
		low := float64(-c.IntN(3))
		s.Minimum = &low
	}
	return s
}

func (c choice) list(depth int) *props {
	s := &props{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: c.node(depth - 1)}}
	if c.one(3) {
		s.MaxItems = number(int64(2 + c.IntN(4)))
	}
	switch c.IntN(3) {
	case 0:
		s.XListType = text("atomic")
	case 1:
		s.XListType = text("set")
		s.Items.Schema = c.scalar()
	}
	return s
}

func (c choice) mapList(depth int) *props {
	item := c.object(depth - 1)
	n := 1 + c.IntN(len(keys))
	for _, key := range keys[:n] {
		item.Properties[key] = *pick(c, []*props{{Type: "string"}, {Type: "string"}, {Type: "integer"}})
		item.Required = append(item.Required, key)
	}
	item.Required = unique(item.Required)
	return &props{
		Type:         "array",
		Items:        &apiextensionsv1.JSONSchemaPropsOrArray{Schema: item},
		XListType:    text("map"),
		XListMapKeys: keys[:n],
	}
}

func (c choice) mapOf(depth int) *props {
	s := &props{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: c.node(depth - 1)}}
	if c.one(3) {
		s.MaxProperties = number(int64(2 + c.IntN(4)))
	}
	return s
}

func (c choice) preserved(depth int) *props {
	yes := true
	switch c.IntN(3) {
	case 0:
		return &props{XPreserveUnknownFields: &yes}
	case 1:
		return &props{Type: "object", XPreserveUnknownFields: &yes}
	}
	s := c.object(depth - 1)
	s.XPreserveUnknownFields = &yes
	return s
}

func (c choice) embedded(depth int) *props {
	s := c.object(depth - 1)
	s.XEmbeddedResource = true
	delete(s.Properties, "metadata")
	delete(s.Properties, "apiVersion")
	delete(s.Properties, "kind")
	s.Properties["spec"] = *c.scalar()
	s.Required = nil
	return s
}

func unique(in []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range in {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func number(n int64) *int64 { return &n }
func text(s string) *string { return &s }

package brokencrd

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type change struct {
	name string
	// apply reports whether it found something to change.
	apply func(m *maker) bool
}

// changes holds all changes. Seeds select them by position, so add new changes at the end.
var changes = []change{
	{"one bound removed", func(m *maker) bool { return m.change(bounded, unbound) }},
	{"all bounds removed", func(m *maker) bool { eachNode(m.schema(), unbound); return true }},
	{"type changed", func(m *maker) bool {
		return m.change(scalar, func(s *schemaProps) { s.Type = pick(m, "integer", "boolean", "number", "object", "string", "array") })
	}},
	{"type invalid", func(m *maker) bool {
		return m.change(anyNode, func(s *schemaProps) { s.Type = pick(m, "strin", "null", "") })
	}},
	{"rule broken", func(m *maker) bool {
		return m.rule(func(r *aRule) { r.Rule += pick(m, " &&", ")", "\n", " + 1", ".foo", " || self.nope") })
	}},
	{"rule replaced", func(m *maker) bool {
		return m.rule(func(r *aRule) {
			r.Rule = pick(m, "", "  ", "self", "1 == 1", "true\n", "a\r&& b", "oldSelf == self", "int('x') > 0", "'a'.matches('(')", "'a'.find('(') == ''", "matches('a', '(')",
				"self.matches('(')", "string(self) == ''", "[1, 'a'].size() > 0", "duration('x') > duration('1s')", "timestamp(string('x')) == timestamp('2020-01-01T00:00:00Z')",
				"self == oldSelf.orValue(self)", "oldSelf.hasValue()", "Foo{} == 1", "dyn(self) == self", "type(self) == string", "size(self) > 1", "self.all(x, self.all(y, x == y))", "isIP('::1') && isSemver('1.2.3')",
				"self.all(x, size(x) > 0)", "has(self.nope)", "[?optional.of(1)].size() == 1", "[?1].size() == 1", "'%d'.format(['a']) == ''", "bytes('a') == b'a'", "uint(-1) == 1u", "quantity('x').isGreaterThan(quantity('1'))")
		})
	}},
	{"message", func(m *maker) bool {
		return m.rule(func(r *aRule) { r.Message = pick(m, " ", "a\nb", "", "x", "a\rb\n") })
	}},
	{"messageExpression", func(m *maker) bool {
		return m.rule(func(r *aRule) {
			r.MessageExpression = pick(m, " ", "'a'", "1", "'a' +", "string(1)", "string(self)", "'x' + self.nope", "string(oldSelf)", "string(size('a'))", "self", "string(int('x'))", "true ? 'a' : 'b'")
		})
	}},
	{"fieldPath", func(m *maker) bool {
		return m.rule(func(r *aRule) {
			r.FieldPath = pick(m, ".nope", " ", "a\nb", "['x']", ".spec", "spec", ".items[0]", "..", ".metadata.name")
		})
	}},
	{"reason", func(m *maker) bool {
		return m.rule(func(r *aRule) {
			r.Reason = ptr(apiextensionsv1.FieldValueErrorReason(pick(m, "Nope", "", "FieldValueForbidden", "FieldValueRequired")))
		})
	}},
	{"optionalOldSelf", func(m *maker) bool { return m.rule(func(r *aRule) { r.OptionalOldSelf = ptr(m.IntN(2) == 0) }) }},
	{"oldSelf in a list", func(m *maker) bool {
		return m.change(list, func(s *schemaProps) {
			s.XListType = ptr(pick(m, "set", "atomic", "map", "granular"))
			s.Items.Schema.XValidations = append(s.Items.Schema.XValidations, aRule{Rule: "self == oldSelf"})
		})
	}},
	{"atomic map", func(m *maker) bool {
		return m.change(object, func(s *schemaProps) {
			s.XMapType = ptr(pick(m, "atomic", "granular", "x"))
			for name, p := range s.Properties {
				p.XValidations = append(p.XValidations, aRule{Rule: "self == oldSelf"})
				s.Properties[name] = p
			}
		})
	}},
	{"default spoilt", func(m *maker) bool {
		return m.change(anyNode, func(s *schemaProps) {
			s.Default = raw(pick(m, `"x"`, `1`, `{}`, `{"nope":1}`, `[]`, `[1]`, `null`, `true`, `["a","a"]`))
		})
	}},
	{"default refused by a rule", func(m *maker) bool {
		return m.change(anyNode, func(s *schemaProps) {
			s.Default = raw(map[string]string{"string": `"x"`, "integer": `1`, "boolean": `true`, "array": `[]`, "object": `{}`, "number": "1.5"}[s.Type])
			if len(s.Default.Raw) == 0 {
				s.Default = nil
			}
			s.XValidations = append(s.XValidations, aRule{Rule: pick(m, "false", "self == self", "oldSelf.hasValue()", "self.nope", "'a'.matches(string(self))"), OptionalOldSelf: pick(m, nil, nil, ptr(true))})
		})
	}},
	{"rules on metadata", func(m *maker) bool {
		s := m.schema()
		if s.Properties == nil {
			return false
		}
		meta := s.Properties["metadata"]
		meta.Type = "object"
		switch m.IntN(3) {
		case 0:
			meta.XValidations = []aRule{{Rule: "true"}}
		case 1:
			meta.Properties = map[string]schemaProps{"name": {Type: "string", MaxLength: ptr(int64(20)), XValidations: []aRule{{Rule: "self == 'x'"}}}}
		case 2:
			meta.Properties = map[string]schemaProps{"labels": {Type: "object", XValidations: []aRule{{Rule: "self == 'x'"}}}}
		}
		s.Properties["metadata"] = meta
		return true
	}},
	{"nested rules", func(m *maker) bool {
		return m.change(anyNode, func(s *schemaProps) {
			sub := schemaProps{XValidations: []aRule{{Rule: pick(m, "true", "", "self.nope"), Message: pick(m, "", " ")}}}
			switch m.IntN(5) {
			case 0:
				s.AllOf = append(s.AllOf, sub)
			case 1:
				s.Not = &sub
			case 2:
				s.AnyOf = append(s.AnyOf, schemaProps{Properties: map[string]schemaProps{"a": sub}})
			case 3:
				s.OneOf = append(s.OneOf, schemaProps{Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &sub}})
			case 4:
				s.Definitions = apiextensionsv1.JSONSchemaDefinitions{"a": sub}
			}
		})
	}},
	{"list extras", func(m *maker) bool {
		return m.change(list, func(s *schemaProps) {
			switch m.IntN(6) {
			case 0:
				s.UniqueItems = true
			case 1:
				s.Items = nil
			case 2:
				s.Items.Schema.Nullable = true
				s.XListType = ptr("set")
			case 3:
				s.XListType, s.XListMapKeys = ptr("map"), []string{"name"}
			case 4:
				s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{JSONSchemas: []schemaProps{*s.Items.Schema}}
			case 5:
				s.Items.Schema.Type, s.Items.Schema.Properties = "", nil
				s.Items.Schema.XPreserveUnknownFields = ptr(true)
				s.XValidations = append(s.XValidations, aRule{Rule: "true"})
			}
		})
	}},
	{"node extras", func(m *maker) bool {
		return m.change(anyNode, func(s *schemaProps) {
			switch m.IntN(8) {
			case 0:
				s.XPreserveUnknownFields = ptr(false)
			case 1:
				s.Pattern = "("
			case 2:
				s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &schemaProps{Type: "string", XValidations: []aRule{{Rule: "self == ''"}}}}
			case 3:
				s.ID = "x"
			case 4:
				s.Nullable = true
			case 5:
				s.Format = pick(m, "nope", "date", "date-time", "duration", "byte", "int32")
			case 6:
				s.Type, s.XIntOrString = "", true
				s.XValidations = append(s.XValidations, aRule{Rule: "self == 1 || self == 'a'"})
			case 7:
				s.XEmbeddedResource = true
			}
		})
	}},
	{"odd names", func(m *maker) bool {
		return m.change(object, func(s *schemaProps) {
			name := pick(m, "a-b", "a.b", "with space", "ü", "namespace", "__x__", "a/b", "]", "true")
			s.Properties[name] = schemaProps{Type: "string", MaxLength: ptr(int64(3)), XValidations: []aRule{{Rule: "self == 'a'"}}}
			if m.IntN(2) == 0 {
				s.XValidations = append(s.XValidations, aRule{Rule: pick(m, "has(self.a__dash__b)", "self.namespace == ''", "self.__namespace__ == ''", "self.a__dot__b == ''")})
			}
		})
	}},
	{"alike", func(m *maker) bool {
		return m.change(object, func(s *schemaProps) {
			names := slices.Sorted(maps.Keys(s.Properties))
			one := s.Properties[names[m.IntN(len(names))]]
			s.Properties["one"], s.Properties["other"] = *one.DeepCopy(), *one.DeepCopy()
			s.XValidations = append(s.XValidations, aRule{Rule: pick(m, "has(self.one) && has(self.other) && self.one == self.other", "has(self.one) && self.one in [self.other]",
				"has(self.one) && dyn(self.one) == self.other", "self.?one == self.?other", "[self.one] != [self.other]", "has(self.one) && self.one == oldSelf.one")})
		})
	}},
	{"hidden node", func(m *maker) bool {
		return m.change(object, func(s *schemaProps) {
			s.Properties["hidden"] = schemaProps{XPreserveUnknownFields: ptr(true), XValidations: []aRule{{Rule: pick(m, "true", "self == self")}}}
		})
	}},
	{"expensive", func(m *maker) bool {
		return m.add(list, aRule{Rule: pick(m, "self.all(x, self.exists_one(y, x == y))", "self.all(x, string(x).matches('a'))", "self.map(x, x).size() >= 0", "true"), MessageExpression: pick(m, "", "string(self)", "self.map(x, string(x)).join(',')")})
	}},
	{"CRD", func(m *maker) bool {
		spec := &m.crd.Spec
		switch m.IntN(9) {
		case 0:
			m.crd.Name = "x.y"
		case 1:
			spec.Group = "x"
		case 2:
			spec.Scope = "Nope"
		case 3:
			spec.Versions[0].Storage = !spec.Versions[0].Storage
		case 4:
			spec.PreserveUnknownFields = true
		case 5:
			v := *spec.Versions[0].DeepCopy()
			v.Name, v.Storage = pick(m, "v9", v.Name), false
			spec.Versions = append(spec.Versions, v)
		case 6:
			v := *spec.Versions[0].DeepCopy()
			v.Name, v.Storage = "v9", false
			v.Schema.OpenAPIV3Schema.XValidations = append(v.Schema.OpenAPIV3Schema.XValidations, aRule{Rule: "true"})
			spec.Versions = append(spec.Versions, v)
		case 7:
			spec.Versions[0].SelectableFields = []apiextensionsv1.SelectableField{{JSONPath: pick(m, ".spec.nope", ".metadata.name", ".spec")}}
		case 8:
			spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: pick(m, apiextensionsv1.WebhookConverter, "Nope")}
		}
		return true
	}},
	{"root", func(m *maker) bool {
		s := m.schema()
		s.XValidations = append(s.XValidations, aRule{Rule: pick(m, "self.metadata.name == 'x'", "size(self.metadata.generateName) < 5", "self.kind == 'x'", "self.metadata.labels.size() == 0")})
		switch m.IntN(3) {
		case 0:
			s.XMapType = ptr("atomic")
		case 1:
			s.Nullable = true
		}
		return true
	}},
	{"embedded", func(m *maker) bool {
		return m.change(object, func(s *schemaProps) {
			s.Properties["embedded"] = schemaProps{
				Type: "object", XEmbeddedResource: true, XPreserveUnknownFields: ptr(true),
				Default:      pick(m, nil, raw(`{"apiVersion":"v1","kind":"X","metadata":{"name":"a"}}`), raw(`{"apiVersion":"v1","kind":"X"}`), raw(`{}`)),
				XValidations: []aRule{{Rule: pick(m, "self.metadata.name == 'b'", "self.kind == 'X'", "true")}},
				Properties:   map[string]schemaProps{"kind": {Type: "string", Default: pick(m, nil, raw(`"X"`)), XValidations: []aRule{{Rule: pick(m, "self == 'X'", "self == 'Y'")}}}},
			}
		})
	}},
}

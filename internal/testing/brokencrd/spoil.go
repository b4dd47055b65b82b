package brokencrd

import (
	"math/rand/v2"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Spoil makes a random change to a node of a CRD's schemas, or to its versions. The API server
// might reject the result.
func Spoil(r *rand.Rand, crd *apiextensionsv1.CustomResourceDefinition) {
	if r.IntN(10) == 0 && len(crd.Spec.Versions) > 0 {
		spoilVersion(r, crd)
		return
	}
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	raw := func(list ...string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(pick(list...))} }
	number := func() *float64 { return ptr(float64(r.IntN(20) - 5)) }
	bound := func() *float64 {
		return []*float64{nil, nil, ptr(0.0), ptr(0.5), ptr(10.0), ptr(10.5), ptr(-3.0), ptr(3e9), ptr(float64(1 << 53)), ptr(1e19), ptr(-1e19)}[r.IntN(11)]
	}
	size := func() *int64 { return ptr(int64(r.IntN(12) - 2)) }
	type props = schemaProps
	sub := func() props {
		s := props{Type: pick("", "", "string", "object", "integer")}
		if r.IntN(2) == 0 {
			s.Required = []string{pick("a", "name", "spec")}
		}
		if r.IntN(3) == 0 {
			s.Properties = map[string]props{pick("a", "name", "spec", "metadata"): {Pattern: pick("", "[", "a")}}
		}
		return s
	}
	edit := func(s *props) {
		switch r.IntN(38) {
		case 0:
			s.Type = pick("", "string", "integer", "number", "boolean", "object", "array", "null", "x")
		case 1, 2, 3, 4:
			s.Default = raw(`""`, `"a"`, `"TCP"`, `1`, `-7`, `99999999999`, `1.5`, `true`, `null`, `[]`, `{}`, `[1]`, `{"a":1}`, `"2020-01-01"`)
		case 5:
			s.Nullable = !s.Nullable
		case 6:
			s.Pattern = pick("", "[", "(", "^a*$", `\d`, "(?<n>a)", "a{1001}", `\Z`)
		case 7:
			s.XListType = ptr(pick("set", "map", "atomic", "granular", ""))
		case 8:
			s.XListMapKeys = []string{pick("name", "type", "a"), pick("name", "key", "b")}[:1+r.IntN(2)]
		case 9:
			s.XMapType = ptr(pick("atomic", "granular", "set", ""))
		case 10:
			s.XPreserveUnknownFields = ptr(r.IntN(4) > 0)
		case 11:
			s.XEmbeddedResource = true
		case 12:
			s.XIntOrString = true
		case 13:
			s.XIntOrString, s.Type, s.AnyOf = true, pick("", "", "string"), []props{{Type: "integer"}, {Type: pick("string", "number")}}
		case 14:
			s.AnyOf = []props{sub(), sub()}
		case 15:
			s.AllOf = []props{sub()}
		case 16:
			s.OneOf = []props{sub(), sub()}
		case 17:
			n := sub()
			s.Not = &n
		case 18:
			s.Items = nil
		case 19:
			n := sub()
			s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &n}
		case 20:
			n := sub()
			s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: r.IntN(2) == 0, Schema: &n}
		case 21:
			s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: r.IntN(2) == 0}
		case 22:
			s.Properties = nil
		case 23:
			if s.Properties == nil {
				s.Properties = map[string]props{}
			}
			s.Properties[pick("metadata", "kind", "apiVersion", "name", "a", "x y")] = sub()
		case 24:
			s.Enum = []apiextensionsv1.JSON{*raw(`"a"`, `1`, `null`), *raw(`"TCP"`, `true`, `"a"`)}
		case 25:
			s.Minimum, s.Maximum, s.ExclusiveMinimum = number(), number(), r.IntN(3) == 0
		case 26:
			s.MinLength, s.MaxLength = size(), size()
		case 27:
			s.Format = pick("date", "int32", "int64", "byte", "nope", "uuid", "float")
		case 28:
			s.UniqueItems = true
		case 29:
			s.MultipleOf = number()
		case 30:
			s.ID, s.Title = pick("", "a"), "t"
		case 31:
			s.Ref = ptr(pick("", "#/a"))
		case 32:
			s.MinItems, s.MaxProperties = size(), size()
		case 33:
			s.Example, s.ExternalDocs = raw(`1`), &apiextensionsv1.ExternalDocumentation{URL: "a"}
		case 34:
			name := props{Type: "string", Format: pick("", "date"), MaxLength: size(), Pattern: pick("", "a")}
			s.Type, s.XEmbeddedResource = "object", r.IntN(4) > 0
			s.Properties = map[string]props{"kind": {Type: "string"}, "apiVersion": {Type: pick("string", "string", "integer")}, "metadata": {Type: "object", Properties: map[string]props{"name": name, "generateName": {Type: "string"}}}}
		case 35, 36: // a default with bounds that may not apply to its type
			s.Type, s.Format = pick("integer", "integer", "number", "string"), pick("", "", "int32", "int64", "float")
			s.Default = raw(`5`, `1.5`, `"a"`, `3000000000`, `99999999999`, `-0.0`, `1e3`)
			s.Minimum, s.Maximum, s.MultipleOf, s.ExclusiveMaximum = bound(), bound(), bound(), r.IntN(3) == 0
		case 37: // set, but empty
			s.Definitions, s.PatternProperties, s.Enum, s.Required = apiextensionsv1.JSONSchemaDefinitions{}, map[string]props{}, []apiextensionsv1.JSON{}, []string{}
		}
	}
	n := 0
	EachSchema(crd, func(*props) { n++ })
	if n == 0 {
		return
	}
	at := r.IntN(n)
	EachSchema(crd, func(s *props) {
		if at--; at == -1 {
			edit(s)
		}
	})
}

// The schema of the added version differs slightly or not at all.
func spoilVersion(r *rand.Rand, crd *apiextensionsv1.CustomResourceDefinition) {
	versions := crd.Spec.Versions
	at := r.IntN(len(versions))
	if r.IntN(2) == 0 {
		path := []string{".spec.type", ".spec.name", ".spec", ".metadata.name", ".spec.nope", "spec.type", ""}[r.IntN(7)]
		versions[at].SelectableFields = append(versions[at].SelectableFields, apiextensionsv1.SelectableField{JSONPath: path})
		return
	}
	second := *versions[at].DeepCopy()
	second.Name, second.Storage = "v9spoilt", false
	crd.Spec.Versions = append(versions, second)
	if second.Schema == nil || r.IntN(4) == 0 {
		return
	}
	different := r.IntN(3) == 0
	eachNode(second.Schema.OpenAPIV3Schema, func(s *schemaProps) {
		switch {
		case s.Default != nil && len(s.Default.Raw) > 0:
			s.Default.Raw = append([]byte(" "), s.Default.Raw...) // an equal value
		case different && s.MaxLength == nil && s.Type == "string":
			s.MaxLength, different = ptr(int64(100)), false
		}
	})
}

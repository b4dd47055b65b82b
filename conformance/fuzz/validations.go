package fuzz

import (
	"encoding/json"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func (c choice) restrict(s *props) {
	switch {
	case s.Type == "string" || s.XIntOrString:
		c.restrictString(s)
	case s.Type == "integer":
		c.restrictNumber(s, []float64{2, 3})
	case s.Type == "number":
		c.restrictNumber(s, []float64{0.5, 1.5})
	case s.Type == "array":
		if c.one(2) {
			s.MinItems = number(int64(c.IntN(3)))
		} else {
			s.MaxItems = number(int64(1 + c.IntN(4)))
		}
	case s.Type == "object" && len(s.Properties) > 0 && c.one(2):
		s.Required = unique(append(s.Required, pick(c, slices.Sorted(maps.Keys(s.Properties)))))
	case s.Type == "object":
		if c.one(2) {
			s.MinProperties = number(int64(c.IntN(3)))
		} else {
			s.MaxProperties = number(int64(1 + c.IntN(4)))
		}
	}
}

func (c choice) restrictString(s *props) {
	switch c.IntN(4) {
	case 0:
		s.MinLength = number(int64(1 + c.IntN(2)))
	case 1:
		s.MaxLength = number(int64(1 + c.IntN(6)))
	case 2:
		s.Pattern = pick(c, []string{"^[a-z]", "^$|b", `\d$`, "^.{0,8}$"})
	case 3:
		s.Enum = c.values(words[:6])
	}
}

func (c choice) restrictNumber(s *props, multiples []float64) {
	limit := float64(c.IntN(12) - 1)
	switch c.IntN(4) {
	case 0:
		s.Minimum, s.ExclusiveMinimum = &limit, c.one(2)
	case 1:
		s.Maximum, s.ExclusiveMaximum = &limit, c.one(2)
	case 2:
		step := pick(c, multiples)
		s.MultipleOf = &step
	case 3:
		s.Enum = c.values([]any{0, 1, 2, 3, 10})
	}
}

func (c choice) values(of any) []apiextensionsv1.JSON {
	var all []json.RawMessage
	if err := json.Unmarshal(mustJSON(of), &all); err != nil {
		panic(err) // the value was encoded above
	}
	out := make([]apiextensionsv1.JSON, 1+c.IntN(len(all)))
	for i := range out {
		out[i].Raw = all[i]
	}
	return out
}

func (c choice) alternatives(s *props) {
	nested := func() props { return c.nested(s, 2) }
	switch c.IntN(4) {
	case 0:
		s.AllOf = append(s.AllOf, nested(), nested())
	case 1:
		s.AnyOf = append(s.AnyOf, nested(), nested())
	case 2:
		s.OneOf = append(s.OneOf, nested(), nested(), nested())
	case 3:
		not := nested()
		s.Not = &not
	}
}

// nested returns only validations, because a structural schema does not allow types in them.
func (c choice) nested(of *props, depth int) props {
	in := props{Type: of.Type, XIntOrString: of.XIntOrString, Properties: of.Properties}
	c.restrict(&in)
	in.Type, in.XIntOrString, in.Properties = "", false, nil
	names := slices.Sorted(maps.Keys(of.Properties))
	if depth > 0 && len(names) > 0 && c.one(2) {
		name := pick(c, names)
		prop := of.Properties[name]
		in.Properties = map[string]props{name: c.nested(&prop, depth-1)}
	}
	if depth > 0 && of.Items != nil && of.Items.Schema != nil && c.one(2) {
		item := c.nested(of.Items.Schema, depth-1)
		in.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item}
	}
	return in
}

func (c choice) defaultOf(s *props) *apiextensionsv1.JSON {
	return &apiextensionsv1.JSON{Raw: mustJSON(c.value(s, pick(c, []int{0, 0, 0, 10})))}
}

func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // values consist of JSON types
	}
	return data
}

package structural

import (
	"slices"
	"unicode/utf8"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// Node returns the structural schema that schema.NewStructural returns for the internal version of s, without creating
// the internal version, which is slow. The result shares memory with s.
// TestNode compares it with upstream's two steps.
func Node(s *apiextensionsv1.JSONSchemaProps) (*schema.Structural, error) {
	return (&maker{}).node(s)
}

type maker struct {
	// scratches holds the working memory for the current property at each depth.
	scratches []*scratch
	depth     int
}

type scratch struct {
	prop apiextensionsv1.JSONSchemaProps
	sub  schema.Structural
}

func (m *maker) enter() *scratch {
	if m.depth == len(m.scratches) {
		m.scratches = append(m.scratches, &scratch{})
	}
	m.depth++
	return m.scratches[m.depth-1]
}

func (m *maker) node(s *apiextensionsv1.JSONSchemaProps) (*schema.Structural, error) {
	out := new(schema.Structural)
	if err := m.fill(s, out); err != nil {
		return nil, err
	}
	return out, nil
}

func (m *maker) fill(s *apiextensionsv1.JSONSchemaProps, out *schema.Structural) (err error) {
	if unusual(s) {
		err = byUpstream(s, out)
	} else {
		err = m.itself(s, out)
	}
	if err != nil {
		return err
	}
	if s.Items != nil && s.Items.Schema != nil {
		if out.Items, err = m.node(s.Items.Schema); err != nil {
			return err
		}
	}
	if len(s.Properties) > 0 {
		if err := m.properties(s, out); err != nil {
			return err
		}
	}
	if values := s.AdditionalProperties; values != nil {
		out.AdditionalProperties = &schema.StructuralOrBool{Bool: values.Allows || values.Schema != nil}
		if values.Schema != nil {
			out.AdditionalProperties.Structural, err = m.node(values.Schema)
		}
	}
	return err
}

func (m *maker) properties(s *apiextensionsv1.JSONSchemaProps, out *schema.Structural) error {
	r := m.enter()
	defer func() { m.depth-- }()
	out.Properties = make(map[string]schema.Structural, len(s.Properties))
	for name := range s.Properties {
		r.prop, r.sub = s.Properties[name], schema.Structural{}
		if err := m.fill(&r.prop, &r.sub); err != nil {
			return err
		}
		out.Properties[name] = r.sub
	}
	return nil
}

func unusual(s *apiextensionsv1.JSONSchemaProps) bool {
	return s.ID != "" || s.Schema != "" || s.Ref != nil || len(s.PatternProperties) > 0 || len(s.Dependencies) > 0 ||
		s.AdditionalItems != nil || len(s.Definitions) > 0 || s.ExternalDocs != nil || s.Example != nil ||
		len(s.AllOf) > 0 || len(s.AnyOf) > 0 || len(s.OneOf) > 0 || s.Not != nil ||
		s.Items != nil && len(s.Items.JSONSchemas) > 0 || s.XPreserveUnknownFields != nil && !*s.XPreserveUnknownFields
}

func byUpstream(s *apiextensionsv1.JSONSchemaProps, out *schema.Structural) error {
	alone := *s
	alone.Properties = nil
	if s.Items != nil && len(s.Items.JSONSchemas) == 0 {
		alone.Items = nil
	}
	if s.AdditionalProperties != nil {
		alone.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: s.AdditionalProperties.Allows}
	}
	props := new(apiextensions.JSONSchemaProps)
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&alone, props, nil); err != nil {
		return err
	}
	node, err := schema.NewStructural(props)
	if err != nil {
		return err
	}
	*out = *node
	return nil
}

func (m *maker) itself(s *apiextensionsv1.JSONSchemaProps, out *schema.Structural) error {
	out.Generic = schema.Generic{Description: s.Description, Type: s.Type, Title: s.Title, Nullable: s.Nullable}
	if s.Default != nil {
		value, err := decoded(s.Default)
		if err != nil {
			return err
		}
		out.Default = value
	}
	out.Extensions = schema.Extensions{
		XPreserveUnknownFields: s.XPreserveUnknownFields != nil,
		XEmbeddedResource:      s.XEmbeddedResource,
		XIntOrString:           s.XIntOrString,
		XListMapKeys:           s.XListMapKeys,
		XListType:              s.XListType,
		XMapType:               s.XMapType,
	}
	out.XValidations = s.XValidations
	v := &schema.ValueValidation{
		Format: s.Format, Pattern: s.Pattern,
		Maximum: s.Maximum, ExclusiveMaximum: s.ExclusiveMaximum, Minimum: s.Minimum, ExclusiveMinimum: s.ExclusiveMinimum, MultipleOf: s.MultipleOf,
		MaxLength: s.MaxLength, MinLength: s.MinLength, MaxItems: s.MaxItems, MinItems: s.MinItems, UniqueItems: s.UniqueItems,
		MaxProperties: s.MaxProperties, MinProperties: s.MinProperties, Required: s.Required,
	}
	if len(s.Enum) > 0 {
		v.Enum = make([]schema.JSON, len(s.Enum))
	}
	for i := range s.Enum {
		value, err := decoded(&s.Enum[i])
		if err != nil {
			return err
		}
		v.Enum[i] = value
	}
	out.ValueValidation = v
	return nil
}

func decoded(raw *apiextensionsv1.JSON) (schema.JSON, error) {
	if plainText(raw.Raw) {
		return schema.JSON{Object: string(raw.Raw[1 : len(raw.Raw)-1])}, nil
	}
	var value apiextensions.JSON
	err := apiextensionsv1.Convert_v1_JSON_To_apiextensions_JSON(raw, &value, nil)
	return schema.JSON{Object: value}, err
}

// plainText reports whether raw is a JSON string without escapes, so that its content is its value.
func plainText(raw []byte) bool {
	last := len(raw) - 1
	if last < 1 || raw[0] != '"' || raw[last] != '"' {
		return false
	}
	return !slices.ContainsFunc(raw[1:last], func(c byte) bool { return c < ' ' || c == '"' || c == '\\' }) && utf8.Valid(raw[1:last])
}

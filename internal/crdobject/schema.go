package crdobject

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type props = apiextensionsv1.JSONSchemaProps

// A converter converts schemas. If failed is set, its results have no meaning.
type converter struct {
	copies    map[string]string // of strings; nil if strings are shared and descriptions kept
	inJunctor bool              // where descriptions are kept
	left      int               // bytes of JSON without descriptions
	failed    bool
}

// Upper limits for the JSON of parts of a schema, in bytes.
const (
	maxNumber  = 25
	maxEscaped = 6 // of a byte in a string
	around     = 4 // quotes, a colon, and a comma
)

// spend counts n bytes of JSON.
func (c *converter) spend(n int) {
	if c.left -= n; c.left < 0 {
		c.failed = true
	}
}

func (c *converter) schema(of map[string]any) *props {
	s := &props{}
	c.fill(s, of)
	return s
}

// fill sets the fields of s to those of a schema.
func (c *converter) fill(s *props, of map[string]any) {
	c.spend(around)
	for key, v := range of {
		if c.failed {
			return
		}
		if key == "description" {
			if c.copies == nil || c.inJunctor {
				s.Description = c.plain(v)
			} else if _, ok := v.(string); !ok {
				c.failed = true
			}
			continue
		}
		c.spend(len(key) + around)
		if !c.value(s, key, v) && !c.bound(s, key, v) && !c.extension(s, key, v) {
			c.failed = true
		}
	}
}

// value sets a field that describes a value or the schemas below it, and reports whether key is such a field.
func (c *converter) value(s *props, key string, v any) bool {
	switch key {
	case "type":
		s.Type = c.text(v)
	case "format":
		s.Format = c.text(v)
	case "title":
		s.Title = c.text(v)
	case "nullable":
		s.Nullable = c.flag(v)
	case "default":
		s.Default = &apiextensionsv1.JSON{}
		c.json(s.Default, v)
	case "enum":
		list := c.list(v)
		s.Enum = make([]apiextensionsv1.JSON, len(list))
		for i := range list {
			c.json(&s.Enum[i], list[i])
		}
	case "properties":
		properties := c.object(v)
		s.Properties = make(map[string]props, len(properties))
		for name, property := range properties {
			s.Properties[c.text(name)] = *c.schema(c.object(property))
		}
	case "items":
		s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: c.schema(c.object(v))}
	case "additionalProperties":
		s.AdditionalProperties = c.schemaOrBool(v)
	case "allOf":
		s.AllOf = c.junctor(v)
	case "anyOf":
		s.AnyOf = c.junctor(v)
	case "oneOf":
		s.OneOf = c.junctor(v)
	case "not":
		defer c.enterJunctor()()
		s.Not = c.schema(c.object(v))
	default:
		return false
	}
	return true
}

// bound sets a field that limits a value, and reports whether key is such a field.
func (c *converter) bound(s *props, key string, v any) bool {
	switch key {
	case "maximum":
		s.Maximum = c.number(v)
	case "minimum":
		s.Minimum = c.number(v)
	case "multipleOf":
		s.MultipleOf = c.number(v)
	case "exclusiveMaximum":
		s.ExclusiveMaximum = c.flag(v)
	case "exclusiveMinimum":
		s.ExclusiveMinimum = c.flag(v)
	case "maxLength":
		s.MaxLength = c.integer(v)
	case "minLength":
		s.MinLength = c.integer(v)
	case "pattern":
		s.Pattern = c.text(v)
	case "maxItems":
		s.MaxItems = c.integer(v)
	case "minItems":
		s.MinItems = c.integer(v)
	case "uniqueItems":
		s.UniqueItems = c.flag(v)
	case "maxProperties":
		s.MaxProperties = c.integer(v)
	case "minProperties":
		s.MinProperties = c.integer(v)
	case "required":
		s.Required = c.texts(v)
	default:
		return false
	}
	return true
}

// extension sets a field of Kubernetes, and reports whether key is such a field.
func (c *converter) extension(s *props, key string, v any) bool {
	switch key {
	case "x-kubernetes-preserve-unknown-fields":
		preserve := c.flag(v)
		s.XPreserveUnknownFields = &preserve
	case "x-kubernetes-embedded-resource":
		s.XEmbeddedResource = c.flag(v)
	case "x-kubernetes-int-or-string":
		s.XIntOrString = c.flag(v)
	case "x-kubernetes-list-map-keys":
		s.XListMapKeys = c.texts(v)
	case "x-kubernetes-list-type":
		kind := c.text(v)
		s.XListType = &kind
	case "x-kubernetes-map-type":
		kind := c.text(v)
		s.XMapType = &kind
	case "x-kubernetes-validations":
		list := c.list(v)
		s.XValidations = make(apiextensionsv1.ValidationRules, len(list))
		for i := range list {
			c.rule(&s.XValidations[i], c.object(list[i]))
		}
	default:
		return false
	}
	return true
}

func (c *converter) rule(r *apiextensionsv1.ValidationRule, of map[string]any) {
	for key, v := range of {
		c.spend(len(key) + around)
		switch key {
		case "rule":
			r.Rule = c.text(v)
		case "message":
			r.Message = c.text(v)
		case "messageExpression":
			r.MessageExpression = c.text(v)
		case "reason":
			reason := apiextensionsv1.FieldValueErrorReason(c.text(v))
			r.Reason = &reason
		case "fieldPath":
			r.FieldPath = c.text(v)
		case "optionalOldSelf":
			optional := c.flag(v)
			r.OptionalOldSelf = &optional
		default:
			c.failed = true
		}
	}
}

func (c *converter) schemaOrBool(v any) *apiextensionsv1.JSONSchemaPropsOrBool {
	if allows, ok := v.(bool); ok {
		return &apiextensionsv1.JSONSchemaPropsOrBool{Allows: allows}
	}
	return &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: c.schema(c.object(v))}
}

func (c *converter) junctor(v any) []props {
	defer c.enterJunctor()()
	list := c.list(v)
	all := make([]props, len(list))
	for i := range list {
		c.fill(&all[i], c.object(list[i]))
	}
	return all
}

func (c *converter) enterJunctor() (leave func()) {
	before := c.inJunctor
	c.inJunctor = true
	return func() { c.inJunctor = before }
}

// json sets the JSON of a value, which must not be null.
func (c *converter) json(to *apiextensionsv1.JSON, v any) {
	data, err := json.Marshal(v)
	if err != nil || v == nil {
		c.failed = true
	}
	c.spend(len(data) + 1)
	to.Raw = data
}

func (c *converter) text(v any) string {
	s := c.plain(v)
	c.spend(maxEscaped*len(s) + around)
	return s
}

// plain returns a string without counting it.
func (c *converter) plain(v any) string {
	s, ok := v.(string)
	c.failed = c.failed || !ok || !utf8.ValidString(s)
	if c.copies == nil {
		return s
	}
	kept, ok := c.copies[s]
	if !ok {
		kept = strings.Clone(s)
		c.copies[kept] = kept
	}
	return kept
}

func (c *converter) texts(v any) []string {
	list := c.list(v)
	all := make([]string, len(list))
	for i := range list {
		all[i] = c.text(list[i])
	}
	return all
}

func (c *converter) flag(v any) bool {
	b, ok := v.(bool)
	c.failed = c.failed || !ok
	return b
}

func (c *converter) integer(v any) *int64 {
	i, ok := v.(int64)
	c.failed = c.failed || !ok
	c.spend(maxNumber)
	return &i
}

func (c *converter) number(v any) *float64 {
	f, ok := v.(float64)
	if i, isInt := v.(int64); isInt {
		f, ok = float64(i), true
	}
	c.failed = c.failed || !ok
	c.spend(maxNumber)
	return &f
}

func (c *converter) object(v any) map[string]any {
	m, ok := v.(map[string]any)
	c.failed = c.failed || !ok
	return m
}

func (c *converter) list(v any) []any {
	l, ok := v.([]any)
	c.failed = c.failed || !ok
	return l
}

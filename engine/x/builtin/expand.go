package builtin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// A definition is a schema in a file. A definition with Ref has nothing else, except for Default.
type definition struct {
	Ref         string                 `json:"ref"`
	Type        string                 `json:"type"`
	Format      string                 `json:"format"`
	Properties  map[string]*definition `json:"properties"`
	Required    []string               `json:"required"`
	Items       *definition            `json:"items"`
	Values      *definition            `json:"additionalProperties"`
	Default     json.RawMessage        `json:"default"`
	ListType    string                 `json:"listType"`
	ListKeys    []string               `json:"listMapKeys"`
	MapType     string                 `json:"mapType"`
	IntOrString bool                   `json:"intOrString"`
}

// defaults maps the paths of a kind's fields to their defaults. In a path, a dot precedes each
// property, [] means the items of a list, and {} means the values of a map, as in
// .spec.containers[].terminationMessagePath.
type defaults map[string]json.RawMessage

type expander struct {
	definitions map[string]*definition
	defaults    defaults // replace the defaults in definitions unless nil
	open        map[string]bool
}

// root returns the schema of a kind. The structural schema of a resource does not describe its
// metadata, which has the same fields for all kinds.
func (e *expander) root(name string) (*apiextensionsv1.JSONSchemaProps, error) {
	props, err := e.expand(&definition{Ref: name}, "")
	if err != nil {
		return nil, err
	}
	if _, ok := props.Properties["metadata"]; ok {
		props.Properties["metadata"] = apiextensionsv1.JSONSchemaProps{Type: "object"}
		props.Required = slices.DeleteFunc(props.Required, func(name string) bool { return name == "metadata" })
	}
	return props, nil
}

func (e *expander) expand(d *definition, path string) (*apiextensionsv1.JSONSchemaProps, error) {
	if d.Ref == "" {
		return e.expandPlain(d, path)
	}
	target, ok := e.definitions[d.Ref]
	if !ok {
		return nil, fmt.Errorf("no definition %s", d.Ref)
	}
	if e.open[d.Ref] {
		open := true
		return &apiextensionsv1.JSONSchemaProps{Type: target.Type, XPreserveUnknownFields: &open}, nil
	}
	e.open[d.Ref] = true
	props, err := e.expand(target, path)
	delete(e.open, d.Ref)
	if err == nil && d.Default != nil {
		e.setDefault(props, d.Default, path)
	}
	return props, err
}

func (e *expander) expandPlain(d *definition, path string) (*apiextensionsv1.JSONSchemaProps, error) {
	props := &apiextensionsv1.JSONSchemaProps{
		Type: d.Type, Format: d.Format, Required: slices.Clone(d.Required), XIntOrString: d.IntOrString,
		XListMapKeys: slices.Clone(d.ListKeys), XListType: optional(d.ListType), XMapType: optional(d.MapType),
	}
	e.setDefault(props, d.Default, path)
	if d.accepts() {
		open := true
		props.XPreserveUnknownFields = &open
	}
	if d.Properties != nil {
		props.Properties = make(map[string]apiextensionsv1.JSONSchemaProps, len(d.Properties))
		for name, property := range d.Properties {
			below, err := e.expand(property, path+"."+name)
			if err != nil {
				return nil, err
			}
			props.Properties[name] = *below
		}
	}
	if d.Items != nil {
		items, err := e.expand(d.Items, path+"[]")
		if err != nil {
			return nil, err
		}
		props.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: items}
	}
	if d.Values != nil {
		values, err := e.expand(d.Values, path+"{}")
		if err != nil {
			return nil, err
		}
		props.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: values}
	}
	return props, nil
}

func (e *expander) setDefault(props *apiextensionsv1.JSONSchemaProps, given json.RawMessage, path string) {
	if e.defaults != nil {
		given = e.defaults[path]
	}
	if given != nil {
		props.Default = &apiextensionsv1.JSON{Raw: bytes.Clone(given)}
	}
}

// accepts reports whether d describes nothing of its values, so that they may have any fields.
func (d *definition) accepts() bool {
	return d.Type == "" && !d.IntOrString || d.Type == "object" && d.Properties == nil && d.Values == nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

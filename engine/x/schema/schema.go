package schema

import (
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
)

// Schema is a compiled schema, or that of one property. It is immutable.
type Schema struct {
	root *node
	// marked: a property's name starts with the mark that makes errors of
	// branches count although another branch is valid, which only a thorough
	// report sees.
	marked bool
	// settled: what was prepared, preparing leaves as it is.
	settled bool
}

// Compile compiles a schema in both its forms, as it is written and as a structural
// one: values are checked against props, with the string formats that a server of the
// given minor knows, and objects are pruned, defaulted and correlated by structural,
// whose defaults the caller has pruned. The result shares values with both, which must
// not be changed any more.
func Compile(props *apiextensionsv1.JSONSchemaProps, structural *structuralschema.Structural, formats *version.Version) (*Schema, error) {
	if props == nil || structural == nil || formats == nil {
		return nil, errors.New("schema: want a schema in both forms and a version of the formats")
	}
	c := &compiler{
		strip:    validation.StripUnsupportedFormatsPostProcessorForVersion(formats),
		types:    map[string][]string{},
		patterns: map[string]*pattern{},
	}
	root, err := c.node(props, structural)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &Schema{root: root, marked: c.marked, settled: !c.unsettled && !root.embeds}, nil
}

// Property is the schema of one of the root's properties; nil: there is none.
func (s *Schema) Property(name string) *Schema {
	n := s.root.properties[name]
	if n == nil {
		return nil
	}
	return &Schema{root: n, marked: s.marked}
}

// Embedded tells whether objects can hold embedded resources, so that
// CoerceEmbedded and ValidateEmbedded have something to do.
func (s *Schema) Embedded() bool { return s.root.embeds }

// Settled tells that an object that was pruned and defaulted would be left as
// it is by doing so again.
func (s *Schema) Settled() bool { return s.settled }

// Validate checks a value as a create does. Errors are reported below path. A
// value that asks for too much work gives one internal error whose Origin is
// WorkLimit, and no other: whether it is valid is undecided.
func (s *Schema) Validate(path *field.Path, value any) field.ErrorList {
	return s.validate(path, value, past{})
}

// ValidateUpdate checks a value as an update does: errors on what did not
// change are let be. A nil old value is one that was not there, or was null.
func (s *Schema) ValidateUpdate(path *field.Path, value, old any) field.ErrorList {
	return s.validate(path, value, past{known: true, value: old})
}

func (s *Schema) validate(path *field.Path, value any, was past) (errs field.ErrorList) {
	m := meter{left: maxWork}
	defer m.stopped(path, &errs)
	if !s.marked && s.root.valid(value, &m) {
		return nil
	}
	r := report{thorough: s.marked, meter: &meter{left: m.left}} // m itself costs no memory
	r.value(s.root, value, nil, was)
	return r.fieldErrors(path)
}

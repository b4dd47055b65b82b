package schema

import (
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Schema is a compiled schema, or the schema of a property. It is immutable.
type Schema struct {
	root   *node
	server *server
	// marked is set if a property's name starts with mark. Errors of branches can then count
	// although another branch is valid, which only a thorough report detects.
	marked bool
	// settled is the result of Settled.
	settled bool
}

// Compile compiles a schema that is passed both as props and as the equivalent structural schema.
// Values are validated against props as the API server of Kubernetes 1.minor does; pruning,
// defaulting, and list types are the same in all versions. structural is used to prune, default, and correlate objects; the caller must have
// pruned its defaults. The result shares memory with both, so do not modify them afterwards.
func Compile(props *apiextensionsv1.JSONSchemaProps, structural *structuralschema.Structural, minor int) (*Schema, error) {
	if props == nil || structural == nil || minor <= 0 {
		return nil, errors.New("schema: want a schema in both forms and a minor version")
	}
	c := &compiler{
		server:   serverOf(minor),
		types:    map[string][]string{},
		patterns: map[string]*pattern{},
	}
	root, err := c.node(props, structural)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &Schema{root: root, server: c.server, marked: c.marked, settled: !c.unsettled && !root.embeds}, nil
}

// Property returns the schema of a property of the root, or nil if it does not exist.
func (s *Schema) Property(name string) *Schema {
	n := s.root.properties[name]
	if n == nil {
		return nil
	}
	return &Schema{root: n, server: s.server, marked: s.marked}
}

// Embedded reports whether objects can contain embedded resources. If not, CoerceEmbedded and
// ValidateEmbedded do nothing.
func (s *Schema) Embedded() bool { return s.root.embeds }

// Settled reports whether pruning and defaulting an object twice is the same as doing it once.
func (s *Schema) Settled() bool { return s.settled }

// Validate validates a value for a create. Errors are reported below path. If the value needs too
// much work, the only error is an internal error whose Origin is WorkLimit; the value may or may
// not be valid.
func (s *Schema) Validate(path *field.Path, value any) field.ErrorList {
	return s.validate(path, value, oldValue{})
}

// ValidateUpdate validates a value for an update: errors of unchanged values are dropped. A nil old
// means that the value was absent or null.
func (s *Schema) ValidateUpdate(path *field.Path, value, old any) field.ErrorList {
	return s.validate(path, value, oldValue{known: true, value: old})
}

func (s *Schema) validate(path *field.Path, value any, was oldValue) (errs field.ErrorList) {
	m := meter{left: maxWork}
	defer m.stopped(path, &errs)
	if !s.marked && s.root.valid(value, &m) {
		return nil
	}
	r := report{thorough: s.marked, meter: &meter{left: m.left}} // a new meter, so that m does not escape to the heap
	r.value(s.root, value, nil, was)
	return r.fieldErrors(path, s.server)
}

package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine/x/schema"
)

// A Schema validates values of a schema that belongs to no CRD, for example the values of a variable of a
// ClusterClass, or of a package's configuration. It is immutable and safe for concurrent use.
type Schema struct {
	wrapper *schema.Schema // of an object whose only property is the value
	rules   *Rules
	server  server
	budget  int64
}

const wrapped = "value"

// CompileSchema compiles a schema. It returns an error if the schema is not structural, and a usable
// Schema with *CompileErrors if only rules are invalid. Config.Subtree has no effect: apiVersion, kind,
// and metadata have no meaning of their own, unless the schema has x-kubernetes-embedded-resource. The
// schema must not be modified afterwards.
func CompileSchema(props *apiextensionsv1.JSONSchemaProps, cfg Config) (*Schema, error) {
	if props == nil {
		return nil, fmt.Errorf("no schema given: want a schema")
	}
	c, err := newCompiler(cfg)
	if err != nil {
		return nil, err
	}
	root := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{wrapped: *props}}
	values, spine, err := valuesOf(&apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: root}, false, c.server)
	if err != nil {
		return nil, err
	}
	cfg.Subtree = !props.XEmbeddedResource
	value := spine.Properties[wrapped]
	rules, err := CompileRules(&value, cfg)
	if rules == nil {
		return nil, err
	}
	return &Schema{wrapper: values, rules: rules, server: c.server, budget: c.cfg.Limits.PerObject}, err
}

// A SchemaResult is the result of validating a value of a schema.
type SchemaResult struct {
	// Value is the value without unknown fields and with defaults. It can share memory with the
	// given value.
	Value any
	// Unknown holds the paths of the fields that were removed.
	Unknown []string
	// Errors holds the reasons why the value is rejected, and is empty if it is accepted.
	Errors field.ErrorList
	// Cost is the cost of the rules in CEL cost units, or the limit for an object if it is exceeded.
	Cost int64
}

// Validate prunes, defaults, and validates a value in the form that Decode returns, and runs the rules. old is the
// value that it replaces, or nil. Unchanged values are ratcheted, with warnings as in [Rules.Validate]. Errors are
// reported below path. The error is the context's, a *WorkLimitError if the value may or may not be valid, an
// *InternalError, or an error about a Go type that Decode does not return.
func (s *Schema) Validate(ctx context.Context, path *field.Path, value, old any) (res *SchemaResult, err error) {
	defer catch(&res, &err)
	if !schema.Decoded(value) || !schema.Decoded(old) {
		return nil, fmt.Errorf("the value has a Go type that Decode does not produce")
	}
	object, unknown := s.prepared(value)
	res = &SchemaResult{Value: object[wrapped], Unknown: unknown}
	var was map[string]any
	if old != nil {
		was, _ = s.prepared(old)
		old = was[wrapped]
	}
	if old == nil || !s.rules.ratchet {
		res.Errors = s.wrapper.Validate(nil, object)
	} else {
		res.Errors = s.wrapper.ValidateUpdate(nil, object, was)
	}
	res.Errors = append(res.Errors, s.wrapper.ListTypes(nil, object)...)
	res.Errors = append(res.Errors, s.wrapper.ValidateEmbedded(nil, object)...)
	for _, e := range res.Errors {
		relocate(e, path)
	}
	if !slices.ContainsFunc(res.Errors, s.server.blocksRules) {
		errs, left, bug := s.rules.validate(ctx, path, res.Value, old, s.budget)
		if bug != nil {
			return nil, bug
		}
		res.Errors, res.Cost = append(res.Errors, errs...), s.budget-max(left, 0)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return res, undecided(res.Errors)
}

func (s *Schema) prepared(value any) (object map[string]any, unknown []string) {
	object, unknown, _ = s.wrapper.Prepare(map[string]any{wrapped: value}, schema.Preparation{Prune: true, Track: true, Repair: true, Default: true})
	for i, at := range unknown {
		unknown[i] = strings.TrimPrefix(strings.TrimPrefix(at, wrapped), ".")
	}
	return object, unknown
}

// Some messages begin with the path.
func relocate(e *field.Error, path *field.Path) {
	was, rest := e.Field, strings.TrimPrefix(e.Field, wrapped)
	if e.Field = strings.TrimPrefix(rest, "."); path != nil || rest == "" {
		e.Field = path.String() + rest
	}
	if after, ok := strings.CutPrefix(e.Detail, was+" in body"); ok {
		e.Detail = e.Field + " in body" + after
	}
}

// If another error rejects the value, an exceeded work limit does not matter.
func undecided(errs field.ErrorList) error {
	if len(errs) == 1 && errs[0].Origin == WorkLimit {
		return &WorkLimitError{Part: "schema", Reason: errs[0].Detail, field: errs[0].Field}
	}
	return nil
}

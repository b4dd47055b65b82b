package main

import (
	"fmt"
	"math"
	"sort"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

type version struct {
	Name             string   `json:"name,omitempty"`
	Total            uint64   `json:"total"`
	Rules            []rule   `json:"rules"`
	StructuralErrors []string `json:"structuralErrors,omitempty"`
	// For expressions with a value:
	Errors     []fieldError `json:"errors,omitempty"`
	ActualCost *int64       `json:"actualCost,omitempty"`
}

type rule struct {
	Path            string  `json:"path"`
	Index           int     `json:"index"`
	Rule            string  `json:"rule"`
	Estimate        uint64  `json:"estimate"`
	MessageEstimate uint64  `json:"messageEstimate,omitempty"`
	Cardinality     uint64  `json:"cardinality"`
	Bound           *uint64 `json:"bound,omitempty"`
	Cost            uint64  `json:"cost"`
	Transition      bool    `json:"transition,omitempty"`
	FieldPath       string  `json:"fieldPath,omitempty"`
	Error           string  `json:"error,omitempty"`
	MessageError    string  `json:"messageError,omitempty"`
}

var schemaPath = field.NewPath("openAPIV3Schema")

func (s *service) versionOf(crd *apiextensions.CustomResourceDefinition, name string, loader cel.EnvLoader) (*version, error) {
	v := &version{Name: name, Rules: []rule{}}
	props, err := apiextensions.GetSchemaForVersion(crd, name)
	if err != nil {
		return nil, err
	}
	if props == nil || props.OpenAPIV3Schema == nil {
		return v, nil
	}
	if v.StructuralErrors = structuralErrors(props.OpenAPIV3Schema); v.StructuralErrors != nil {
		return v, nil
	}
	c := &compiler{loader: loader, version: v}
	return v, c.compile(props.OpenAPIV3Schema, schemaPath, validation.RootCELContext(props.OpenAPIV3Schema))
}

func structuralErrors(props *apiextensions.JSONSchemaProps) (errs []string) {
	s, err := structuralschema.NewStructural(props)
	if err != nil {
		return []string{err.Error()}
	}
	for _, err := range structuralschema.ValidateStructural(schemaPath, s) {
		errs = append(errs, err.Error())
	}
	return errs
}

type compiler struct {
	loader  cel.EnvLoader
	version *version
}

// compile visits schemas in the order of the server's validation.
func (c *compiler) compile(props *apiextensions.JSONSchemaProps, path *field.Path, context *validation.CELSchemaContext) error {
	if err := c.compileChildren(props, path, context); err != nil {
		return err
	}
	if len(props.XValidations) == 0 {
		return nil
	}
	if err := c.compileRules(props, path, context); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c.version.Total = context.TotalCost.Total
	return nil
}

func (c *compiler) compileChildren(props *apiextensions.JSONSchemaProps, path *field.Path, context *validation.CELSchemaContext) error {
	if a := props.AdditionalProperties; a != nil && a.Schema != nil {
		if err := c.compile(a.Schema, path.Child("additionalProperties"), context.ChildAdditionalPropertiesContext(a.Schema)); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(props.Properties) {
		property := props.Properties[name]
		if err := c.compile(&property, path.Child("properties").Key(name), context.ChildPropertyContext(&property, name)); err != nil {
			return err
		}
	}
	if items := props.Items; items != nil && items.Schema != nil {
		return c.compile(items.Schema, path.Child("items"), context.ChildItemsContext(items.Schema))
	}
	return nil
}

func sortedKeys(properties map[string]apiextensions.JSONSchemaProps) (names []string) {
	for name := range properties {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func (c *compiler) compileRules(props *apiextensions.JSONSchemaProps, path *field.Path, context *validation.CELSchemaContext) error {
	info, err := context.TypeInfo()
	if err != nil {
		return err
	}
	results, err := cel.Compile(info.Schema, info.DeclType, celconfig.PerCallLimit, envSet(), c.loader)
	if err != nil {
		return err
	}
	for i, result := range results {
		r := c.result(result, context)
		r.Path, r.Index, r.Rule = path.String(), i, props.XValidations[i].Rule
		context.TotalCost.ObserveExpressionCost(path, r.Cost)
		context.TotalCost.ObserveExpressionCost(path, r.MessageEstimate)
		c.version.Rules = append(c.version.Rules, r)
	}
	return nil
}

func (c *compiler) result(result cel.CompilationResult, context *validation.CELSchemaContext) rule {
	r := rule{
		Estimate: result.MaxCost, MessageEstimate: result.MessageExpressionMaxCost,
		Cardinality: result.MaxCardinality, Bound: context.MaxCardinality,
		Transition: usesOldSelf(result), FieldPath: result.NormalizedRuleFieldPath,
	}
	r.Cost = multiply(r.Estimate, r.Cardinality)
	if r.Bound != nil {
		r.Cost = multiply(r.Estimate, *r.Bound)
	}
	if result.Error != nil {
		r.Error = result.Error.Detail
	}
	if result.MessageExpressionError != nil {
		r.MessageError = result.MessageExpressionError.Detail
	}
	return r
}

func multiply(a, b uint64) uint64 {
	if a != 0 && math.MaxUint64/a < b {
		return math.MaxUint64
	}
	return a * b
}

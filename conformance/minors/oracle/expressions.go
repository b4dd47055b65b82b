package main

import (
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

func (s *service) expressions(req *request) (*version, error) {
	props, err := decodeSchema(req.Schema, req.Rules)
	if err != nil {
		return nil, err
	}
	root := props
	if !req.Resource {
		root = &apiextensions.JSONSchemaProps{Type: "object", Properties: map[string]apiextensions.JSONSchemaProps{"field": *props}}
	}
	v := &version{Rules: []rule{}}
	if v.StructuralErrors = structuralErrors(root); v.StructuralErrors != nil {
		return v, nil
	}
	context := validation.RootCELContext(root)
	if !req.Resource {
		context = context.ChildPropertyContext(props, "field")
	}
	c := &compiler{loader: envLoader(req.Stored), version: v}
	if err := c.compile(props, schemaPath, context); err != nil || req.Object == nil {
		return v, err
	}
	return v, s.evaluate(v, props, req)
}

func (s *service) evaluate(v *version, props *apiextensions.JSONSchemaProps, req *request) (err error) {
	r := &Resource{}
	if r.Structural, err = structuralschema.NewStructural(props); err != nil {
		return err
	}
	var obj, old any
	if err := utiljson.Unmarshal(req.Object, &obj); err != nil {
		return err
	}
	if req.Old != nil {
		if err := utiljson.Unmarshal(req.Old, &old); err != nil {
			return err
		}
	}
	cost := int64(0)
	if r.Rules = cel.NewValidator(r.Structural, req.Resource, celconfig.PerCallLimit); r.Rules != nil {
		errs, remaining := validate(genericapirequest.NewContext(), r, obj, old, old != nil)
		v.Errors, cost = fieldErrors(errs), celconfig.RuntimeCELCostBudget-remaining
	}
	v.ActualCost = &cost
	return nil
}

func decodeSchema(schema, rules json.RawMessage) (*apiextensions.JSONSchemaProps, error) {
	var v1 apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(schema, &v1); err != nil {
		return nil, fmt.Errorf("decode the schema: %w", err)
	}
	var more apiextensionsv1.ValidationRules
	if rules != nil {
		if err := json.Unmarshal(rules, &more); err != nil {
			return nil, fmt.Errorf("decode the rules: %w", err)
		}
	}
	v1.XValidations = append(v1.XValidations, more...)
	props := &apiextensions.JSONSchemaProps{}
	return props, scheme.Convert(&v1, props, nil)
}

// Command library implements the protocol of the conformance suite as programs do that validate custom resources with
// k8s.io/apiextensions-apiserver alone: defaults, the schema, and then the rules.
package main

import (
	"context"
	"fmt"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/conformance/suite"
)

func main() {
	hello := suite.Answer{Name: "apiextensions-apiserver", Levels: []string{suite.LevelVerdict, suite.LevelCauses}, Minors: []string{"1.37"}}
	if err := suite.Serve(os.Stdin, os.Stdout, hello, write); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(req *suite.Request) (*suite.Response, error) {
	if req.Subresource != "" || req.FieldValidation != "Ignore" {
		return nil, fmt.Errorf("%w: subresources and field validation", suite.ErrUnsupported)
	}
	props, err := schemaOf(req)
	if err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		return nil, err
	}
	schema, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, err
	}
	var obj, old any
	if err := json.Unmarshal(req.Object, &obj); err != nil {
		return nil, err
	}
	defaulting.Default(obj, structural)
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	var errs field.ErrorList
	if req.OldObject == nil {
		errs = validation.ValidateCustomResource(nil, obj, schema)
	} else {
		if err := json.Unmarshal(req.OldObject, &old); err != nil {
			return nil, err
		}
		errs = validation.ValidateCustomResourceUpdate(nil, obj, old, schema)
	}
	if len(errs) == 0 && rules != nil {
		more, _ := rules.Validate(context.Background(), nil, structural, obj, old, celconfig.RuntimeCELCostBudget)
		errs = append(errs, more...)
	}
	r := &suite.Response{Allowed: len(errs) == 0, Code: 422}
	switch {
	case r.Allowed && old != nil:
		r.Code = 200
	case r.Allowed:
		r.Code = 201
	}
	for _, e := range errs {
		r.Causes = append(r.Causes, suite.Cause{Reason: string(e.Type), Field: e.Field, Message: e.ErrorBody()})
	}
	return r, nil
}

func schemaOf(req *suite.Request) (*apiextensions.JSONSchemaProps, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(req.CRD, crd); err != nil {
		return nil, err
	}
	for _, v := range crd.Spec.Versions {
		if v.Name == req.Version {
			props := &apiextensions.JSONSchemaProps{}
			return props, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, props, nil)
		}
	}
	return nil, fmt.Errorf("no version %s", req.Version)
}

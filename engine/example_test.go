package engine_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

const cronTabs = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: crontabs, kind: CronTab}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer}
              maxReplicas: {type: integer, default: 5}
            x-kubernetes-validations:
            - rule: self.replicas <= self.maxReplicas
              messageExpression: "'replicas must not exceed ' + string(self.maxReplicas)"
              fieldPath: .replicas
`

func cronTabCRD() *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(cronTabs), crd); err != nil {
		panic(err)
	}
	return crd
}

func ExampleCompile() {
	crd := cronTabCRD()
	rules := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].XValidations
	rules[0].Rule = "self.replicas <= self.maxReplica"

	e, err := engine.Compile(crd, engine.Config{KubeVersion: "1.33"})
	fmt.Println(e != nil, e.Info().GroupKind, e.Info().Versions)
	if bad, ok := err.(*engine.CompileErrors); ok {
		for _, rule := range bad.Errors {
			fmt.Printf("%s, rule %d, line %d, column %d: %s\n%s\n", rule.Path, rule.Index, rule.Line, rule.Column, rule.Summary(), rule.Snippet)
		}
	}
	// Output:
	// true CronTab.stable.example.com [v1]
	// spec, rule 0, line 1, column 22: undefined field 'maxReplica'
	// self.replicas <= self.maxReplica
	//                      ^
}

func ExampleEngine_Validate() {
	e, err := engine.Compile(cronTabCRD(), engine.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	obj, err := engine.Decode([]byte(`{"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {"name": "nightly"}, "spec": {"replicas": 9}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := e.Validate(context.Background(), engine.Request{Object: obj})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Allowed, res.Failure.Code)
	for _, cause := range res.Causes {
		fmt.Printf("%s: %s (%s)\n", cause.Field, cause.Message, cause.Reason)
		fmt.Println("by the rule", cause.Rule.Rule)
	}
	// Output:
	// false 422
	// spec.replicas: Invalid value: replicas must not exceed 5 (FieldValueInvalid)
	// by the rule self.replicas <= self.maxReplicas
}

// printRejection prints why a CRD rejects the create of an object. Both are YAML or JSON.
func printRejection(ctx context.Context, crd, object []byte) error {
	e, err := engine.CompileCRD(crd, engine.Config{})
	if err != nil {
		return err
	}
	res, err := e.ValidateYAML(ctx, object, nil) // for an update, the old object instead of nil
	if err != nil {
		return err
	}
	if !res.Allowed {
		fmt.Println(res.Failure.Message)
	}
	return nil
}

// CRDs and objects can be read from files, as in printRejection in this file.
func ExampleEngine_ValidateYAML() {
	object := "{apiVersion: stable.example.com/v1, kind: CronTab, metadata: {name: nightly}, spec: {replicas: 9}}"
	if err := printRejection(context.Background(), []byte(cronTabs), []byte(object)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// CronTab.stable.example.com "nightly" is invalid: spec.replicas: Invalid value: replicas must not exceed 5
}

func ExampleCompileCRD() {
	e, err := engine.CompileCRD([]byte(cronTabs), engine.Config{KubeVersion: "1.33"})
	if err != nil {
		panic(err)
	}
	fmt.Println(e.Info().GroupKind, e.Info().Versions)
	// Output:
	// CronTab.stable.example.com [v1]
}

// A topology holds the schemas of a ClusterClass' variables by name.
type topology map[string]*engine.Schema

// newTopology compiles the schemas of variables.
func newTopology(variables map[string]*apiextensionsv1.JSONSchemaProps) (topology, error) {
	t := topology{}
	for name, props := range variables {
		s, err := engine.CompileSchema(props, engine.Config{})
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", name, err)
		}
		t[name] = s
	}
	return t, nil
}

// admit adds defaults to the values of variables and returns the errors in them. old holds the values
// that they replace.
func (t topology) admit(ctx context.Context, values, old map[string]any) (field.ErrorList, error) {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(values)) {
		path := field.NewPath("spec", "topology", "variables").Key(name)
		s := t[name]
		if s == nil {
			errs = append(errs, field.NotSupported(path, name, slices.Sorted(maps.Keys(t))))
			continue
		}
		res, err := s.Validate(ctx, path, values[name], old[name])
		if err != nil {
			return nil, err
		}
		for _, unknown := range res.Unknown {
			errs = append(errs, field.Forbidden(path, "unknown field "+unknown))
		}
		errs = append(errs, res.Errors...)
		values[name] = res.Value
	}
	return errs, nil
}

// Schemas that belong to no CRD can be compiled too, as topology does in this file.
func ExampleCompileSchema() {
	network := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.Unmarshal([]byte(`
type: object
properties:
  mtu: {type: integer, default: 1500}
  cidrs: {type: array, maxItems: 4, items: {type: string}}
x-kubernetes-validations:
- rule: self.cidrs.all(c, isCIDR(c))
  message: must be CIDRs
- rule: self.mtu == oldSelf.mtu
  message: the MTU is immutable
`), network); err != nil {
		panic(err)
	}
	t, err := newTopology(map[string]*apiextensionsv1.JSONSchemaProps{"network": network})
	if err != nil {
		panic(err)
	}
	old, err := engine.Decode([]byte(`{"network": {"mtu": 9000, "cidrs": ["10.0.0.0/8"]}}`))
	if err != nil {
		panic(err)
	}
	values, err := engine.Decode([]byte(`{"network": {"cidrs": ["10.0.0/8"], "zone": "a"}}`))
	if err != nil {
		panic(err)
	}
	errs, err := t.admit(context.Background(), values, old)
	for _, e := range errs {
		fmt.Println(e)
	}
	fmt.Println(values, err)
	// Output:
	// spec.topology.variables[network]: Forbidden: unknown field zone
	// spec.topology.variables[network]: Invalid value: must be CIDRs
	// spec.topology.variables[network]: Invalid value: the MTU is immutable
	// map[network:map[cidrs:[10.0.0/8] mtu:1500]] <nil>
}

func ExampleCompileRules() {
	s := &schema.Structural{
		Generic: schema.Generic{Type: "string"},
		ValidationExtensions: schema.ValidationExtensions{XValidations: apiextensionsv1.ValidationRules{
			{Rule: "self == oldSelf", Message: "is immutable"},
			{Rule: "self.startsWith('a')"},
		}},
	}
	rules, err := engine.CompileRules(s, engine.Config{Subtree: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	errs, remaining := rules.Validate(context.Background(), field.NewPath("spec", "name"), "box", "bag", 100)
	for _, err := range errs {
		fmt.Println(err)
	}
	fmt.Println("units left:", remaining)
	// Output:
	// spec.name: Invalid value: "box": is immutable
	// spec.name: Invalid value: "box": failed rule: self.startsWith('a')
	// units left: 95
}

func ExampleNode_Compile() {
	e, err := engine.Compile(cronTabCRD(), engine.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	spec, err := e.At("v1", "spec")
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := spec.Compile("self.maxReplicas - self.replicas")
	if err != nil {
		fmt.Println(err)
		return
	}
	out := x.Eval(context.Background(), map[string]any{"replicas": int64(2), "maxReplicas": int64(5)}, nil)
	fmt.Println(x.Type, out.Value, out.Cost, x.Estimate.Max)
	_, err = spec.Compile("self.minReplicas")
	fmt.Println(err)
	// Output:
	// int 3 5 5
	// v1: spec: x-kubernetes-validations[0].rule: ERROR: <input>:1:5: undefined field 'minReplicas'
	//  | self.minReplicas
	//  | ....^
}

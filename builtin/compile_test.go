package builtin_test

import (
	"strings"
	"testing"

	apiservercel "k8s.io/apiserver/pkg/cel"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/builtin"
)

const compiled = `
- kind: DeviceClass
  apiVersion: resource.k8s.io/v1
  spec: {selectors: [{cel: {expression: "true"}}]}
- kind: AuthenticationConfiguration
  apiVersion: apiserver.config.k8s.io/v1
  jwt:
  - userValidationRules: [{expression: "true"}]
- kind: AuthorizationConfiguration
  apiVersion: apiserver.config.k8s.io/v1
  authorizers: [{webhook: {matchConditions: [{expression: "true"}]}}]
`

// TestExpressionRoots compiles a selection of each field that Roots declares with the server's libraries.
func TestExpressionRoots(t *testing.T) {
	t.Parallel()
	var documents []map[string]any
	if err := yaml.Unmarshal([]byte(compiled), &documents); err != nil {
		t.Fatal(err)
	}
	for _, document := range documents {
		all := builtin.Expressions(document)
		if len(all) != 1 {
			t.Fatalf("%s: got %d expressions", document["kind"], len(all))
		}
		fields := 0
		var visit func(of *apiservercel.DeclType, path string)
		visit = func(of *apiservercel.DeclType, path string) {
			for name, f := range of.Fields {
				fields++
				at := path + "." + name
				if _, err := all[0].Compile("type(" + at + ") == " + typeOf(f.Type)); err != nil {
					t.Errorf("%s: %v", at, err)
				}
				if f.Type.IsObject() {
					visit(f.Type, at)
				}
			}
		}
		for _, r := range all[0].Roots {
			visit(r.Object, r.Name)
		}
		if fields < 4 {
			t.Errorf("%s: got %d fields", document["kind"], fields)
		}
	}
}

func typeOf(t *apiservercel.DeclType) string {
	switch {
	case t.IsList():
		return "list"
	case t.IsMap() || t.IsObject():
		return "map"
	}
	return t.TypeName()
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, path, source, err string }{
		{"apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nspec: {selectors: [{cel: {expression: 'true'}}]}", "spec.selectors[0].cel.expression", "device.driver", "must evaluate to bool"},
		{"apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nspec: {devices: {requests: [{exactly: {selectors: [{cel: {expression: 'true'}}]}}]}}",
			"spec.devices.requests[0].exactly.selectors[0].cel.expression", "device.capacity['a'].b == 1", "no matching overload"},
		{"apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt: [{claimValidationRules: [{expression: 'true'}]}]", "jwt[0].claimValidationRules[0].expression", "'a'", "must evaluate to bool"},
		{"apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt: [{claimMappings: {extra: [{valueExpression: claims.a}]}}]", "jwt[0].claimMappings.extra[0].valueExpression", "user.uid", "undeclared reference"},
	} {
		var document map[string]any
		if err := yaml.Unmarshal([]byte(tt.text), &document); err != nil {
			t.Fatal(err)
		}
		all := builtin.Expressions(document)
		if len(all) != 1 || all[0].Path != tt.path {
			t.Errorf("%s: got %+v", tt.path, all)
			continue
		}
		if _, err := all[0].Compile(all[0].Source); err != nil {
			t.Errorf("%s: %v", tt.path, err)
		}
		if _, err := all[0].Compile(tt.source); err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got the error %v, want %q", tt.source, err, tt.err)
		}
	}
}

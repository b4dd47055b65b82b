package builtin_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/builtin"
)

func TestValidateConfiguration(t *testing.T) {
	const authentication, authorization = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n", "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n"
	const issuer = "jwt:\n- issuer: {url: 'https://example.com', audiences: [a]}\n"
	const webhook = "authorizers:\n- type: Webhook\n  name: w\n  webhook:\n    timeout: 3s\n    subjectAccessReviewVersion: v1\n    matchConditionSubjectAccessReviewVersion: v1\n    failurePolicy: Deny\n    authorizedTTL: 1m\n    unauthorizedTTL: 1m\n    connectionInfo: {type: InClusterConfig}\n"
	for _, tt := range []struct{ name, text, field, message string }{
		{"accepted", authentication + issuer + "  claimMappings: {username: {expression: claims.sub}}\n", "", ""},
		{"syntax", authentication + issuer + "  claimMappings: {username: {expression: 'claims.sub +'}}\n", "jwt[0].claimMappings.username.expression", "Syntax error"},
		{"rule", authentication + issuer + "  claimMappings: {username: {expression: claims.sub}}\n  claimValidationRules: [{expression: claims.x == 1, message: a}, {expression: 'user.name', message: b}]\n", "jwt[0].claimValidationRules[1].expression", "undeclared reference to 'user'"},
		{"unknown field", authentication + "jwts: []\n", "", `unknown field "jwts"`},
		{"webhook", authorization + webhook + "    matchConditions: [{expression: \"request.user != 'a'\"}]\n", "", ""},
		{"condition", authorization + webhook + "    matchConditions: [{expression: request.name}]\n", "authorizers[0].webhook.matchConditions[0].expression", "undefined field 'name'"},
	} {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(tt.text), &object); err != nil {
			t.Fatal(err)
		}
		if !builtin.IsConfiguration(object) {
			t.Errorf("%s: not recognized", tt.name)
		}
		res, err := builtin.ValidateConfiguration(object)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		switch {
		case res.Failure != nil:
			got = res.Failure.Message
		case len(res.Causes) > 0:
			got = res.Causes[0].Field + ": " + res.Causes[0].Message
		}
		if res.Allowed != (tt.message == "") || !strings.Contains(got, tt.message) || !strings.HasPrefix(got, tt.field) {
			t.Errorf("%s: got %q, want %q with %q", tt.name, got, tt.field, tt.message)
		}
	}
}

func TestEvaluateHostile(t *testing.T) {
	t.Parallel()
	configuration := func(kind string, more map[string]any) map[string]any {
		object := map[string]any{"apiVersion": "apiserver.config.k8s.io/v1", "kind": kind}
		maps.Copy(object, more)
		return object
	}
	slice := map[string]any{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "spec": "text"}
	class := map[string]any{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "spec": []any{1, nil}}
	claims := map[string]any{"sub": "a", "groups": []any{"b", int64(1), ""}}
	rule := []any{map[string]any{"expression": "user.username == 'x:a' && user.groups == ['x:b']"}}
	mapping := map[string]any{"username": map[string]any{"claim": "sub", "prefix": "x:"}, "groups": map[string]any{"claim": "groups", "prefix": "x:"}}
	for _, tt := range []struct {
		document, input map[string]any
		want            string // the value, or in the error
	}{
		{class, slice, "cannot unmarshal string"},
		{class, claims, `got an object of kind "", want a ResourceSlice`},
		{slice, slice, "got an object of kind"},
		{configuration("AuthenticationConfiguration", map[string]any{"jwt": []any{nil, "a", []any{}}}), claims, "none"},
		{configuration("AuthenticationConfiguration", map[string]any{"jwt": []any{map[string]any{"claimMappings": mapping, "userValidationRules": rule}}}), claims, "true"},
		{configuration("AuthenticationConfiguration", map[string]any{"jwt": []any{map[string]any{"claimValidationRules": []any{map[string]any{"expression": "claims."}}}}}), claims, "Syntax error"},
	} {
		all, err := builtin.Evaluate(t.Context(), tt.document, tt.input)
		got := "none"
		switch {
		case err != nil:
			got = err.Error()
		case len(all) > 0 && all[0].Err != nil:
			got = all[0].Err.Error()
		case len(all) > 0:
			got = fmt.Sprint(all[0].Value)
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%v over %v: got %q, want %q", tt.document, tt.input, got, tt.want)
		}
	}
}

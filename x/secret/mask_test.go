package secret_test

import (
	"bytes"
	"encoding/json"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/secret"
)

func withToken() *apiextensionsv1.CustomResourceDefinition {
	password := apiextensionsv1.JSONSchemaProps{Type: "string", Format: "password"}
	return &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"token": password}},
		}}},
	}}
}

func TestMaskOfWrong(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{"apiVersion":"a.b/v9","kind":"A","token":"geheim"}`:                                         `{"apiVersion":"a.b/v9","kind":"A","token":"(hidden)"}`,
		`{"apiVersion":"nothing","token":"geheim"}`:                                                   `{"apiVersion":"nothing","token":"(hidden)"}`,
		`{"apiVersion":"a.b/v1","kind":"A","token":12345,"again":"as 12345","n":12345,"other":123}`:   `{"again":"(hidden)","apiVersion":"a.b/v1","kind":"A","n":12345,"other":123,"token":"(hidden)"}`,
		`{"apiVersion":"a.b/v1","kind":"A","token":1.25,"n":1.25}`:                                    `{"apiVersion":"a.b/v1","kind":"A","n":1.25,"token":"(hidden)"}`,
		`{"apiVersion":"a.b/v1","kind":"A","token":"8080","port":8080,"x":{"8080":"at 8080"}}`:        `{"apiVersion":"a.b/v1","kind":"A","port":8080,"token":"(hidden)","x":{"8080":"(hidden)"}}`,
		`{"apiVersion":"a.b/v1","kind":"A","token":7,"other":"77","n":7}`:                             `{"apiVersion":"a.b/v1","kind":"A","n":7,"other":"77","token":"(hidden)"}`,
		`{"apiVersion":"a.b/v1","kind":"A","token":true,"other":true,"metadata":{"name":"7"},"x":{}}`: `{"apiVersion":"a.b/v1","kind":"A","metadata":{"name":"7"},"other":true,"token":"(hidden)","x":{}}`,
	} {
		obj, err := engine.Decode([]byte(object))
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(secret.MaskOf(withToken(), obj).Object(obj))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v", object, got, err)
		}
	}
}

func TestMaskInJSON(t *testing.T) {
	t.Parallel()
	crd := withToken()
	for _, password := range []string{"geheim", "p&ss", `a"b`, `a\b`, "two\nlines", `<&">`, "ü\u2028"} {
		for _, html := range []bool{true, false} {
			var applied bytes.Buffer
			enc := json.NewEncoder(&applied)
			enc.SetEscapeHTML(html)
			if err := enc.Encode(map[string]any{"token": password}); err != nil {
				t.Fatal(err)
			}
			obj := map[string]any{"apiVersion": "a.b/v1", "kind": "A", "token": password, "metadata": map[string]any{
				"annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": applied.String(), "other": "stays"},
			}}
			shown, err := json.Marshal(secret.MaskOf(crd, obj).Object(obj))
			if err != nil {
				t.Fatal(err)
			}
			const want = `{"apiVersion":"a.b/v1","kind":"A","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"(hidden)","other":"stays"}},"token":"(hidden)"}`
			if got := string(shown); got != want {
				t.Errorf("%q: %s", password, got)
			}
		}
	}
}

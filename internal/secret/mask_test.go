package secret_test

import (
	"bytes"
	"encoding/json"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/internal/secret"
)

// TestMaskInJSON: a password is hidden too where it stands within JSON in a text.
func TestMaskInJSON(t *testing.T) {
	t.Parallel()
	password := apiextensionsv1.JSONSchemaProps{Type: "string", Format: "password"}
	crd := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"token": password}},
		}}},
	}}
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

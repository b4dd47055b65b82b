package roundtrip

import (
	"context"
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine/conversion"
)

func TestShrinkingIsBounded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	open, crd := true, &apiextensionsv1.CustomResourceDefinition{}
	crd.Name, crd.Spec.Group, crd.Spec.Scope = "things.s.test", "s.test", apiextensionsv1.ClusterScoped
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Kind: "Thing"}
	for _, name := range []string{"v1", "v2"} {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: name == "v1",
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open}},
		})
	}
	calls := 0
	ts, err := newTester(crd, conversion.Func(func(_ context.Context, obj map[string]any, to string) (map[string]any, error) {
		calls++
		obj["apiVersion"] = to
		return obj, nil
	}), Config{})
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{"apiVersion": "s.test/v1", "kind": "Thing", "metadata": map[string]any{"name": "a"}}
	for i := range 100 {
		object[fmt.Sprint("field", i)] = "x"
	}
	for range 50 { // smaller objects demonstrate none of them
		if _, err := ts.shrink(t.Context(), &Finding{Kind: Dropped, From: "v1", To: "v2", Path: "field1", Object: object}); err != nil {
			t.Fatal(err)
		}
	}
	if most := 4 * allShrinkTrips; calls == 0 || calls > most {
		t.Errorf("asked %d times, want no more than %d", calls, most)
	}
}

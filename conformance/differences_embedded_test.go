package conformance

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"

	"github.com/celadon-cel/celadon/engine"
)

const embeddedCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.differences.test}
spec:
  group: differences.test
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
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
            additionalProperties: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
`

// If several embedded resources cannot be decoded, the server reports a random one.
func TestFirstEmbedded(t *testing.T) {
	t.Parallel()
	e, err := engine.CompileCRD([]byte(embeddedCRD), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	object := func() map[string]any {
		spec := map[string]any{}
		for _, name := range []string{"e", "a", "d", "b", "c"} {
			spec[name] = map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"labels": name}}
		}
		return map[string]any{"apiVersion": "differences.test/v1", "kind": "Thing", "metadata": map[string]any{"name": "a"}, "spec": spec}
	}
	embedded := schema.Structural{Extensions: schema.Extensions{XEmbeddedResource: true, XPreserveUnknownFields: true}}
	s := &schema.Structural{Properties: map[string]schema.Structural{"spec": {AdditionalProperties: &schema.StructuralOrBool{Structural: &embedded}}}}
	ours, servers := map[string]bool{}, map[string]bool{}
	for range 10 * runs {
		res, err := e.Validate(t.Context(), engine.Request{Object: object()})
		if err != nil || res.Failure == nil || res.Failure.Code != 400 {
			t.Fatalf("got %+v, %v", res, err)
		}
		ours[res.Failure.Message] = true
		if err := objectmeta.Coerce(nil, object(), s, true, false); err != nil {
			servers[err.Error()] = true
		}
	}
	if len(ours) != 1 || len(servers) < 2 {
		t.Errorf("%d and %d different errors, want 1 and several", len(ours), len(servers))
	}
}

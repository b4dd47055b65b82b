package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
)

// scaled completes the result of a write to the scale subresource. The server returns a Scale, so
// scaled reads the persisted object. If the object cannot be converted to a Scale, the server
// returns 500, which counts as a rejection.
func (r *Resource) scaled(ctx context.Context, t *trial, request call, got *response) (*trial, error) {
	if got.code == http.StatusInternalServerError {
		got.code = http.StatusBadRequest // parsed as a rejection
		a, err := parseResponse(got)
		a.Code = http.StatusInternalServerError
		t.answer = a
		return t, err
	}
	a, err := parseResponse(got)
	if err == nil && a.Allowed {
		a.Object, err = r.get(ctx, request.version, request.namespace, request.name)
	}
	t.answer = a
	return t, err
}

const scalesCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: scales.example.com}
spec:
  group: example.com
  names: {kind: Pool, listKind: PoolList, plural: scales, singular: pool}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.nodes.count, statusReplicasPath: .status.count, labelSelectorPath: .status.selector}
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations: [{rule: "!has(self.metadata.generateName)"}]
        properties:
          spec:
            type: object
            x-kubernetes-preserve-unknown-fields: true
            x-kubernetes-validations: [{rule: "!has(oldSelf.color) || self.color == oldSelf.color"}]
            properties:
              color: {type: string, default: blue}
              nodes: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {count: {type: integer, maximum: 50, x-kubernetes-validations: [{rule: "self >= oldSelf - 20", message: too fast}, {rule: "self != 13"}]}}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
  - name: v2
    served: true
    storage: false
    deprecated: true
    subresources: {scale: {specReplicasPath: .spec.count, statusReplicasPath: .status.count}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {size: {type: integer, default: 3}}}}}}
`

// Scales returns n generated writes to the scale subresource.
func Scales(seed uint64, n int) (*Group, error) {
	crd, err := parseCRD([]byte(scalesCRD))
	if err != nil {
		return nil, err
	}
	g := &Group{CRD: &CRD{Path: "scales", Definition: crd}}
	for i := range n {
		w := scaleWriter{rand.New(rand.NewPCG(seed, uint64(i)))}
		g.Cases = append(g.Cases, &Case{
			ID: fmt.Sprintf("scales/%d/%d", seed, i), Project: "scales", CRD: g.CRD,
			Version: pickOf(w, "v1", "v1", "v1", "v2"), OldVersion: "", Subresource: "scale",
			FieldValidation: pickOf(w, "", "Warn", "Strict", "Ignore"),
			// An old object that the schema rejects is written to etcd directly.
			Ratcheting: true,
			OldObject:  w.old(), Object: w.scale(),
		})
	}
	return g, nil
}

type scaleWriter struct{ *rand.Rand }

func pickOf[T any](w scaleWriter, of ...T) T { return of[w.IntN(len(of))] }

func (w scaleWriter) number() any {
	return pickOf[any](w, 0, 1, 2, 5, 13, 30, 45, 50, 51, -1, 2147483647, 2147483648, -2147483648, -2147483649, 1.5, 2.0, "3", nil, true, map[string]any{})
}

func (w scaleWriter) small() any { return pickOf[any](w, 0, 1, 5, 13, 20, 40, 50) }

func (w scaleWriter) old() map[string]any {
	object := map[string]any{"apiVersion": "example.com/v1", "kind": "Pool", "metadata": map[string]any{"name": "a"}}
	spec := map[string]any{"count": w.small(), "nodes": map[string]any{"count": w.small(), "more": 1}}
	status := map[string]any{"count": w.small(), "selector": "app=a"}
	switch w.IntN(12) {
	case 0:
		spec["nodes"] = pickOf[any](w, nil, "text", map[string]any{}, []any{})
	case 1:
		spec["nodes"] = map[string]any{"count": w.number()}
	case 2:
		status["selector"] = pickOf[any](w, 1, nil, "", map[string]any{})
	case 3:
		status["count"] = w.number()
	case 4:
		spec = nil
	case 5:
		status = nil
	case 6:
		spec["color"] = "red"
	}
	if spec != nil {
		object["spec"] = spec
	}
	if status != nil {
		object["status"] = status
	}
	return decoded(object)
}

func (w scaleWriter) scale() map[string]any {
	spec := map[string]any{"replicas": w.small()}
	object := map[string]any{"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": map[string]any{"name": "a"}, "spec": spec}
	switch w.IntN(8) {
	case 0, 1:
		spec["replicas"] = w.number()
	case 2:
		spec["more"] = 1
	case 3:
		object["status"] = map[string]any{"replicas": w.small(), "selector": "x"}
	case 4:
		delete(object, pickOf(w, "spec", "kind", "apiVersion"))
	case 5:
		object["apiVersion"] = pickOf(w, "autoscaling/v2", "apps/v1", "v1", "a/b/c", "extensions/v1beta1", "apps/v1beta2")
	}
	return decoded(object)
}

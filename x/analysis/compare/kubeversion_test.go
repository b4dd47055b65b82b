package compare

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func TestUpgrade(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, spec, from, to string
		path                 string
		effect               Effect
	}{
		{"integer range", "port: {type: integer, format: int32}", "1.35", "1.36", "spec.port", Breaking},
		{"integer range, back", "port: {type: integer, format: int32}", "1.36", "1.35", "spec.port", Loosening},
		{"number range", "ratio: {type: number, format: float}", "1.35", "1.36", "spec.ratio", Breaking},
		{"ratcheting", "name: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: \"self != 'a'\"}]}", "1.29", "1.30", "spec.name", Loosening},
		{"no difference", "port: {type: integer}", "1.36", "1.37", "", Unknown},
		{"same version", "port: {type: integer, format: int32}", "1.36", "1.36", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := yaml.UnmarshalStrict([]byte(upgradeCRD+tt.spec), crd); err != nil {
				t.Fatal(err)
			}
			r, err := CRDs(t.Context(), crd, crd, Config{KubeVersion: tt.from, ToKubeVersion: tt.to, Steps: 200})
			if err != nil {
				t.Fatal(err)
			}
			if tt.effect == "" {
				if len(r.Changes) > 0 {
					t.Errorf("got %+v, want no changes", r.Changes)
				}
				return
			}
			if len(r.Changes) != 1 || r.Changes[0].Effect != tt.effect || r.Changes[0].Path != tt.path {
				t.Fatalf("got %+v, want %s at %q", r.Changes, tt.effect, tt.path)
			}
			if w := r.Changes[0].Rejected; tt.effect == Breaking && (w == nil || w.Create != Rejected || len(w.Causes) == 0) {
				t.Errorf("got example object %+v, want a create that is rejected", w)
			}
		})
	}
}

const upgradeCRD = `
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, kind: Thing, singular: thing, listKind: ThingList}
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
              `

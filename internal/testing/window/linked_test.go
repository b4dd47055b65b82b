package window

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
)

// These tests check the table in docs/versions.md: some results equal those of the linked code, and
// others do not depend on it.

const lampCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.example.com}
spec:
  group: example.com
  names: {kind: Lamp, listKind: LampList, plural: lamps, singular: lamp}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: string}, e: {type: string}, f: {type: string}, g: {type: string}, h: {type: string}, i: {type: string}}
    selectableFields: [{jsonPath: .a}, {jsonPath: .b}, {jsonPath: .c}, {jsonPath: .d}, {jsonPath: .e}, {jsonPath: .f}, {jsonPath: .g}, {jsonPath: .h}, {jsonPath: .i}]
status: {storedVersions: [v1]}
`

func decodeLamp(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(lampCRD), crd); err != nil {
		t.Fatal(err)
	}
	crd.ResourceVersion = "1"
	return crd
}

// cel-go rejects these times and time zones since 0.30, but servers do not.
func TestLenientTimes(t *testing.T) {
	t.Parallel()
	e, err := engine.Compile(decodeLamp(t), engine.Config{KubeVersion: "1.37"})
	if err != nil {
		t.Fatal(err)
	}
	node, err := e.At("v1", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range []string{
		"timestamp('2024-01-01T1:00:00Z') == timestamp('2024-01-01T01:00:00,0Z')", "timestamp(self.a).getHours('+05:99') == 7", "timestamp(self.a).getDate('-30:00') == 30",
	} {
		x, err := node.Compile(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if out := x.Eval(t.Context(), map[string]any{"a": "2024-01-01T1:00:00Z"}, nil); out.Err != nil || out.Value != true {
			t.Errorf("%s: %v, %v", src, out.Value, out.Err)
		}
	}
}

// Only newer servers accept an update of a stored CRD that keeps too many selectable fields.
func TestNewerRulesOfCRDs(t *testing.T) {
	t.Parallel()
	crd := decodeLamp(t)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd.DeepCopy(), internal, nil); err != nil {
		t.Fatal(err)
	}
	want := validation.ValidateCustomResourceDefinitionUpdate(t.Context(), internal, internal)
	report, err := vet.VetCRD(t.Context(), crd, vet.Config{KubeVersion: "1.37", Old: decodeLamp(t)})
	if err != nil {
		t.Fatal(err)
	}
	if report.Accepted != (len(want) == 0) {
		t.Errorf("got %+v; the linked version: %v", report, want)
	}
}

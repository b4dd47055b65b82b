package window

import (
	"testing"

	"github.com/google/cel-go/cel"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
)

// These tests hold the table in docs/versions.md: what depends on the linked version equals the
// answer of the linked code.

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

// TestMacroVariableNames compiles a rule whose macro variable is also the beginning of a type's name.
func TestMacroVariableNames(t *testing.T) {
	t.Parallel()
	const src = "[{'protobuf': {'Timestamp': 1}}].exists(google, google.protobuf.Timestamp == 1)"
	env, err := cel.NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	_, issues := env.Compile(src)
	e, err := engine.Compile(decodeLamp(t), engine.Config{KubeVersion: "1.37"})
	if err != nil {
		t.Fatal(err)
	}
	node, err := e.At("v1", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := node.Compile(src); (err == nil) != (issues.Err() == nil) {
		t.Errorf("got %v; the linked cel-go: %v", err, issues.Err())
	}
}

// TestNewerRulesOfCRDs vets an update of a CRD that only newer servers accept: a stored CRD keeps too
// many selectable fields.
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

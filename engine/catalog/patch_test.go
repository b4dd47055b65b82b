package catalog_test

import (
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/catalog"
)

func TestIsPatchObject(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: crontabs.example.com}\n"
	const beta = "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: crontabs.example.com}\n"
	for _, test := range []struct {
		name, text string
		patch      bool
	}{
		{"metadata only", head, true},
		{"no spec", head + "spec: null\n", true},
		{"conversion", head + "spec: {conversion: {strategy: None}}\n", true},
		{"names without a kind", head + "spec: {names: {shortNames: [ct]}}\n", true},
		{"empty fields", head + "spec: {group: '', names: {}, versions: []}\n", true},
		{"null fields", head + "spec: {group: null, names: null, versions: null}\n", true},
		{"v1beta1", beta + "spec: {preserveUnknownFields: false}\n", true},
		{"no group", head + "spec: {names: {kind: CronTab, plural: crontabs}}\n", false},
		{"versions only", head + "spec: {versions: [{name: v1}]}\n", false},
		{"group only", head + "spec: {group: example.com}\n", false},
		{"v1beta1's version", beta + "spec: {version: v1}\n", false},
		{"a whole CRD", crontabs, false},
	} {
		var value map[string]any
		if err := yaml.Unmarshal([]byte(test.text), &value); err != nil {
			t.Fatal(err)
		}
		if got := catalog.IsPatchObject(value); got != test.patch {
			t.Errorf("%s: IsPatchObject: got %v", test.name, got)
		}
		crds, err := catalog.Read([]byte(test.text))
		if err != nil || len(crds) != 1 {
			t.Fatalf("%s: %d CRDs, %v", test.name, len(crds), err)
		}
		if got := catalog.IsPatch(crds[0]); got != test.patch {
			t.Errorf("%s: IsPatch: got %v", test.name, got)
		}
		crds, err = catalog.ReadFS(fstest.MapFS{"a.yaml": {Data: []byte(test.text)}})
		if err != nil || (len(crds) == 0) != test.patch {
			t.Errorf("%s: ReadFS: got %d CRDs, %v", test.name, len(crds), err)
		}
	}
	if catalog.IsPatchObject(map[string]any{"apiVersion": "apiextensions.k8s.io/v1alpha1", "kind": "CustomResourceDefinition"}) {
		t.Error("a CRD of an unknown version is a patch")
	}
	for name, text := range map[string]string{"a spec that is a list": "spec: [1]", "names that are a list": "spec: {names: [1]}", "a number": "spec: {group: 3}"} {
		var value map[string]any
		if err := yaml.Unmarshal([]byte(head+text), &value); err != nil {
			t.Fatal(err)
		}
		if catalog.IsPatchObject(value) {
			t.Errorf("%s is a patch", name)
		}
	}
}

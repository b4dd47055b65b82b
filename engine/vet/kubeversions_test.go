package vet

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/types"
)

func allVersions() (all []string) {
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		all = append(all, types.Version{Minor: minor}.String())
	}
	return all
}

// TestKubeVersions checks that the verdict of each version equals a validation for that version
// alone.
func TestKubeVersions(t *testing.T) {
	t.Parallel()
	step := 20
	if os.Getenv("CELADON_FULL") != "" {
		step = 1
	}
	for i, path := range corpus.CRDFiles(t) {
		if i%step != 0 {
			continue
		}
		crd := corpus.ReadCRD(t, path)
		set, err := VetCRD(context.Background(), crd, Config{KubeVersions: allVersions()})
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range set.KubeVersions {
			alone, err := VetCRD(context.Background(), crd, Config{KubeVersion: got.Version, KubeVersions: []string{got.Version}, WithoutLints: LintNames()})
			if err != nil {
				t.Fatal(err)
			}
			if want := alone.KubeVersions[0]; !sameVerdict(got, want) {
				t.Errorf("%s at %s: got %s, want %s", crd.Name, got.Version, inJSON(got), inJSON(want))
			}
		}
	}
}

// TestPanicOfKubeVersion checks that a rule over which the servers of one version panic is rejected
// by that version.
func TestPanicOfKubeVersion(t *testing.T) {
	t.Parallel()
	const crd = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"}, "spec": {
		"group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
		"versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {
			"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self.format([1]) != 'a'"}]}}}}}]}}`
	r, err := Vet(context.Background(), []byte(crd), Config{KubeVersions: []string{"1.30", "1.31", "1.32", "1.37"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.KubeVersions {
		if want := v.Version != "1.31"; v.Accepted != want || len(v.Causes) > 0 == want {
			t.Errorf("%s: accepted %t, want %t: %v", v.Version, v.Accepted, want, v.Causes)
		}
	}
}

func sameVerdict(a, b KubeVersion) bool {
	return a.Version == b.Version && a.Accepted == b.Accepted && a.EstimatedCost == b.EstimatedCost && len(a.Causes) == len(b.Causes) &&
		(len(a.Causes) == 0 || reflect.DeepEqual(messages(a), messages(b)))
}

func messages(v KubeVersion) (list []string) {
	for _, c := range v.Causes {
		list = append(list, c.Field+": "+c.Message)
	}
	return list
}

func inJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data[:min(len(data), 600)])
}

// BenchmarkKubeVersions vets CRDs for one version and for all.
func BenchmarkKubeVersions(b *testing.B) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for i, path := range corpus.CRDFiles(b) {
		if i%20 == 0 {
			crds = append(crds, corpus.ReadCRD(b, path))
		}
	}
	for name, versions := range map[string][]string{"one": nil, "all": allVersions()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, crd := range crds {
					if _, err := VetCRD(context.Background(), crd, Config{KubeVersions: versions}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

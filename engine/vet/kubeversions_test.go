package vet

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/types"
)

func allVersions() (all []string) {
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		all = append(all, types.Version{Minor: minor}.String())
	}
	return all
}

func TestKubeVersions(t *testing.T) {
	t.Parallel()
	step := 20
	if level.Long() {
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

// The servers of one version panic over the rule.
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

// Only some versions derive the length of the string from its enum.
var oneOfTwo = schemaProps{Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"a"`)}, {Raw: []byte(`"b"`)}}}

func TestAdviceForOlderVersions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]schemaProps{
		"items": {Type: "array", MaxItems: ptr(int64(1000)), Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &oneOfTwo},
			XValidations: []aRule{{Rule: "self.all(s, s.matches('^[a-z]+$'))"}}},
		"values": {Type: "object", MaxProperties: ptr(int64(1000)), AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &oneOfTwo},
			XValidations: []aRule{{Rule: "self.all(key, self[key].matches('^[a-z]+$'))"}}},
		"below": {Type: "array", MaxItems: ptr(int64(1000)), Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &schemaProps{Type: "object",
			Properties: map[string]schemaProps{"kind": oneOfTwo}, XValidations: []aRule{{Rule: "self.kind.matches('^[a-z]+$')"}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crd, cfg := unitCRD(c), Config{KubeVersions: allVersions(), AdviseAll: true}
			r, err := VetCRD(context.Background(), crd, cfg)
			if err != nil || !r.Accepted || r.KubeVersions[0].Accepted {
				t.Fatalf("%v: accepted %v, by %s %v: want only the oldest to reject it", err, r.Accepted, r.KubeVersions[0].Version, r.KubeVersions[0].Accepted)
			}
			rule := r.Versions[0].Rules[0]
			if !rule.OverLimit || rule.Reason.KubeVersion != r.KubeVersions[0].Version || rule.Reason.EstimatedTotal <= rule.Limit || rule.EstimatedTotal > rule.Limit {
				t.Errorf("over %v, total %d, reason %+v", rule.OverLimit, rule.EstimatedTotal, rule.Reason)
			}
			advice := adviceOf(r)
			if r, err = VetCRD(context.Background(), follow(crd, advice, "", 0), cfg); err != nil {
				t.Fatal(err)
			}
			for _, one := range r.KubeVersions {
				if !one.Accepted || len(advice) == 0 {
					t.Errorf("%s with %v: %+v", one.Version, advice, one.Causes)
				}
			}
		})
	}
}

func TestMinimumAgrees(t *testing.T) {
	t.Parallel()
	crd := unitCRD(schemaProps{Type: "array", MaxItems: ptr(int64(1000)), Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &oneOfTwo},
		XValidations: []aRule{{Rule: "self.all(s, s.matches('^[a-z]+$'))"}}})
	all := allVersions()
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	for _, tt := range []struct {
		versions []string
		want     string
	}{
		{all, "1.29"}, {reversed, "1.29"}, {[]string{"1.33", "1.28", "1.30"}, "1.30"}, {nil, "1.28"},
		{[]string{"1.28"}, types.Version{Minor: types.Newest}.String()},
	} {
		r, err := VetCRD(context.Background(), crd, Config{KubeVersions: tt.versions})
		if err != nil || r.MinKubeVersion != tt.want {
			t.Errorf("%v: from %s with %v, want %s", err, r.MinKubeVersion, tt.versions, tt.want)
		}
	}
}

package vet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func withSpec(schema string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":%s}}}}]}}`, schema)
}

const specPath = "spec.versions[0].schema.openAPIV3Schema.properties.spec."

// Strict decoding finds exactly the keys that servers do not drop.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schema string
		want   []string // path, known key, and "dropped"
	}{
		"none": {`{"type":"object","properties":{"xyz":{"type":"array","items":{"type":"string","default":"x"}}}}`, nil},
		"strict": {`{"type":"object","maxPropertys":1,"properties":{"a":{"type":"string","maxLenght":1}}}`,
			[]string{"maxPropertys maxProperties", "properties.a.maxLenght maxLength"}},
		"items": {`{"type":"array","items":{"type":"object","reqired":["a"],"propertys":{"a":{"typ":""}},"x-kubernetes-validation":[{"rule":"true"}]}}`,
			[]string{"items.propertys properties dropped", "items.propertys.a.typ type dropped", "items.reqired required dropped", "items.x-kubernetes-validation x-kubernetes-validations dropped"}},
		"values":          {`{"type":"object","additionalProperties":{"type":"string","maxLenght":4}}`, []string{"additionalProperties.maxLenght maxLength dropped"}},
		"below":           {`{"type":"array","items":{"type":"object","properties":{"a.b":{"type":"string","maxLenght":4}}}}`, []string{"items.properties['a.b'].maxLenght maxLength dropped"}},
		"rules":           {`{"type":"array","items":{"type":"string","x-kubernetes-validations":[{"rule":"true","mesage":"m"}]}}`, []string{"items.x-kubernetes-validations[0].mesage message dropped"}},
		"list of items":   {`{"type":"array","items":[{"type":"string","maxLenght":4}]}`, []string{"items[0].maxLenght maxLength dropped"}},
		"dependencies":    {`{"type":"object","dependencies":{"a":{"maxLenght":4},"b":["c"]}}`, []string{"dependencies.a.maxLenght maxLength dropped"}},
		"junctors":        {`{"type":"array","items":{"type":"object","allOf":[{"requird":["a"]}]}}`, []string{"items.allOf[0].requird required dropped"}},
		"not similar":     {`{"type":"array","items":{"type":"string","x-vendor":1}}`, []string{"items.x-vendor  dropped"}},
		"known one, too":  {`{"type":"array","items":{"type":"string","maxLength":1,"maxLenght":4}}`, []string{"items.maxLenght  dropped"}},
		"values of users": {`{"type":"array","items":{"type":"object","default":{"maxLenght":1},"enum":[{"maxLenght":1}],"example":{"maxLenght":1}}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := withSpec(c.schema)
			var got, strict []string
			for _, k := range unknownKeys(raw) {
				text := strings.TrimPrefix(k.Path, specPath) + " " + k.Known
				if k.Dropped {
					text += " dropped"
				} else {
					strict = append(strict, k.Path)
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			var r Report
			r.decode(raw, Config{})
			var server []string
			for _, err := range r.Strict {
				server = append(server, err.Field)
			}
			if slices.Sort(server); !slices.Equal(strict, server) {
				t.Errorf("strict decoding finds %v, want %v", server, strict)
			}
			var crd apiextensionsv1.CustomResourceDefinition
			if err := json.Unmarshal(CorrectKeys(raw, unknownKeys(raw)), &crd); err != nil {
				t.Error(err)
			}
			for _, k := range unknownKeys(CorrectKeys(raw, unknownKeys(raw))) {
				if k.Known != "" {
					t.Errorf("%s is still misspelled", k.Path)
				}
			}
		})
	}
}

func TestKeysHideNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schema    string
		accepted  bool
		following []string
	}{
		"a rejected key":           {`{"type":"object","maxPropertys":1,"x-kubernetes-validations":[{"rule":"self.b"}]}`, false, []string{"x-kubernetes-validations[0].rule"}},
		"rules below the key":      {`{"type":"object","x-kubernetes-validation":[{"rule":"self.b"}]}`, false, []string{"x-kubernetes-validation[0].rule"}},
		"a property below it":      {`{"type":"object","propertys":{"b":{"type":"boolean"}},"x-kubernetes-validations":[{"rule":"self.b"}]}`, false, nil},
		"a rule below items":       {`{"type":"array","maxItems":9,"items":{"type":"object","x-kubernetes-validation":[{"rule":"self.b"}]}}`, true, []string{"items.x-kubernetes-validation[0].rule"}},
		"with an error of its own": {`{"type":"array","maxItems":9,"items":{"type":"strin","maxLenght":9,"x-kubernetes-validations":[{"rule":"self.b","mesage":"m"}]}}`, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Vet(context.Background(), withSpec(c.schema), Config{})
			if err != nil || r.Accepted != c.accepted {
				t.Fatalf("%v, accepted %v: %+v", err, r.Accepted, r.Status)
			}
			var got []string
			for _, f := range r.Following {
				got = append(got, strings.TrimPrefix(f.Field, specPath))
			}
			if diff := cmp.Diff(c.following, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNearestKey(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"spec.scpe": "scope",
		"knd":       "kind",
		"spec.versions[0].schema.openAPIv3Schema":                                                  "openAPIV3Schema",
		"spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rle": "rule",
		"spec.versions[0].schema.openAPIV3Schema.properties[a].items.maxLenght":                    "maxLength",
		"spec.versions[0].schema.openAPIV3Schema.properties[a].additionalProperties.tpye":          "type",
		"spec.xyzzy": "",
		"spec.scope": "", // a duplicate
		"a.b.c":      "",
		"":           "",
	} {
		if got := NearestKey(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

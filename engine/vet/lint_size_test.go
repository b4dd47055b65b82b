package vet

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/validation"
)

// The object with the fields has the description. Version v1beta1 exists only if old is set.
func sizedCRD(description string, fields int, old bool) []byte {
	properties := map[string]any{}
	for i := range fields {
		properties[fmt.Sprintf("field%05d", i)] = map[string]any{"type": "string", "maxLength": 100 + i}
	}
	version := func(name string, storage bool) any {
		return map[string]any{"name": name, "served": true, "storage": storage, "schema": map[string]any{"openAPIV3Schema": map[string]any{
			"type": "object",
			"properties": map[string]any{
				"spec": map[string]any{"type": "object", "properties": map[string]any{
					"template": map[string]any{"type": "array", "items": map[string]any{"type": "object", "description": description, "properties": properties}},
				}},
			},
		}}}
	}
	versions := []any{version("v1", true)}
	if old {
		versions = append(versions, version("v1beta1", false))
	}
	data, err := json.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "things.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced", "names": map[string]any{"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"},
			"versions": versions,
		},
	})
	if err != nil {
		panic(err)
	}
	return data
}

func noise(n int) string {
	source := rand.NewChaCha8([32]byte{1})
	data := make([]byte, n*3/4)
	_, _ = source.Read(data)
	return base64.StdEncoding.EncodeToString(data)
}

func TestLargeCRD(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, test := range []struct {
		name string
		crd  []byte
		want []string // parts of the message; empty without a finding
	}{
		{"small", sizedCRD("a", 10, true), nil},
		{"descriptions", sizedCRD(strings.Repeat("text ", 60_000), 10, false), []string{
			"bytes as JSON: kubectl apply fails, because its annotation last-applied-configuration would exceed the limit of 262,144 bytes for all annotations; ",
			`descriptions are 99% of it, version v1 is 99% (most of it spec.template[*]): use kubectl apply --server-side, or remove or shorten descriptions (`,
		}},
		{"escaped", sizedCRD(strings.Repeat("<&>", 15_000), 10, false), []string{"kubectl apply fails"}},
		{"versions", sizedCRD("a", 4000, true), []string{`all annotations; version v1beta1 is 49% (most of it spec.template[*]): use kubectl apply --server-side, or remove versions that are no longer served`}},
		{"fields", sizedCRD("a", 8000, false), []string{"replace embedded types, such as a Pod template, by an object with x-kubernetes-preserve-unknown-fields"}},
		{"etcd", sizedCRD(strings.Repeat("text ", 400_000), 10, false), []string{"bytes as JSON: etcd rejects it by default, which stores at most 1,572,864 bytes; ", ": remove or shorten"}},
		{"release", sizedCRD(noise(1_100_000), 10, false), []string{"a Helm release with it has more than 1,048,576 bytes, the limit of a Secret, and kubectl apply fails"}},
		{"no release", sizedCRD(strings.Repeat("text ", 250_000), 10, false), []string{"bytes as JSON: kubectl apply fails"}},
	} {
		r, err := Vet(context.Background(), test.crd, Config{})
		if err != nil || !r.Accepted {
			t.Fatalf("%s: %+v, %v", test.name, r.Status, err)
		}
		if len(r.Lints) > 1 || (len(r.Lints) == 1) != (len(test.want) > 0) {
			t.Errorf("%s: %d lints: %v", test.name, len(r.Lints), r.Lints)
			continue
		}
		for _, want := range test.want {
			if l := r.Lints[0]; l.Name != largeCRD || !strings.Contains(l.Message, want) {
				t.Errorf("%s: %s\nwant %s", test.name, l.Message, want)
			}
		}
		for _, cfg := range []Config{{WithoutLints: []string{largeCRD}}, {Stored: true}, {VerdictOnly: true}} {
			if r, err := Vet(context.Background(), test.crd, cfg); err != nil || len(r.Lints) > 0 {
				t.Errorf("%s: %+v: %v, %v", test.name, cfg, r, err)
			}
		}
	}
}

func TestLargeCRDLimit(t *testing.T) {
	t.Parallel()
	base := len(sizedCRD("", 1, false)) + len(`"annotations":{},`) + len(lastApplied) + 1
	for n, want := range map[int]bool{0: false, 1: true} {
		crd := sizedCRD(strings.Repeat("a", validation.TotalAnnotationSizeLimitB-base+n), 1, false)
		if got := sizeLint(crd) != nil; got != want {
			t.Errorf("%d bytes over the limit: %v", n, got)
		}
	}
	meta := `"metadata":{"uid":"a","managedFields":[{"manager":"` + strings.Repeat("m", 300_000) + `"}],"annotations":{"` + lastApplied + `":"` + strings.Repeat("b", 300_000) + `"},`
	if l := sizeLint([]byte(strings.Replace(string(sizedCRD("", 1, false)), `"metadata":{`, meta, 1))); l != nil {
		t.Errorf("fields of the server count: %s", l.Message)
	}
}

func TestLargeCRDHostile(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"type":"array","items":`, 4000) + "{}" + strings.Repeat("}", 4000)
	padding := strings.Repeat("x", 300_000)
	for _, schema := range []string{deep, `[1]`, `{"properties":[],"items":[{}],"allOf":{},"description":{}}`, `"a"`} {
		raw := `{"metadata":{"annotations":[]},"spec":{"versions":[7,{"name":[],"schema":{"openAPIV3Schema":` + schema + `}}],"validation":[]},"x":"` + padding + `"}`
		if sizeLint([]byte(raw)) == nil {
			t.Errorf("no lint: %.40s", schema)
		}
	}
}

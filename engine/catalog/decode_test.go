package catalog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/catalog"
)

// Conformance TestBetaAsStored checks the same cases on a real server.
func TestDecodeBeta(t *testing.T) {
	t.Parallel()
	const head = "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/"
	const names = "{plural: tabs, singular: tab, kind: Tab, listKind: TabList}"
	for name, tt := range map[string]struct{ beta, want string }{
		"all that is filled in": {
			`spec: {group: x.io, version: v1, names: {plural: tabs, kind: Tab}}`,
			`spec: {group: x.io, scope: Namespaced, preserveUnknownFields: true, conversion: {strategy: None}, names: ` + names + `,
               versions: [{name: v1, served: true, storage: true}]}`,
		},
		"top level": {
			`spec: {group: x.io, scope: Cluster, preserveUnknownFields: false, names: ` + names + `, version: v2,
               versions: [{name: v2, served: true, storage: true}, {name: v1, served: true, storage: false}],
               subresources: {status: {}}, additionalPrinterColumns: [{name: A, type: string, JSONPath: .a}],
               validation: {openAPIV3Schema: {type: object}}}`,
			`spec: {group: x.io, scope: Cluster, conversion: {strategy: None}, names: ` + names + `, versions: [
               {name: v2, served: true, storage: true, subresources: {status: {}}, additionalPrinterColumns: [{name: A, type: string, jsonPath: .a}], schema: {openAPIV3Schema: {type: object}}},
               {name: v1, served: true, storage: false, subresources: {status: {}}, additionalPrinterColumns: [{name: A, type: string, jsonPath: .a}], schema: {openAPIV3Schema: {type: object}}}]}`,
		},
		"webhook": {
			`spec: {group: x.io, scope: Cluster, names: ` + names + `, version: v1, conversion: {strategy: Webhook, webhookClientConfig: {url: "https://a"}}}`,
			`spec: {group: x.io, scope: Cluster, preserveUnknownFields: true, names: ` + names + `, versions: [{name: v1, served: true, storage: true}],
               conversion: {strategy: Webhook, webhook: {clientConfig: {url: "https://a"}, conversionReviewVersions: [v1beta1]}}}`,
		},
	} {
		got, err := catalog.Decode(toJSON(t, head+"v1beta1\nmetadata: {name: tabs.x.io}\n"+tt.beta))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want, err := catalog.Decode(toJSON(t, head+"v1\nmetadata: {name: tabs.x.io}\n"+tt.want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(spec(t, want.Spec), spec(t, got.Spec)); diff != "" || want.TypeMeta != got.TypeMeta {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestDecodeRejects(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"kind":"Secret"}`: `kind "Secret": want CustomResourceDefinition`,
		`{"kind":"CustomResourceDefinition","apiVersion":"v1"}`: `apiVersion "v1": want apiextensions.k8s.io/v1`,
		`[]`: "not a CustomResourceDefinition: json: cannot unmarshal array into Go value of type v1.TypeMeta",
		`{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1","spec":1}`: "not a CustomResourceDefinition: json: cannot unmarshal number into Go struct field CustomResourceDefinition.spec of type v1beta1.CustomResourceDefinitionSpec",
	} {
		if _, err := catalog.Decode([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v: want %s", text, err, want)
		}
	}
}

func toJSON(t *testing.T, text string) []byte {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func spec(t *testing.T, v any) (out any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDecodeBetaBomb(t *testing.T) {
	t.Parallel()
	versions := make([]string, 1000)
	for i := range versions {
		versions[i] = fmt.Sprintf(`{"name":"v%d","served":true,"storage":%t}`, i+1, i == 0)
	}
	schema := `{"type":"object","description":"` + strings.Repeat("x", 10_000) + `"}`
	crd := `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1","metadata":{"name":"tabs.x.io"},"spec":{
		"group":"x.io","names":{"plural":"tabs","kind":"Tab"},"validation":{"openAPIV3Schema":` + schema + `},"versions":[%s]}}`
	if _, err := catalog.Decode(fmt.Appendf(nil, crd, strings.Join(versions, ","))); err == nil || !strings.Contains(err.Error(), "9 KiB that 1000 versions share") {
		t.Errorf("1000 versions: %v", err)
	}
	if _, err := catalog.Decode(fmt.Appendf(nil, crd, strings.Join(versions[:400], ","))); err != nil {
		t.Errorf("400 versions: %v", err)
	}
}

func TestDecodeCase(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v1beta1"} {
		crd, err := catalog.Decode([]byte(`{"apiVersion":"apiextensions.k8s.io/` + version + `","kind":"CustomResourceDefinition","spec":{"Group":"example.com","versions":[{"name":"v1",
			"schema":{"openAPIV3Schema":{"type":"string","MaxLength":2,"minLength":1}}}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		if crd.Spec.Group != "" || schema.MaxLength != nil || schema.MinLength == nil {
			t.Errorf("%s: group %q, MaxLength %v, MinLength %v", version, crd.Spec.Group, schema.MaxLength, schema.MinLength)
		}
	}
}

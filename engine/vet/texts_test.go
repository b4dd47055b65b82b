package vet

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// The messages changed in k8s.io/apimachinery/pkg/util/validation/field/errors.go and in
// k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta/validation.go.
func TestDefaultTexts(t *testing.T) {
	t.Parallel()
	const spec = `{type: object, properties: {
  plain: {type: object, required: [kind], properties: {kind: {type: string}}, default: {}},
  text: {type: string, maxLength: 1, default: long},
  list: {type: array, maxItems: 1, items: {type: string}, default: [a, b]},
  pod: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, default: {}}}}`
	for version, want := range map[string][]string{
		"1.31": {
			"list].default: must have at most 1 items",
			"plain].default.kind: Required value",
			"pod].default.apiVersion: must not be empty",
			"pod].default.kind: must not be empty",
			"text].default: may not be longer than 1",
		},
		"1.33": {
			"list].default: must have at most 1 items",
			"plain].default.kind: Required value",
			"pod].default.apiVersion: must not be empty",
			"pod].default.kind: must not be empty",
			"text].default: may not be more than 1 bytes",
		},
		"1.34": {
			"list].default: must have at most 1 item",
			"plain].default.kind: Required value",
			"pod].default.apiVersion: Required value",
			"pod].default.kind: Required value",
			"text].default: may not be more than 1 byte",
		},
	} {
		r, err := Vet(context.Background(), minorCRD(t, spec, "", "", ""), Config{KubeVersion: version, VerdictOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, endsOf(r)); diff != "" {
			t.Errorf("%s: %s", version, diff)
		}
	}
}

func TestRootDefaultTexts(t *testing.T) {
	t.Parallel()
	for version, detail := range map[string]string{"1.33": "must not be empty", "1.34": "Required value"} {
		crd := decodeMinorCRD(t, minorCRD(t, "{type: object}", "", "", ""))
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Default = &apiextensionsv1.JSON{Raw: []byte("{}")}
		r, err := VetCRD(context.Background(), crd, Config{KubeVersion: version, VerdictOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		const path = "spec.validation.openAPIV3Schema.default."
		if diff := cmp.Diff([]string{path + "apiVersion: " + detail, path + "kind: " + detail}, endsOf(r)); diff != "" {
			t.Errorf("%s: %s", version, diff)
		}
	}
}

// The causes have the form "field: detail", from the last property of the schema on.
func endsOf(r *Report) (ends []string) {
	for _, cause := range withoutValues(r) {
		ends = append(ends, cause[strings.LastIndex(cause, "[")+1:])
	}
	slices.Sort(ends)
	return ends
}

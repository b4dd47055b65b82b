package vet

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDefaultTexts checks the texts of errors in defaults, which changed in
// k8s.io/apimachinery/pkg/util/validation/field/errors.go and in
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
		var got []string
		for _, cause := range withoutValues(r) {
			got = append(got, cause[strings.LastIndex(cause, "[")+1:])
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", version, diff)
		}
	}
}

package vet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
)

// pairs are replacements in the JSON.
func rawCRD(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, pairs ...string) []byte {
	t.Helper()
	crd.APIVersion, crd.Kind = "apiextensions.k8s.io/v1", crdKind
	data, err := json.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("no %q in %s", pairs[i], text)
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return []byte(text)
}

func misspelt(t *testing.T) []byte {
	return rawCRD(t, unitCRD(schemaProps{Type: "object"}),
		`"kind":"Thing"`, `"kind":"Thing","kind":"Thing"`,
		`"spec":{"type":"object"`, `"spec":{"x-kubernetes-validation":[],"a\t\"b":1,"type":"object"`)
}

const (
	twice       = `duplicate field "spec.names.kind"`
	belowSchema = `spec.versions[0].schema.openAPIV3Schema.properties.spec.`
	unknown     = `unknown field "` + belowSchema + `x-kubernetes-validation"`
	odd         = `unknown field "` + belowSchema + `a\t\"b"`
)

func TestFieldValidation(t *testing.T) {
	t.Parallel()
	all := []engine.StrictError{
		{Field: "spec.names.kind", Duplicate: true, Message: twice}, {Field: belowSchema + "x-kubernetes-validation", Message: unknown}, {Field: belowSchema + "a\t\"b", Message: odd},
	}
	for directive, want := range map[string]Report{
		"":       {Strict: all},
		"Strict": {Strict: all},
		"Warn":   {Accepted: true, Strict: all, Warnings: []string{twice, unknown, odd}},
		"Ignore": {Accepted: true},
	} {
		r, err := Vet(context.Background(), misspelt(t), Config{FieldValidation: directive, VerdictOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		got := Report{Accepted: r.Accepted, Strict: r.Strict, Warnings: r.Warnings}
		if diff := cmp.Diff(want, got); diff != "" || r.Accepted != (r.Status == nil) {
			t.Errorf("%q: status %v, (-want +got):\n%s", directive, r.Status, diff)
		}
	}
	if _, err := Vet(context.Background(), misspelt(t), Config{FieldValidation: "strict"}); err == nil {
		t.Error("an unknown directive is taken")
	}
}

func TestDuplicateBesideMisspelt(t *testing.T) {
	t.Parallel()
	duplicate := errors.New("yaml: unmarshal errors:\n  line 3: key \"kind\" already set in map")
	r, err := Vet(context.Background(), misspelt(t), Config{DuplicateKeys: duplicate})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status == nil || !strings.Contains(r.Status.Message, duplicate.Error()+", "+twice+", "+unknown) {
		t.Errorf("got %v", r.Status)
	}
	r, err = Vet(context.Background(), misspelt(t), Config{DuplicateKeys: duplicate, FieldValidation: "Warn"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`line 3: key "kind" already set in map`, twice, unknown, odd}, r.Warnings); diff != "" {
		t.Error(diff)
	}
}

func TestUndecodableIsNoStrictError(t *testing.T) {
	t.Parallel()
	raw := rawCRD(t, unitCRD(schemaProps{Type: "object"}), `"scope":"Namespaced"`, `"scope":["Namespaced"]`)
	for _, cfg := range []Config{{}, {FieldValidation: "Ignore"}, {Stored: true}} {
		r, err := Vet(context.Background(), raw, cfg)
		if err != nil || r.Status == nil || r.Status.Code != 400 || len(r.Strict) > 0 || r.Name != "things.example.com" {
			t.Errorf("%v: got %+v", err, r)
		}
	}
}

// A server still serves these CRDs although it would not accept them today.
func TestStored(t *testing.T) {
	t.Parallel()
	expensive := many(20, func(i int) aRule {
		return aRule{Rule: fmt.Sprintf("!self.free.contains('%s%d')", strings.Repeat("x", 200), i)}
	})
	served := costly()
	served.UID, served.ResourceVersion = "9", "4711"
	for name, c := range map[string]struct {
		raw    []byte
		stored bool // whether it is valid as a stored CRD
	}{
		"over the limit of a rule": {rawCRD(t, costly()), true},
		"over the limit of all":    {rawCRD(t, unitCRD(expensive)), true},
		"as a cluster lists it":    {rawCRD(t, served), true},
		"misspelt keys":            {misspelt(t), true},
		"type: arry":               {rawCRD(t, unitCRD(schemaProps{Type: "arry"})), true},
		"a rule that is broken":    {rawCRD(t, unitCRD(schemaProps{Type: "object", XValidations: []aRule{{Rule: "self.nope"}}})), false},
	} {
		fresh, err := Vet(context.Background(), c.raw, Config{VerdictOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		stored, err := Vet(context.Background(), c.raw, Config{VerdictOnly: true, Stored: true})
		if err != nil {
			t.Fatal(err)
		}
		if fresh.Accepted || stored.Accepted != c.stored {
			t.Errorf("%s: as a new one accepted %v, as a stored one %v %v: want false, %v", name, fresh.Accepted, stored.Accepted, stored.Causes, c.stored)
		}
	}
}

func TestStoredIsNoUpdate(t *testing.T) {
	t.Parallel()
	if _, err := VetCRD(context.Background(), costly(), Config{Stored: true, Old: costly()}); err == nil {
		t.Error("want an error")
	}
}

// An old server drops the same fields from the stored CRD as from the new one, so equal schemas stay equal.
func TestOldDropsUnknownToo(t *testing.T) {
	t.Parallel()
	yes := true
	crd := unitCRD(schemaProps{Type: "string", XValidations: []aRule{{Rule: "[1, 2, 3, 4].all(x, self.matches(" + slowPattern + "))", OptionalOldSelf: &yes}}})
	for _, version := range []string{"", "1.29"} {
		r, err := VetCRD(context.Background(), crd, Config{Old: crd, KubeVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Causes {
			if strings.HasSuffix(c.Field, ".rule") && !strings.Contains(c.Detail, "cost total") {
				t.Errorf("%q: %s: %s", version, c.Field, c.Message)
			}
		}
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"spec.validation.openAPIV3Schema.properties[spec]": "spec.versions[0].schema.openAPIV3Schema.properties[spec]",
		"spec.validation":                       "spec.versions[0].schema",
		"spec.subresources.scale":               "spec.versions[0].subresources.scale",
		"spec.additionalPrinterColumns[1].type": "spec.versions[0].additionalPrinterColumns[1].type",
		"spec.selectableFields[0].jsonPath":     "spec.versions[0].selectableFields[0].jsonPath",
		"spec.version":                          "spec.versions[0].name",
		"spec.versions[1].schema":               "spec.versions[1].schema",
		"spec.validations":                      "spec.validations",
		"spec.names.kind":                       "spec.names.kind",
		"metadata.name":                         "metadata.name",
	} {
		if got := Place(field); got != want {
			t.Errorf("Place(%q) = %q, want %q", field, got, want)
		}
	}
}

// A CRD from a file is checked as new. A CRD listed by a cluster is checked as stored.
func ExampleConfig_stored() {
	crd := unitCRD(schemaProps{Type: "object", Properties: map[string]schemaProps{
		"hosts": {
			Type:         "array",
			Items:        &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &schemaProps{Type: "string"}},
			XValidations: []aRule{{Rule: "self.all(h, self.exists_one(k, k == h))"}},
		},
	}})
	vetWith := func(cfg Config) *Report {
		cfg.VerdictOnly = true
		report, err := VetCRD(context.Background(), crd, cfg)
		if err != nil {
			panic(err)
		}
		return report
	}
	fmt.Println("as a new one:", vetWith(Config{}).Accepted)
	fmt.Println("as a stored one:", vetWith(Config{Stored: true}).Accepted)
	cause := func(c engine.Cause) string { return Place(c.Field) }
	fmt.Println(cause(vetWith(Config{}).Causes[1]))
	// Output:
	// as a new one: false
	// as a stored one: true
	// spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[hosts].x-kubernetes-validations[0].rule
}

// A server strictly decodes a CRD of any version before it rejects the version.
func TestOldVersionWithUnknownKeys(t *testing.T) {
	t.Parallel()
	raw := rawCRD(t, unitCRD(schemaProps{Type: "object"}), `apiextensions.k8s.io/v1"`, `apiextensions.k8s.io/v1beta1"`, `"kind":"Thing"`, `"kind":"Thing","nosuch":1`)
	for directive, want := range map[string]string{
		"Strict": `CustomResourceDefinition in version "v1beta1" cannot be handled as a CustomResourceDefinition: strict decoding error: unknown field "spec.names.nosuch"`,
		"Ignore": `the API version in the data (apiextensions.k8s.io/v1beta1) does not match the expected API version (apiextensions.k8s.io/v1)`,
	} {
		r, err := Vet(context.Background(), raw, Config{FieldValidation: directive})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == nil || r.Status.Message != want {
			t.Errorf("%s: %+v, want %s", directive, r.Status, want)
		}
	}
}

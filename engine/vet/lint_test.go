package vet

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func TestLints(t *testing.T) {
	t.Parallel()
	const immutable = `
type: object
%properties:
  a: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: self == oldSelf}]}
`
	const fields = `
type: object
required: [must]
properties:
  must: {type: string, maxLength: 9, minLength: 1}
  may: {type: string, maxLength: 9}
  set: {type: string, maxLength: 9, default: x}
  e: {type: string, enum: [a, b]}
  num: {type: integer, minimum: 1, maximum: 5}
  l: {type: array, maxItems: 3, items: {type: object, properties: {may: {type: string, maxLength: 9}}}}
  o: {type: object, properties: {may: {type: string, maxLength: 9}}}
  free: {type: string}
x-kubernetes-validations: [{%}]
`
	const nested = `
type: object
%properties:
  o:
    type: object
    required: [a]
    properties:
      a: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: self == oldSelf}]}
`
	cases := []struct{ name, schema, with, want string }{
		{"immutable optional field", immutable, "", "optional-immutable"},
		{"immutable required field", immutable, "required: [a]\n", ""},
		{"guarded on the parent", immutable, "x-kubernetes-validations: [{rule: '!has(oldSelf.a) || has(self.a)'}]\n", ""},
		{"has in another rule of the parent", immutable, "x-kubernetes-validations: [{rule: '!has(self.a) || self.a == \"x\"'}]\n", "optional-immutable"},

		{"required in an optional object", nested, "", "optional-immutable"},
		{"required in a required object", nested, "required: [o]\n", ""},
		{"guarded above", nested, "x-kubernetes-validations: [{rule: '!has(oldSelf.o) || has(self.o)'}]\n", ""},

		{"optional read", fields, "rule: self.may == 'a'", "optional-read"},
		{"guarded read", fields, "rule: \"!has(self.may) || self.may == 'a'\"", ""},
		{"required read", fields, "rule: self.must == 'a'", ""},
		{"default read", fields, "rule: self.set == 'a'", ""},
		{"optional selection", fields, "rule: \"self.?may.orValue('') == 'a'\"", ""},
		{"guarded by an optional selection", fields, "rule: \"self.?may.hasValue() && self.may == 'a'\"", ""},
		{"guarded by an optional path", fields, "rule: \"self.?o.may.hasValue() && self.o.may == 'a'\"", ""},
		{"read in a loop", fields, "rule: \"has(self.l) && self.l.all(x, x.may == 'a')\"", "optional-read"},
		{"guarded in a loop", fields, "rule: \"has(self.l) && self.l.all(x, !has(x.may) || x.may == 'a')\"", ""},

		{"always true", fields, "rule: 1 < 2", "constant-rule"},
		{"always an error that nothing absorbs", fields, "rule: \"dyn(b'a') in {false: 1} || true\"", ""},
		{"always false", fields, "rule: \"'a' == 'b'\"", "constant-rule"},
		{"has of a required field", fields, "rule: has(self.must)", "constant-rule"},
		{"has of an optional field", fields, "rule: has(self.may)", ""},
		{"size never negative", fields, "rule: size(self.must) >= 0", "constant-rule"},
		{"size within bounds", fields, "rule: size(self.must) <= 9", "constant-rule"},
		{"size smaller than bounds", fields, "rule: size(self.must) <= 8", ""},
		{"number out of range", fields, "rule: \"!has(self.num) || self.num < 9\"", "constant-rule"},
		{"number in range", fields, "rule: \"!has(self.num) || self.num < 4\"", ""},
		{"enum in list", fields, "rule: \"!has(self.e) || self.e in ['a', 'b', 'c']\"", "constant-rule"},
		{"enum partly in list", fields, "rule: \"!has(self.e) || self.e in ['a']\"", ""},
		{"not a value of the enum", fields, "rule: \"!has(self.e) || self.e != 'c'\"", "constant-rule"},
		{"a value of the enum", fields, "rule: \"!has(self.e) || self.e != 'a'\"", ""},
		{"longer than allowed", fields, "rule: \"self.must != '0123456789'\"", "constant-rule"},
		{"shorter than allowed", fields, "rule: \"self.must == ''\"", "constant-rule"},
		{"of all elements", fields, "rule: \"!has(self.l) || self.l.all(x, x == x)\"", "constant-rule"},
		{"of no element", fields, "rule: \"has(self.l) && self.l.exists(x, has(x.may) && size(x.may) > 9)\"", "constant-rule"},
		{"of some elements", fields, "rule: \"!has(self.l) || self.l.all(x, !has(x.may) || size(x.may) > 8)\"", ""},
		{"two elements", fields, "rule: \"!has(self.l) || self.l[0] == self.l[1]\"", ""},
		{"bounds of a field that looks the same", fields, "rule: \"has(self.may) && size(self.may) >= 1\"", ""},
		{"both ways", fields, "rule: \"has(self.may) ? size(self.must) > 0 : true\"", "constant-rule"},
		{"one way", fields, "rule: \"has(self.may) ? size(self.must) > 1 : true\"", ""},
		{"same on both sides", fields, "rule: self.must == self.must", "constant-rule"},

		{"short message", fields, "rule: self.must == 'a', messageExpression: \"'not ' + self.must\"", ""},
		{"long message", fields, "rule: self.must == 'a', messageExpression: \"has(self.free) ? 'not ' + self.free : ''\"", "message-limits"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var s apiextensionsv1.JSONSchemaProps
			if err := yaml.Unmarshal([]byte(strings.Replace(c.schema, "%", c.with, 1)), &s); err != nil {
				t.Fatal(err)
			}
			r, err := VetCRD(context.Background(), unitCRD(s), Config{})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Accepted {
				t.Fatalf("refused: %v", r.Causes)
			}
			var names []string
			for _, l := range r.Lints {
				names = append(names, l.Name)
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("got %q, want %q: %v", got, c.want, r.Lints)
			}
		})
	}
}

func TestOptionalReadOfNames(t *testing.T) {
	t.Parallel()
	const text = `
type: object
properties:
  metadata: {type: object, properties: {name: {type: string}, generateName: {type: string}}}
  spec: {type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, properties: {name: {type: string}}}}}
required: [spec]
`
	for _, c := range []struct{ rule, want string }{
		{"self.metadata.name != 'a' && self.metadata.name != oldSelf.metadata.name", ""},
		{"self.metadata.generateName != 'a'", "self.metadata.generateName"},
		{"has(self.spec.metadata) && self.spec.metadata.name != 'a'", "self.spec.metadata.name"},
	} {
		crd := unitCRD(schemaProps{})
		root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		if err := yaml.Unmarshal([]byte(text), root); err != nil {
			t.Fatal(err)
		}
		root.XValidations = []aRule{{Rule: c.rule}}
		r, err := VetCRD(context.Background(), crd, Config{})
		if err != nil || !r.Accepted {
			t.Fatalf("%s: %v %v", c.rule, err, r)
		}
		got := ""
		for _, l := range r.Lints {
			got, _, _ = strings.Cut(l.Message, " is optional")
		}
		if got != c.want {
			t.Errorf("%s: reported %q, want %q", c.rule, got, c.want)
		}
	}
}

func TestLintsSwitchedOff(t *testing.T) {
	t.Parallel()
	crd := unitCRD(schemaProps{Type: "object", XValidations: []aRule{{Rule: "true"}}})
	r, err := VetCRD(context.Background(), crd, Config{WithoutLints: []string{"constant-rule"}})
	if err != nil || len(r.Lints) != 0 {
		t.Errorf("got %v, %v", r.Lints, err)
	}
	if _, err := VetCRD(context.Background(), crd, Config{WithoutLints: []string{"nope"}}); err == nil {
		t.Error("want an error that names the lints")
	}
}

func TestLintsHavePages(t *testing.T) {
	page, err := os.ReadFile("../../docs/lints.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range LintNames() {
		if !strings.Contains(string(page), "\n## "+name+"\n") {
			t.Errorf("docs/lints.md has no section %q", name)
		}
	}
}

func TestStrictDecoding(t *testing.T) {
	t.Parallel()
	crd, err := json.Marshal(unitCRD(schemaProps{Type: "object"}))
	if err != nil {
		t.Fatal(err)
	}
	text := string(crd)
	text = strings.Replace(text, `"kind":"Thing"`, `"kind":"Thing","kind":"Thing"`, 1)
	text = strings.Replace(text, `"spec":{"type":"object"`, `"spec":{"x-kubernetes-validation":[],"type":"object"`, 1)
	text = strings.Replace(text, `{"metadata"`, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata"`, 1)
	r, err := Vet(context.Background(), []byte(text), Config{})
	if err != nil {
		t.Fatal(err)
	}
	want := `CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: strict decoding error: duplicate field "spec.names.kind", unknown field "spec.versions[0].schema.openAPIV3Schema.properties.spec.x-kubernetes-validation"`
	if r.Accepted || r.Status == nil || r.Status.Code != 400 || r.Status.Message != want {
		t.Errorf("got %+v\nwant 400 %s", r.Status, want)
	}
}

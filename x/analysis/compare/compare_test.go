package compare_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/x/analysis/compare"
)

func crdOf(t testing.TB, spec string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	text := `{metadata: {name: things.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Thing, plural: things}, versions: [
  {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: ` + spec + `}}}}]}}`
	if err := yaml.UnmarshalStrict([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func TestChanges(t *testing.T) {
	t.Parallel()
	field := func(schema string) string { return "{type: object, properties: {a: " + schema + "}}" }
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"nothing":          {field("{type: string}"), field("{type: string}"), nil},
		"shorter":          {field("{type: string, maxLength: 9}"), field("{type: string, maxLength: 5}"), []string{"spec.a bound breaking witness"}},
		"shorter bytes":    {field("{type: string, format: byte, maxLength: 12}"), field("{type: string, format: byte, maxLength: 9}"), []string{"spec.a bound breaking witness"}},
		"some bytes":       {field("{type: string, format: byte}"), field("{type: string, format: byte, minLength: 14}"), []string{"spec.a bound breaking witness"}},
		"shorter time":     {field("{type: string, format: date-time}"), field("{type: string, format: date-time, maxLength: 20}"), []string{"spec.a bound breaking witness"}},
		"shorter duration": {field("{type: string, format: duration}"), field("{type: string, format: duration, maxLength: 5}"), []string{"spec.a bound breaking witness"}},
		"bytes enum":       {field("{type: string, format: byte, enum: [aGk=]}"), field("{type: string, format: byte, maxLength: 3, enum: [aGk=]}"), []string{"spec.a bound breaking witness"}},
		"shorter hostname": {field("{type: string, format: hostname}"), field("{type: string, format: hostname, maxLength: 200}"), []string{"spec.a bound breaking witness"}},
		"shorter cidr":     {field("{type: string, format: cidr}"), field("{type: string, format: cidr, maxLength: 40}"), []string{"spec.a bound breaking witness"}},
		"shorter email":    {field("{type: string, format: email}"), field("{type: string, format: email, maxLength: 100}"), []string{"spec.a bound breaking witness"}},
		"shorter uri":      {field("{type: string, format: uri}"), field("{type: string, format: uri, maxLength: 2000}"), []string{"spec.a bound breaking witness"}},
		"shorter image": {
			field("{type: string, maxLength: 447, x-kubernetes-validations: [{rule: \"self.split('@').size() == 2 && self.split('@')[1].matches('^sha256:[a-f0-9]{64}$')\"}]}"),
			field("{type: string, maxLength: 223, x-kubernetes-validations: [{rule: \"self.split('@').size() == 2 && self.split('@')[1].matches('^sha256:[a-f0-9]{64}$')\"}]}"),
			[]string{"spec.a bound breaking witness"},
		},
		"shorter domain": {
			field("{type: string, maxLength: 244, x-kubernetes-validations: [{rule: \"!format.dns1123Subdomain().validate(self).hasValue()\"}, {rule: \"self.split('.').all(l, size(l) <= 63)\"}]}"),
			field("{type: string, maxLength: 122, x-kubernetes-validations: [{rule: \"!format.dns1123Subdomain().validate(self).hasValue()\"}, {rule: \"self.split('.').all(l, size(l) <= 63)\"}]}"),
			[]string{"spec.a bound breaking witness"},
		},
		"longer":           {field("{type: string, maxLength: 5}"), field("{type: string, maxLength: 9}"), []string{"spec.a bound loosening proof"}},
		"bound of a rule":  {`{type: object, x-kubernetes-validations: [{rule: "!has(self.a) || self.a <= 5"}], properties: {a: {type: integer}}}`, field("{type: integer, maximum: 5}"), []string{"spec rule equivalent proof", "spec.a bound equivalent proof"}},
		"exclusive":        {field("{type: integer, maximum: 5}"), field("{type: integer, maximum: 5, exclusiveMaximum: true}"), []string{"spec.a bound breaking witness"}},
		"multiple":         {field("{type: number}"), field("{type: number, multipleOf: 0.5}"), []string{"spec.a bound breaking witness"}},
		"items":            {field("{type: array, x-kubernetes-list-type: set, items: {type: string}}"), field("{type: array, maxItems: 40, x-kubernetes-list-type: set, items: {type: string}}"), []string{"spec.a bound breaking witness"}},
		"pattern":          {field("{type: string}"), field("{type: string, pattern: '^a'}"), []string{"spec.a pattern breaking witness"}},
		"enum":             {field("{type: string, enum: [p, q]}"), field("{type: string, enum: [q, r]}"), []string{"spec.a enum both witness"}},
		"format":           {field("{type: string}"), field("{type: string, format: date-time}"), []string{"spec.a format breaking witness"}},
		"type":             {field("{type: string}"), field("{type: integer}"), []string{"spec.a type both witness"}},
		"wider type":       {field("{type: integer}"), field("{type: number}"), []string{"spec.a type loosening proof"}},
		"list type":        {field("{type: array, items: {type: integer}}"), field("{type: array, x-kubernetes-list-type: set, items: {type: integer}}"), []string{"spec.a list type breaking witness"}},
		"nullable":         {field("{type: string, nullable: true}"), field("{type: string}"), []string{"spec.a nullable breaking witness"}},
		"required":         {field("{type: string}"), `{type: object, required: [a], properties: {a: {type: string}}}`, []string{"spec.a required breaking witness"}},
		"new and required": {"{type: object}", `{type: object, required: [a], properties: {a: {type: string}}}`, []string{"spec.a required breaking witness", "spec.a field loosening proof"}},
		"one of new":       {"{type: object}", `{type: object, oneOf: [{required: [a]}, {required: [b]}], properties: {a: {type: string}, b: {type: string}}}`, []string{"spec oneOf breaking witness", "spec.a field loosening proof", "spec.b field loosening proof"}},
		"default too many": {`{type: object, maxProperties: 1, properties: {a: {type: string}, b: {type: string}}}`, `{type: object, maxProperties: 1, properties: {a: {type: string}, b: {type: string, default: x}}}`, []string{"spec.b default loosening search"}},
		"required, filled": {field("{type: string}"), `{type: object, required: [a], properties: {a: {type: string, default: x}}}`, []string{"spec.a default loosening proof", "spec.a required equivalent proof"}},
		"default":          {field("{type: string, default: x}"), field("{type: string, default: z}"), []string{"spec.a default breaking witness"}},
		"default refused":  {`{type: object, x-kubernetes-validations: [{rule: "!has(self.a)"}], properties: {a: {type: string}}}`, `{type: object, x-kubernetes-validations: [{rule: "!has(self.a)"}], properties: {a: {type: string, default: x}}}`, []string{"spec.a default breaking witness"}},
		"field gone":       {field("{type: string}"), "{type: object}", []string{"spec.a field breaking witness"}},
		"field added":      {"{type: object}", field("{type: string}"), []string{"spec.a field loosening proof"}},
		"pruning":          {"{type: object, x-kubernetes-preserve-unknown-fields: true}", "{type: object}", []string{"spec pruning breaking witness"}},
		"looked at":        {"{type: object, x-kubernetes-preserve-unknown-fields: true}", "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}", []string{"spec.a field breaking witness"}},
		"one of":           {`{type: object, properties: {a: {type: string}, b: {type: string}}}`, `{type: object, oneOf: [{required: [a]}, {required: [b]}], properties: {a: {type: string}, b: {type: string}}}`, []string{"spec oneOf breaking witness"}},
		"white space":      {`{type: object, x-kubernetes-validations: [{rule: "self.a>3"}], properties: {a: {type: integer}}}`, `{type: object, x-kubernetes-validations: [{rule: "(self.a > 3)"}], properties: {a: {type: integer}}}`, []string{"spec rule equivalent proof"}},
		"message":          {`{type: object, x-kubernetes-validations: [{rule: "self.a>3", message: x}], properties: {a: {type: integer}}}`, `{type: object, x-kubernetes-validations: [{rule: "self.a>3", message: z}], properties: {a: {type: integer}}}`, []string{"spec message equivalent proof"}},
		"error":            {`{type: object, x-kubernetes-validations: [{rule: "!has(self.a) || self.a != 3"}], properties: {a: {type: integer}}}`, `{type: object, x-kubernetes-validations: [{rule: "self.a != 3"}], properties: {a: {type: integer}}}`, []string{"spec rule breaking witness"}},
		"new field's rule": {field("{type: string}"), `{type: object, x-kubernetes-validations: [{rule: "!has(self.b) || has(self.a)"}], properties: {a: {type: string}, b: {type: string}}}`, []string{"spec.b field loosening proof", "spec rule equivalent proof"}},
		"transition":       {field("{type: string}"), field(`{type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}`), []string{"spec.a rule breaking witness"}},
		"broken rule":      {field("{type: string}"), field(`{type: string, x-kubernetes-validations: [{rule: self.nothing}]}`), []string{"spec.a rule unknown search"}},
		"password":         {field("{type: string, format: password, default: hunter2}"), field("{type: string, format: password, default: hunter3}"), []string{"spec.a default breaking witness"}},
	} {
		r, err := compare.CRDs(context.Background(), crdOf(t, c.before), crdOf(t, c.after), compare.Config{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, ch := range r.Changes {
			got = append(got, fmt.Sprintf("%s %s %s %s", ch.Path, ch.Subject, ch.Effect, ch.By))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestThreeAnswers(t *testing.T) {
	t.Parallel()
	before, after := crdOf(t, "{type: object, properties: {a: {type: integer}}}"), crdOf(t, "{type: object, properties: {a: {type: integer, maximum: 5}}}")
	r, err := compare.CRDs(context.Background(), before, after, compare.Config{})
	if err != nil || len(r.Changes) != 1 || r.Changes[0].Rejected == nil {
		t.Fatal(r, err)
	}
	w := r.Changes[0].Rejected
	if w.Create != compare.Rejected || w.ChangedUpdate != compare.Rejected || w.UnchangedUpdate != compare.Ratcheted {
		t.Errorf("create %s, changed update %s, unchanged update %s", w.Create, w.ChangedUpdate, w.UnchangedUpdate)
	}
}

// If the old CRD sets spec.preserveUnknownFields, stored objects may have any value in a field that the new CRD adds, so
// a rule that reads the field can reject them.
func TestKeptFields(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{true, false} {
		before := crdOf(t, "{type: object, properties: {a: {type: string}}}")
		before.Spec.PreserveUnknownFields = kept
		after := crdOf(t, `{type: object, x-kubernetes-validations: [{rule: "!has(self.b) || has(self.a)"}], properties: {a: {type: string}, b: {type: string}}}`)
		r, err := compare.CRDs(t.Context(), before, after, compare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Changes {
			if c.Subject == "rule" && (c.By == compare.ByProof) == kept {
				t.Errorf("unknown fields are kept %v: %s by %s (%s)", kept, c.Effect, c.By, c.Proof)
			}
		}
	}
}

func ExampleCRDs() {
	before := crdOf(&testing.T{}, "{type: object, properties: {size: {type: integer, maximum: 9}}}")
	after := crdOf(&testing.T{}, "{type: object, properties: {size: {type: integer, maximum: 5}}}")
	r, err := compare.CRDs(context.Background(), before, after, compare.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range r.Changes {
		fmt.Println(c.Version, c.Path, c.Subject, c.Old, "->", c.New, c.Effect, c.Rejected.Object["spec"])
	}
	// Output: v1 spec.size bound maximum: 9 -> maximum: 5 breaking map[size:6]
}

package vet

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type (
	schemaProps = apiextensionsv1.JSONSchemaProps
	aRule       = apiextensionsv1.ValidationRule
)

func ptr[T any](v T) *T { return &v }

const slowPattern = "'[a-z]+[a-z]+[a-z]+[a-z]+[a-z]+[a-z]+[a-z]+'"

func costly() *apiextensionsv1.CustomResourceDefinition {
	text := schemaProps{Type: "string", XValidations: []aRule{{Rule: "self.matches('^a+$')"}}}
	inner := schemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &text}}
	return unitCRD(schemaProps{Type: "object", Properties: map[string]schemaProps{
		"lists": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &inner}},
		"count": {Type: "integer", XValidations: []aRule{{Rule: "self > 0", MessageExpression: "'got ' + string(self)"}}},
		"q":     {XIntOrString: true, XValidations: []aRule{{Rule: "[1, 2, 3].all(x, quantity(self).isGreaterThan(quantity('1'))) && [1, 2, 3, 4].all(y, string(self).matches(" + slowPattern + "))"}}},
		"b":     {Type: "string", AllOf: []schemaProps{{MaxLength: ptr(int64(4))}}, XValidations: []aRule{{Rule: "[1, 2, 3, 4].all(x, self.matches(" + slowPattern + "))"}}},
	}})
}

func TestReasons(t *testing.T) {
	t.Parallel()
	r, err := VetCRD(context.Background(), costly(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Rule{}
	for _, rule := range r.Versions[0].Rules {
		got[rule.Path] = rule
	}
	nested := got["spec.lists[*][*]"]
	if !nested.OverLimit || len(nested.Factors) != 2 || len(nested.Reason.Missing) == 0 || !hasNote(nested, "nested lists") {
		t.Errorf("nested: %+v", nested.Reason)
	}
	count := got["spec.count"]
	if count.Reason == nil || count.Reason.Fixable || count.Reason.Expression != "string(self)" || !hasNote(count, "string() of a number") {
		t.Errorf("count: %+v", count.Reason)
	}
	if q := got["spec.q"]; q.Reason == nil || !strings.Contains(q.Reason.Expression, "matches") || !hasNote(q, "int-or-string") {
		t.Errorf("q: %+v", q.Reason)
	}
	if b := got["spec.b"]; b.Reason == nil || !hasNote(b, "allOf") || len(b.Advice) != 1 || b.Advice[0].Set != "maxLength" {
		t.Errorf("b: %+v, %+v", b.Reason, b.Advice)
	}
	if v := r.Versions[0]; v.Fixable || len(v.Advice) == 0 {
		t.Errorf("mendable %v, advice %v: want advice for all rules but one", v.Fixable, v.Advice)
	}
}

func hasNote(r Rule, text string) bool {
	return r.Reason != nil && strings.Contains(strings.Join(r.Reason.Notes, "; "), text)
}

func TestSameTwice(t *testing.T) {
	t.Parallel()
	first := ""
	for range 5 {
		r, err := VetCRD(context.Background(), costly(), Config{Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(text)
		}
		if diff := cmp.Diff(first, string(text)); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestInputUnchanged(t *testing.T) {
	t.Parallel()
	crd, old := costly(), costly()
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
		ClientConfig: &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "a", Name: "b"}}, ConversionReviewVersions: []string{"v1"},
	}}
	old.Spec.Names.Kind = "Other"
	wantCRD, wantOld := crd.DeepCopy(), old.DeepCopy()
	for _, cfg := range []Config{{Old: old, KubeVersion: "1.28"}, {Old: old}, {Stored: true}, {}, {VerdictOnly: true}, {VerdictOnly: true, KubeVersion: "1.28"}} {
		if _, err := VetCRD(context.Background(), crd, cfg); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wantCRD, crd) + cmp.Diff(wantOld, old); diff != "" {
			t.Errorf("%+v: %s", cfg, diff)
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := VetCRD(ctx, costly(), Config{}); err == nil {
		t.Errorf("got %+v: want an error", r)
	}
}

func TestWithoutEffect(t *testing.T) {
	t.Parallel()
	yes := true
	crd := unitCRD(schemaProps{Type: "object", Properties: map[string]schemaProps{
		"a": {Type: "integer", XValidations: []aRule{{Rule: "self > 0 || oldSelf == oldSelf", OptionalOldSelf: &yes}}},
	}})
	r, err := VetCRD(context.Background(), crd, Config{KubeVersion: "1.29"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range r.Needs {
		got = append(got, n.String())
	}
	want := []string{"optionalOldSelf in spec.a: without effect before 1.30"}
	if diff := cmp.Diff(want, got); diff != "" || !r.Accepted {
		t.Errorf("accepted %v, (-want +got):\n%s", r.Accepted, diff)
	}
}

// The schemas of the versions differ only in a field that the server drops. If the server never decodes the field,
// the schemas count as equal, so causes have the path of the shared schema. If it drops the field later, they stay
// apart, and the server rejects versions with identical schemas.
func TestVersionsThatDifferInNothingKnown(t *testing.T) {
	t.Parallel()
	const own, apart, identical = "spec.validation.openAPIV3Schema", "spec.versions[0].schema.openAPIV3Schema", "spec.versions"
	reason, yes := apiextensionsv1.FieldValueForbidden, true
	for _, tt := range []struct {
		rule  aRule
		minor map[string]string
	}{
		{aRule{Rule: "nothing"}, map[string]string{"1.28": own, "1.37": own}},
		{aRule{Rule: "nothing", MessageExpression: "'a'"}, map[string]string{"1.28": apart, "1.37": apart}},
		{aRule{Rule: "nothing", OptionalOldSelf: &yes}, map[string]string{"1.28": own, "1.29": identical, "1.30": apart}},
		{aRule{Rule: "nothing", Reason: &reason, OptionalOldSelf: &yes}, map[string]string{"1.28": apart}},
	} {
		schema := schemaProps{Type: "object", Properties: map[string]schemaProps{"a": {Type: "string"}}, XValidations: []aRule{tt.rule}}
		crd := unitCRD(schema)
		schema.XValidations = []aRule{{Rule: "nothing"}}
		second := unitCRD(schema).Spec.Versions[0]
		second.Name, second.Storage = "v2", false
		crd.Spec.Versions = append(crd.Spec.Versions, second)
		for minor, want := range tt.minor {
			r, err := VetCRD(context.Background(), crd, Config{KubeVersion: minor})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Causes) == 0 || !strings.HasPrefix(r.Causes[0].Field, want) || want == identical && r.Causes[0].Field != identical {
				t.Errorf("%+v, %s: got %v, want %s", tt.rule, minor, r.Causes, want)
			}
		}
	}
}

func ExampleVetCRD() {
	crd := unitCRD(schemaProps{Type: "object", Properties: map[string]schemaProps{
		"hosts": {
			Type:         "array",
			Items:        &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &schemaProps{Type: "string"}},
			XValidations: []aRule{{Rule: "self.all(h, self.exists_one(k, k == h))"}},
		},
	}})
	report, err := VetCRD(context.Background(), crd, Config{})
	if err != nil {
		panic(err)
	}
	fmt.Println("accepted:", report.Accepted)
	for _, a := range report.Versions[0].Advice {
		fmt.Printf("%s: %s: %d\n", a.Path, a.Set, a.Value)
	}
	// Output:
	// accepted: false
	// spec.hosts: maxItems: 200
	// spec.hosts[*]: maxLength: 512
}

func TestPanicIsPlaced(t *testing.T) {
	t.Parallel()
	message := aRule{Rule: "has(self.m)", MessageExpression: "string([?dyn(self)].size())"}
	for name, tt := range map[string]struct {
		rule        aRule
		field, text string
	}{
		"checking":   {aRule{Rule: "[?dyn(self)].size() == 0"}, ".rule", "CEL's libraries panic on it, as on `[?x]`"},
		"planning":   {aRule{Rule: "{b'a': 1}.size() > 0"}, ".rule", "CEL's libraries panic when they plan it"},
		"message":    {message, ".messageExpression", "CEL's libraries panic on it"},
		"field path": {aRule{Rule: "true", FieldPath: ".m['a'].b"}, ".fieldPath", "the server's parser panics"},
	} {
		crd := unitCRD(schemaProps{Type: "object", XValidations: []aRule{{Rule: "true", Message: "always"}, tt.rule}, Properties: map[string]schemaProps{
			"m": {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}},
		}})
		r, err := VetCRD(t.Context(), crd, Config{})
		if err != nil || r.Status == nil || r.Status.Code != 500 || r.Panic == nil {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		if want := "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[1]" + tt.field; r.Panic.Field != want || !strings.HasPrefix(r.Panic.Message, tt.text) {
			t.Errorf("%s: %s: %s, want %s: %s", name, r.Panic.Field, r.Panic.Message, want, tt.text)
		}
		if ref := r.Panic.Rule; r.Panic.Value != nil || ref == nil || ref.Path != "spec" || ref.Index != 1 || ref.Rule != tt.rule.Rule {
			t.Errorf("%s: rule %+v", name, ref)
		}
	}
}

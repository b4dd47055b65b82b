package vet

import (
	"context"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func jsonDefault(text string) *apiextensionsv1.JSON {
	return &apiextensionsv1.JSON{Raw: []byte(text)}
}

func TestUndecided(t *testing.T) {
	t.Parallel()
	greedy := []aRule{{Rule: "self.replace('', self).size() > 0 || self.replace('', self) != ''"}}
	text := func(set func(*schemaProps)) schemaProps {
		s := schemaProps{Type: "string", MaxLength: ptr(int64(100_000))}
		set(&s)
		return schemaProps{Type: "object", Properties: map[string]schemaProps{"a": s}}
	}
	long := jsonDefault(`"` + strings.Repeat("x", 100_000) + `"`)
	for name, c := range map[string]struct {
		spec   schemaProps
		want   string
		causes int
	}{
		"rule": {text(func(s *schemaProps) { s.Default, s.XValidations = long, greedy }), "undecided: spec.validation.openAPIV3Schema.properties[spec].properties[a].default: default: call of replace: it would allocate over 96 MiB of memory", 0},
		"message": {text(func(s *schemaProps) {
			s.Default, s.XValidations = long, []aRule{{Rule: "false", MessageExpression: "self.replace('', self)"}}
		}), "call of replace", 1},
		"another": {text(func(s *schemaProps) { s.Default, s.XValidations = long, append(greedy, aRule{Rule: "self == ''"}) }), "call of replace", 1},
		"pattern": {text(func(s *schemaProps) { s.Pattern = strings.Repeat("a{1000}", 3000) }), "undecided: spec.a: schema: its pattern has more than 50000 states", 0},
		"default": {text(func(s *schemaProps) { s.Default, s.Pattern = long, "(x?){0,500}(y?x?){0,400}Z" }), "undecided: spec.a: schema: matching its default against patterns takes too long", 0},
	} {
		r, err := VetCRD(context.Background(), unitCRD(c.spec), Config{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.Accepted || r.Undecided == nil || !strings.Contains(r.Undecided.Error(), c.want) || len(r.Causes) != c.causes || (r.Status != nil) != (c.causes > 0) {
			t.Errorf("%s: accepted %t, undecided %v, causes %d, status %v", name, r.Accepted, r.Undecided, len(r.Causes), r.Status != nil)
		}
	}
}

func TestHiddenWork(t *testing.T) {
	t.Parallel()
	spec := schemaProps{Type: "object", Properties: map[string]schemaProps{
		"a": {Type: "string", MaxLength: ptr(int64(1 << 20))},
		"n": {Type: "string", MaxLength: ptr(int64(253))},
		"l": {Type: "array", MaxItems: ptr(int64(3000)), Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &schemaProps{Type: "string", MaxLength: ptr(int64(63))}}},
	}}
	for rule, hidden := range map[string]bool{
		"'%s'.format([self.l.map(x, self.a)]).size() > 0":          true,
		"self.l.all(x, self.a.size() > 3)":                         true,
		"self.l.all(x, !self.a.startsWith(x + 'b'))":               false,
		"self.a.size() > 3":                                        false,
		"self.a.matches('^[a-z]+$')":                               false,
		"self.a.matches('(x?){0,500}(y?x?){0,400}Z')":              true,
		"self.l.all(x, x.matches('^[a-z0-9]([-a-z0-9]*)?$'))":      false,
		"self.l.all(x, self.n.size() > 3 && self.l.size() < 5000)": false,
		"self.l.all(x, self.l.exists_one(y, x == y))":              false,
	} {
		one := spec
		one.XValidations = []aRule{{Rule: rule}}
		r, err := VetCRD(context.Background(), unitCRD(one), Config{})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, l := range r.Lints {
			found = found || l.Name == "hidden-work"
		}
		if found != hidden {
			t.Errorf("%s: got %t, %v", rule, found, r.Lints)
		}
	}
}

// The only schema of the CRD applies to every version.
func TestUndecidedBeta(t *testing.T) {
	t.Parallel()
	versions := strings.Repeat(`{"name":"v1","served":true,"storage":true},`, 1000) + `{"name":"v2","served":true,"storage":false}`
	crd := `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1","metadata":{"name":"tabs.x.io"},"spec":{"versions":[` + versions +
		`],"validation":{"openAPIV3Schema":{"type":"object","description":"` + strings.Repeat("x", 10_000) + `"}}}}`
	r, err := Vet(context.Background(), []byte(crd), Config{Beta: true})
	if err != nil || r.Accepted || r.Status != nil || r.Undecided == nil || !strings.Contains(r.Undecided.Error(), "9 KiB that 1001 versions share") {
		t.Errorf("got %+v, %v", r, err)
	}
}

package search

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

func withOtherForm(t *testing.T, schema, other string) *Search {
	t.Helper()
	crd := widgets(t, schema)
	e, err := engine.Compile(crd, engine.Config{})
	if e == nil {
		t.Fatal(err)
	}
	s, err := New(crd, e, "v1", Config{OtherForm: searching(t, other, Config{})})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func admitted(t *testing.T, s *Search, w *Witness) bool {
	t.Helper()
	req := w.Request()
	req.FieldValidation = "Strict"
	res, err := s.engine.Validate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res.Allowed
}

func TestFindOtherForm(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, rule, properties, other, otherProperties string
		want                                           StatusWord
	}{
		{"a new rule", "!has(self.a) || self.a != 'x'", "a: {type: string}", "true", "a: {type: string}", Found},
		{"a narrower rule", "!has(self.c) || self.c < 5", "c: {type: integer}", "!has(self.c) || self.c < 9", "c: {type: integer}", Found},
		{"a wider rule", "!has(self.c) || self.c < 9", "c: {type: integer}", "!has(self.c) || self.c < 5", "c: {type: integer}", Unknown},
		{"the other has a rule to be kept", "!has(self.c) || self.c > 5", "c: {type: integer}\nd: {type: integer}", "!has(self.c) || has(self.d) && self.d == self.c * 2", "c: {type: integer}\nd: {type: integer}", Found},
		{"the other's schema is to be kept", "!has(self.a) || self.a.startsWith('x')", "a: {type: string}", "true", "a: {type: string, pattern: '^[p-r]{5}$'}", Found},
		{"the other prunes it", "!has(self.b) || self.b < 5", "b: {type: integer}", "true", "c: {type: integer}", Unknown},
		{"a transition rule", "!has(oldSelf.c) || has(self.c) && self.c >= oldSelf.c", "c: {type: integer}", "!has(self.c) || self.c > 7", "c: {type: integer}", Found},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := withOtherForm(t, specWith(test.rule, test.properties), specWith(test.other, test.otherProperties))
			s.cfg.Steps = 300
			a, err := s.Find(t.Context(), s.Rules()[0], Rejected)
			if err != nil {
				t.Fatal(err)
			}
			if a.Status != test.want {
				t.Fatalf("%s after %d (want %s)", a.Status, a.Searched, test.want)
			}
			if a.Status != Found {
				return
			}
			holds(t, s, s.Rules()[0], Rejected, a.Witness)
			if !a.Witness.Alone || !admitted(t, s.cfg.OtherForm, a.Witness) {
				t.Errorf("the other rule rejects it: %v", a.Witness.Object)
			}
		})
	}
}

func TestRejection(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, now, before string
		want              StatusWord
	}{
		{"nothing is new", "a: {type: string}", "a: {type: string}", Unknown},
		{"looser", "a: {type: string, maxLength: 9}", "a: {type: string, maxLength: 5}", Unknown},
		{"shorter", "a: {type: string, maxLength: 5}", "a: {type: string, maxLength: 90}", Found},
		{"a pattern", "a: {type: string, pattern: '^[a-y]+$'}", "a: {type: string, pattern: '^[a-z]+$'}", Found},
		{"less", "c: {type: integer, maximum: 65535}", "c: {type: integer}", Found},
		{"more", "c: {type: integer, minimum: 5}", "c: {type: integer, minimum: 4}", Found},
		{"one value less", "a: {type: string, enum: [x, y]}", "a: {type: string, enum: [x, y, z]}", Found},
		{"an enum and a bound", "c: {type: integer, enum: [1, 2, 3, 7], maximum: 5}", "c: {type: integer, enum: [1, 2, 3, 7]}", Found},
		{"required", "o: {type: object, required: [a], properties: {a: {type: string}}}", "o: {type: object, properties: {a: {type: string}}}", Found},
		{"fewer items", "l: {type: array, maxItems: 3, items: {type: string}}", "l: {type: array, items: {type: string}}", Found},
		{"a map list", "l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}}}}", "l: {type: array, items: {type: object, required: [k], properties: {k: {type: string}}}}", Found},
		{"a set", "l: {type: array, x-kubernetes-list-type: set, items: {type: string}}", "l: {type: array, items: {type: string}}", Found},
		{"fewer entries", "m: {type: object, maxProperties: 2, additionalProperties: {type: string}}", "m: {type: object, additionalProperties: {type: string}}", Found},
		{"another type", "a: {type: integer}", "a: {type: string}", Found},
		{"no longer nullable", "l: {type: array, items: {type: string}}", "l: {type: array, items: {type: string, nullable: true}}", Found},
		{"within items", "l: {type: array, items: {type: object, properties: {a: {type: string, minLength: 3}}}}", "l: {type: array, items: {type: object, properties: {a: {type: string}}}}", Found},
		{"a rule", "o: {type: object, x-kubernetes-validations: [{rule: 'has(self.a)'}], properties: {a: {type: string}}}", "o: {type: object, properties: {a: {type: string}}}", Found},
		{"a rule that errs", "o: {type: object, x-kubernetes-validations: [{rule: 'self.a.size() >= 0'}], properties: {a: {type: string}}}", "o: {type: object, properties: {a: {type: string}}}", Found},
		{"a rule of updates", "a: {type: string, x-kubernetes-validations: [{rule: 'self == oldSelf'}]}", "a: {type: string}", Found},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := withOtherForm(t, specWith("true", test.now), specWith("true", test.before))
			s.cfg.Steps = 600
			a, err := s.Rejection(t.Context(), s.cfg.OtherForm)
			if err != nil {
				t.Fatal(err)
			}
			if a.Status != test.want {
				t.Fatalf("%s after %d (want %s)", a.Status, a.Searched, test.want)
			}
			if a.Status == Found && (admitted(t, s, a.Witness) || !admitted(t, s.cfg.OtherForm, a.Witness) || a.Witness.Result.Allowed) {
				t.Errorf("not distinguished: %v", a.Witness.Object)
			}
		})
	}
}

func TestOtherFormOfAnotherKind(t *testing.T) {
	t.Parallel()
	crd := widgets(t, specWith("true", "a: {type: string}"))
	crd.Spec.Group = "other.example.com"
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(crd, e, "v1", Config{OtherForm: searching(t, specWith("true", "a: {type: string}"), Config{})}); err == nil || !strings.Contains(err.Error(), "other.example.com") {
		t.Errorf("another group is taken: %v", err)
	}
}

package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

func TestFindEndsOnBadSchemas(t *testing.T) {
	t.Parallel()
	enum := make([]string, 5000)
	for i := range enum {
		enum[i] = fmt.Sprintf("value-%d", i)
	}
	deep := "type: string"
	for range 60 {
		deep = "type: object\nrequired: [below]\nproperties:\n  below:\n" + indent(deep, "    ")
	}
	for name, test := range map[string]struct {
		rule     string
		property string
		want     StatusWord
	}{
		"no item may be, and one must":  {"!has(self.a) || self.a.size() > 0", "a: {type: array, minItems: 1, maxItems: 0, items: {type: string}}", Unknown},
		"more items than are made":      {"self.a.size() == 0", "a: {type: array, minItems: 100000, items: {type: string}}", Unknown},
		"bounds that cross":             {"!has(self.a) || self.a > 0", "a: {type: integer, minimum: 5, maximum: 3}", Unknown},
		"an enum of 5,000":              {"!has(self.a) || self.a != 'value-4999'", "a: {type: string, enum: [" + strings.Join(enum, ", ") + "]}", Found},
		"a pattern of 10 kB":            {"!has(self.a) || size(self.a) < 10", "a: {type: string, pattern: '^(" + strings.Repeat("[a-z]{1,3}-", 1000) + ")?$'}", Found},
		"a rule with a pattern of 10kB": {"!has(self.a) || !self.a.matches('^(" + strings.Repeat("[a-z]{1,3}-", 900) + ")?x$')", "a: {type: string}", Found},
		"patterns that exclude":         {"!has(self.a) || self.a.matches('x')", "a: {type: string, pattern: '^x+$'}", Unknown},
		"anything":                      {"!has(self.a) || self.a.kind == 'x'", "a: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {kind: {type: string}}}", Found},
		"anything without a type":       {"!has(self.b) || self.b == 'x'", "a: {x-kubernetes-preserve-unknown-fields: true}\nb: {type: string}", Found},
		"an embedded resource":          {"!has(self.a) || self.a.kind == 'x'", "a: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}", Found},
		"a schema of schemas":           {"!has(self.a) || !has(self.a.allOf) || self.a.allOf.size() < 2", "a: {type: object, properties: {$ref: {type: string}, items: {x-kubernetes-preserve-unknown-fields: true}, allOf: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}, properties: {type: object, additionalProperties: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {properties: {type: object, additionalProperties: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}}", Found},
		"parts that contradict":         {"!has(self.a) || self.a.split('/').all(x, x.size() > 900) || self.a.split('/')[0].matches('^a+$')", "a: {type: string, pattern: '^(b{200}/){3}$'}", Found},
		"required all the way down":     {"!has(self.a) || !has(self.b)", "b: {type: string}\na:\n" + indent(deep, "  "), Found},
		"one of, and not":               {"!has(self.b) || self.b > 1", "a: {type: string}\nb: {type: integer, not: {enum: [1]}, oneOf: [{minimum: 0, maximum: 5}, {minimum: 7}]}", Found},
		"an integer or a string":        {"!has(self.a) || type(self.a) == string", "a: {x-kubernetes-int-or-string: true}", Found},
		"nullable":                      {"!has(self.a) || self.a > 1", "a: {type: integer, nullable: true}", Found},
		"always true":                   {"true", "a: {type: string}", Unknown},
		"broken":                        {"self.nothing", "a: {type: string}", NotAnalyzed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := searching(t, specWith(test.rule, test.property), Config{Steps: 300})
			a, err := s.Find(t.Context(), s.Rules()[0], Rejected)
			if err != nil {
				t.Fatal(err)
			}
			if a.Searched > 300 {
				t.Errorf("%d writes (want no more than 300)", a.Searched)
			}
			got := a.Status
			if got == Found {
				holds(t, s, s.Rules()[0], Rejected, a.Witness)
				if !a.Witness.Alone {
					got = Unknown // the schema also rejects it
				}
			}
			if got != test.want {
				t.Errorf("%s after %d: %s", got, a.Searched, a.Reason)
			}
		})
	}
}

func TestSearchOfManyRules(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	var rules strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&rules, "- rule: '!has(self.a) || self.a != %d'\n", i)
	}
	s := searching(t, "properties:\n  spec:\n    type: object\n    properties:\n      a: {type: integer}\n    x-kubernetes-validations:\n"+indent(rules.String(), "    "), Config{})
	refs := s.Rules()
	if len(refs) != 10_000 {
		t.Fatal(len(refs))
	}
	a, err := s.Find(t.Context(), refs[7777], Rejected)
	if err != nil || a.Status != Found {
		t.Error(a, err)
	}
}

func TestSearchWithoutRules(t *testing.T) {
	t.Parallel()
	s := searching(t, "properties: {spec: {type: object, required: [p], properties: {p: {type: string, format: password}}}}\nrequired: [spec]", Config{})
	if len(s.Rules()) != 0 {
		t.Error(s.Rules())
	}
	if _, err := s.Find(t.Context(), engine.RuleRef{Version: "v1", Path: "spec"}, Rejected); err == nil {
		t.Error("a rule that is not there is looked for")
	}
	a, err := s.Sample(t.Context(), false)
	if err != nil || a.Status != Found {
		t.Fatal(a, err)
	}
}

func TestSearchOfAnUnservedVersion(t *testing.T) {
	t.Parallel()
	crd := widgets(t, specWith("self.a == 'x'", "a: {type: string}"))
	old := *crd.Spec.Versions[0].DeepCopy()
	old.Name, old.Served, old.Storage = "v1alpha1", false, false
	crd.Spec.Versions = append(crd.Spec.Versions, old)
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(crd, e, "v1alpha1", Config{})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := s.Find(t.Context(), s.Rules()[0], Rejected); err != nil || a.Status != Unserved {
		t.Error(a, err)
	}
	if _, err := New(crd, e, "v2", Config{}); err == nil {
		t.Error("a version that is not there is taken")
	}
}

func TestFindIsInterrupted(t *testing.T) {
	t.Parallel()
	s := searching(t, specWith("true", "a: {type: string}"), Config{Steps: 1 << 30})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Find(ctx, s.Rules()[0], Rejected); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestUndecidedIsNoWitness(t *testing.T) {
	t.Parallel()
	v := &verdict{undecided: true}
	h := &solver{want: OverBudget, Search: &Search{}}
	if alone, also := h.satisfied(&candidate{}, v); alone || also || v.accepted() {
		t.Error("an undecided write shows something")
	}
}

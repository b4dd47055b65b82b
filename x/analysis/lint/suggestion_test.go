package lint_test

import (
	"context"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/analysis/lint"
)

func stores(t testing.TB, rule string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := things(t, "true")
	var spec apiextensionsv1.JSONSchemaProps
	if err := yaml.Unmarshal([]byte(`
type: object
required: [size, name, list]
properties:
  size: {type: string, maxLength: 20}
  limit: {type: string, maxLength: 20}
  timeout: {type: string, maxLength: 20, default: 30s}
  cpu: {x-kubernetes-int-or-string: true, maxLength: 9}
  clusterIP: {type: string, maxLength: 20}
  name: {type: string, maxLength: 9}
  list: {type: array, maxItems: 5, items: {type: object, required: [name, id], properties: {name: {type: string, maxLength: 9}, id: {type: integer}, size: {type: string, maxLength: 9}}}}
  texts: {type: array, maxItems: 5, items: {type: string, maxLength: 9}}
`), &spec); err != nil {
		t.Fatal(err)
	}
	spec.XValidations = apiextensionsv1.ValidationRules{{Rule: rule}}
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
	return crd
}

func TestSuggestions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule, name, fix string
		effect          lint.Effect
		accepts         bool // the rule accepts the example
	}{
		{"self.size <= '10Gi'", "text-order", "isQuantity(self.size) && quantity(self.size).compareTo(quantity('10Gi')) <= 0", lint.Wanted, false},
		{"self.size >= '1Gi' && self.name != 'x'", "text-order", "(isQuantity(self.size) && quantity(self.size).compareTo(quantity('1Gi')) >= 0) && self.name != 'x'", lint.Wanted, false},
		{"!has(self.limit) || self.size <= self.limit", "text-order", "!has(self.limit) || (isQuantity(self.size) && isQuantity(self.limit) && quantity(self.size).compareTo(quantity(self.limit)) <= 0)", lint.Wanted, true},
		{"self.timeout < '1m'", "text-order", "duration(self.timeout) < duration('1m')", lint.Wanted, true},
		{"!has(self.cpu) || self.cpu >= '500m'", "text-order", "!has(self.cpu) || (isQuantity(string(self.cpu)) && quantity(string(self.cpu)).compareTo(quantity('500m')) >= 0)", lint.Wanted, false},
		{"self.list.all(x, !has(x.size) || x.size < '5Gi')", "text-order", "self.list.all(x, !has(x.size) || (isQuantity(x.size) && quantity(x.size).isLessThan(quantity('5Gi'))))", lint.Wanted, true},
		{"self.size >= oldSelf.size", "text-order", "isQuantity(self.size) && isQuantity(oldSelf.size) && quantity(self.size).compareTo(quantity(oldSelf.size)) >= 0", lint.Wanted, true},
		{"self.size != '1Gi'", "text-equality", "!isQuantity(self.size) || quantity(self.size).compareTo(quantity('1Gi')) != 0", lint.Wanted, true},
		{"self.timeout in ['1m', '1h']", "text-equality", `duration(self.timeout) in [duration("1m"), duration("1h")]`, lint.Wanted, false},
		{"size(self.name) >= 0 && self.name != 'x'", "constant-part", "self.name != 'x'", lint.Equivalent, false},
		{"self.list.all(x, size(x.name) <= 9 && x.id > 3)", "constant-part", "self.list.all(x, x.id > 3)", lint.Equivalent, false},
		{"self.list.all(x, self.list.all(y, x.name == y.name))", "quadratic-rule", "self.list.all(x, x.name == self.list[0].name)", lint.Equivalent, false},
		{"has(self.texts) && self.list.all(x, self.texts.exists(y, y == x.name))", "quadratic-rule", "has(self.texts) && self.list.all(x, (x.name in self.texts))", lint.Equivalent, false},
		{"self.list.all(x, self.list.exists(y, y.name == 'a') || x.id > 3)", "quadratic-rule", "self.list.exists(y, y.name == 'a') || self.list.all(x, x.id > 3)", lint.Equivalent, false},
		{"self.list.all(x, self.list.exists_one(y, y.name == x.name))", "unique-list", "", 0, false},
		{"has(self.clusterIP) && self.clusterIP > '10.0.0.1'", "text-order", "", 0, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			crd := stores(t, c.rule)
			var l *lint.Lint
			for _, one := range find(t, crd, lint.Config{}) {
				if one.Name == c.name {
					l = &one
				}
			}
			switch {
			case l == nil:
				t.Fatal("no lint")
			case c.fix == "":
				if len(l.Rewrites) > 0 {
					t.Errorf("%+v", l.Rewrites)
				}
				if c.name == "unique-list" && (l.Witness == nil || l.Witness.Result.Allowed) {
					t.Errorf("%+v", l.Witness)
				}
				return
			case len(l.Rewrites) != 1:
				t.Fatalf("%+v", l)
			}
			fix := l.Rewrites[0]
			if fix.Rule != c.fix || fix.Effect != c.effect || fix.Keeps != (c.effect == lint.Equivalent) {
				t.Errorf("%+v", fix)
			}
			if c.effect == lint.Equivalent {
				if l.Witness != nil || fix.Proof == nil && fix.Searched < 100 {
					t.Errorf("%+v", fix)
				}
				return
			}
			if l.Witness == nil {
				t.Fatalf("no example: %s", l.Message)
			}
			if l.Keeping() != nil || l.Witness.Result.Allowed != c.accepts || strings.Contains(l.Message, "the rule accepts") != c.accepts {
				t.Errorf("allowed %v, %s", l.Witness.Result.Allowed, l.Message)
			}
			e, err := engine.Compile(stores(t, fix.Rule), engine.Config{})
			if err != nil {
				t.Fatal(err)
			}
			res, err := e.Validate(context.Background(), l.Witness.Request())
			if err != nil || res.Allowed == c.accepts {
				t.Errorf("the replacement decides like the rule: %v, %v", res, err)
			}
		})
	}
}

func TestNoOtherLints(t *testing.T) {
	t.Parallel()
	for rule, name := range map[string]string{"self.size < '1Gi'": "text-order", "self.size != '1Gi'": "text-equality"} {
		for _, l := range find(t, stores(t, rule), lint.Config{}) {
			if l.Name != name {
				t.Errorf("%s: %+v", rule, l)
			}
		}
	}
}

func TestEquivalentSuggestions(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{
		"self.list.all(x, self.list.exists(y, y.size == 'a') || x.id > 3)",
		"self.list.all(x, x.id > 3 || self.list.exists(y, y.size == 'a'))",
		"self.list.exists(x, self.list.all(y, y.size == 'a') && x.id > 3)",
		"self.list.exists(x, x.size == 'b' && self.list.all(y, y.id > 3))",
		"!self.list.all(x, self.list.exists(y, y.size == 'a') || x.id > 3)",
		"self.name == 'x' || self.list.all(x, self.texts.exists(y, y == 'a') || x.id > 3)",
		"self.list.all(x, self.list.all(y, x.name == y.name && x.id == y.id))",
		"!self.list.all(x, self.list.all(y, x.id == y.id))",
		"self.list.exists(x, self.texts.all(y, y != x.name))",
		"self.list.exists(x, !self.texts.exists(y, x.name == y) && x.id > 3)",
		"self.list.exists_one(x, self.texts.exists(y, x.name == y) || x.id > 3)",
		"size(self.name) >= 0 && self.limit != 'x'",
		"self.list.all(x, x.size != 'b' && size(x.name) < 10)",
		"self.limit == 'x' || size(self.name) > 9",
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			rewrites := 0
			for _, l := range find(t, stores(t, rule), lint.Config{Without: []string{lint.FailsToEvaluate}}) {
				if l.Equivalent && (len(l.Rewrites) != 1 || l.Rewrites[0].Effect != lint.Equivalent) {
					t.Errorf("not equivalent: %s", l.Fix)
				}
				rewrites += len(l.Rewrites)
			}
			if rewrites == 0 {
				t.Error("no replacement")
			}
		})
	}
}

func TestWrongSuggestion(t *testing.T) {
	t.Parallel()
	crd := stores(t, "self.list.all(x, x.name != 'b' || x.id > 3)")
	report, err := vet.VetCRD(context.Background(), crd, vet.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rule := report.Versions[0].Rules[0]
	for _, fix := range []string{"self.list.all(x, x.name != 'b')", "self.list.all(x, x.name != 'b' || x.id > 4)", "self.list.all(x, x.nam != 'b')", "true"} {
		report.Lints = []vet.Lint{{Name: "quadratic-rule", Path: rule.Path, Index: rule.Index, Rule: rule.Rule, Field: rule.Field, Fix: fix, Equivalent: true}}
		lints, err := lint.Find(context.Background(), crd, report, lint.Config{})
		if err != nil || len(lints) != 1 || len(lints[0].Rewrites) > 0 {
			t.Errorf("%s: %v, %+v", fix, err, lints)
		}
	}
}

package lint_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/analysis/lint"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

func things(t testing.TB, rules ...string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text := `
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, kind: Thing}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [name, list, map, inner]
            properties:
              name: {type: string, maxLength: 9}
              flag: {type: boolean}
              a: {type: integer}
              b: {type: integer}
              text: {type: string, maxLength: 9}
              list: {type: array, maxItems: 3, items: {type: integer}}
              items: {type: array, maxItems: 3, items: {type: object, properties: {a: {type: integer}}}}
              map: {type: object, maxProperties: 3, additionalProperties: {type: integer}}
              inner: {type: object, properties: {deep: {type: object, properties: {a: {type: integer}}}}}
              kept: {type: string, maxLength: 9, default: x}
            x-kubernetes-validations:
`
	for _, rule := range rules {
		text += fmt.Sprintf("            - rule: %q\n", rule)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func find(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition, cfg lint.Config) []lint.Lint {
	t.Helper()
	report, err := vet.VetCRD(context.Background(), crd, vet.Config{})
	if err != nil || !report.Accepted {
		t.Fatalf("%v %+v", err, report)
	}
	lints, err := lint.Find(context.Background(), crd, report, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return lints
}

// TestMends checks the rewrites of rules that fail: one that accepts no more than before and one that accepts more. ""
// means that a rule has no rewrite of this kind.
func TestMends(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rule, keeps, opens string }{
		{"self.a > 3", "has(self.a) && self.a > 3", "!has(self.a) || self.a > 3"},
		{"self.a<3||self.name=='x'", "has(self.a) && self.a<3||self.name=='x'", "!has(self.a) || self.a<3||self.name=='x'"},
		{"self.name != 'x' && self.a > 3", "self.name != 'x' && has(self.a) && self.a > 3", "self.name != 'x' && (!has(self.a) || self.a > 3)"},
		{"!(self.a > 3)", "has(self.a) && !(self.a > 3)", "!has(self.a) || !(self.a > 3)"},
		{"!(self.a > 3 && self.name == 'x')", "!((!has(self.a) || self.a > 3) && self.name == 'x')", "!(has(self.a) && self.a > 3 && self.name == 'x')"},
		{"self.flag", "has(self.flag) && self.flag", "!has(self.flag) || self.flag"},
		{"!self.flag || self.name == 'x'", "has(self.flag) && !self.flag || self.name == 'x'", "!has(self.flag) || !self.flag || self.name == 'x'"},
		{"self.flag == true", "has(self.flag) && self.flag == true", "!has(self.flag) || self.flag == true"},
		{"self.flag ? self.name == 'x' : true", "has(self.flag) && (self.flag ? self.name == 'x' : true)", "has(self.flag) && self.flag ? self.name == 'x' : true"},
		{"(self.name == 'x' ? self.a : 1) > 0", "", ""},
		{"self.a < self.b", "has(self.a) && has(self.b) && self.a < self.b", "!has(self.a) || !has(self.b) || self.a < self.b"},
		{"self.list[0] > 3", "size(self.list) > 0 && self.list[0] > 3", "size(self.list) <= 0 || self.list[0] > 3"},
		{"self.map['k'] > 3", "'k' in self.map && self.map['k'] > 3", "!('k' in self.map) || self.map['k'] > 3"},
		{"self.inner.deep.a > 3", "has(self.inner.deep) && has(self.inner.deep.a) && self.inner.deep.a > 3", "!has(self.inner.deep) || !has(self.inner.deep.a) || self.inner.deep.a > 3"},
		{"self.items.all(i, i.a > 3)", "has(self.items) && self.items.all(i, has(i.a) && i.a > 3)", "!has(self.items) || self.items.all(i, !has(i.a) || i.a > 3)"},
		{"has(self.items) && self.items.exists_one(i, i.a > 3)", "", "has(self.items) && self.items.exists_one(i, !has(i.a) || i.a > 3)"},
		{"has(self.items) && self.items.filter(i, i.a > 3).size() < 2", "", "has(self.items) && self.items.filter(i, has(i.a) && i.a > 3).size() < 2"},
		{"has(self.text) && int(self.text) > 3", "", ""},
		{"self.name.startsWith(self.text)", "has(self.text) && self.name.startsWith(self.text)", "!has(self.text) || self.name.startsWith(self.text)"},
		{"self.name in [self.text, 'x']", "has(self.text) && self.name in [self.text, 'x']", "!has(self.text) || self.name in [self.text, 'x']"},
		{"self.a > 3 == (self.name == 'x')", "has(self.a) && self.a > 3 == (self.name == 'x')", "!has(self.a) || self.a > 3 == (self.name == 'x')"},
		{"oldSelf.a <= self.a", "has(oldSelf.a) && has(self.a) && oldSelf.a <= self.a", "!has(oldSelf.a) || !has(self.a) || oldSelf.a <= self.a"},
		{"has(self.a) && self.a > 3 && self.b > 3", "has(self.a) && self.a > 3 && has(self.b) && self.b > 3", "has(self.a) && self.a > 3 && (!has(self.b) || self.b > 3)"},
		{"'日本' != self.name && self.a > 3", "'日本' != self.name && has(self.a) && self.a > 3", "'日本' != self.name && (!has(self.a) || self.a > 3)"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			crd := things(t, c.rule)
			lints := find(t, crd, lint.Config{})
			if len(lints) != 1 || lints[0].Name != lint.FailsToEvaluate || lints[0].Witness == nil {
				t.Fatalf("%+v", lints)
			}
			var keeps, opens string
			for _, m := range lints[0].Rewrites {
				if m.Keeps {
					keeps = m.Rule
				} else {
					opens = m.Rule
				}
				works(t, lints[0].Witness, m)
			}
			if keeps != c.keeps || opens != c.opens {
				t.Errorf("%s\n%s", keeps, opens)
			}
		})
	}
}

func works(t *testing.T, w *search.Witness, m lint.Rewrite) {
	t.Helper()
	e, err := engine.Compile(things(t, m.Rule), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Validate(context.Background(), w.Request())
	if err != nil || res.Allowed == m.Keeps {
		t.Errorf("%s: %v, allowed %v", m.Rule, err, res.Allowed)
	}
	for _, c := range res.Causes {
		if strings.Contains(c.Message, "no such key") || strings.Contains(c.Message, "out of bounds") {
			t.Errorf("%s: %s", m.Rule, c.Message)
		}
	}
}

func TestLints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules []string
		want  string
	}{
		{[]string{"self.name != 'x'"}, ""},
		{[]string{"has(self.a) && self.a > 3"}, ""},
		{[]string{"self.kept != 'y'"}, ""},
		{[]string{"self.?a.orValue(1) > 0"}, ""},
		{[]string{"self.name != 'x'", "self.name != 'x'"}, "1 never-refuses rule 0 of spec"},
		{[]string{"self.name != 'x'", "self.name != 'x' || has(self.a)"}, "1 never-refuses rule 0 of spec"},
		{[]string{"!has(self.a) || self.a != 3 || self.a == 3"}, "0 constant-part; 0 never-refuses the rule itself"},
		{[]string{"size(self.name) <= 9"}, "0 constant-rule"}, // vet reports it
		{[]string{"false"}, "0 constant-rule"},                // intentionally closed
		{[]string{"self.a > 3", "self.a > 2"}, "0 fails-to-evaluate; 1 never-refuses rule 0 of spec; 1 fails-to-evaluate"},
		{[]string{"self.a > 3", "self.b > self.a"}, "0 fails-to-evaluate; 1 fails-to-evaluate"},
		{[]string{"self.name == 'x'", "self.name == 'y'"}, "0 accepts-nothing rules 0 and 1 of spec"},
	} {
		lints := find(t, things(t, c.rules...), lint.Config{})
		var got []string
		for _, l := range lints {
			text := fmt.Sprintf("%d %s", l.Index, l.Name)
			if l.Proof != nil {
				text += " " + l.Proof.String()
			}
			got = append(got, text)
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%q: %s, want %s", c.rules, text, c.want)
		}
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	crd := things(t, "self.a > 3", "self.name != 'x'", "self.name != 'x'")
	for _, name := range []string{lint.FailsToEvaluate, lint.NeverRejects} {
		for _, l := range find(t, crd, lint.Config{Without: []string{name}}) {
			if l.Name == name {
				t.Errorf("%s is reported", name)
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	crd := things(t, "self.a > 3")
	report, err := vet.VetCRD(context.Background(), crd, vet.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if lints, err := lint.Find(ctx, crd, report, lint.Config{}); err == nil || len(lints) != len(report.Lints) {
		t.Errorf("%v, %d lints", err, len(lints))
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	crd := things(t, "self.a > 3")
	v2 := *crd.Spec.Versions[0].DeepCopy()
	v2.Name, v2.Storage = "v2", false
	crd.Spec.Versions = append(crd.Spec.Versions, v2)
	if lints := find(t, crd, lint.Config{}); len(lints) != 1 || lints[0].Version != "" {
		t.Errorf("%+v", lints)
	}
	crd.Spec.Versions[1].Schema.OpenAPIV3Schema.Description = "another"
	if lints := find(t, crd, lint.Config{}); len(lints) != 2 || lints[0].Version != "v1" || lints[1].Version != "v2" {
		t.Errorf("%+v", lints)
	}
	crd.Spec.Versions[1].Served = false
	if lints := find(t, crd, lint.Config{}); len(lints) != 2 || lints[1].Name != "optional-read" && lints[0].Name != "optional-read" {
		t.Errorf("%+v", lints)
	}
}

func TestNotStructural(t *testing.T) {
	t.Parallel()
	crd := things(t, "self.a > 3")
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Type = ""
	report, err := vet.VetCRD(context.Background(), crd, vet.Config{})
	if err != nil || report.Accepted {
		t.Fatal(err)
	}
	if lints, err := lint.Find(context.Background(), crd, report, lint.Config{}); err != nil || len(lints) != len(report.Lints) {
		t.Errorf("%v, %+v", err, lints)
	}
}

func ExampleFind() {
	data, err := os.ReadFile("../../../examples/unguarded/crd.yaml")
	if err != nil {
		panic(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(data, crd); err != nil {
		panic(err)
	}
	report, err := vet.VetCRD(context.Background(), crd, vet.Config{})
	if err != nil {
		panic(err)
	}
	lints, err := lint.Find(context.Background(), crd, report, lint.Config{})
	if err != nil {
		panic(err)
	}
	for _, l := range lints {
		fmt.Printf("%s[%d] %s\n", l.Path, l.Index, l.Message)
		for _, m := range l.Rewrites {
			fmt.Println("  ", m.Rule)
		}
	}
	// Output:
	// spec[0] fails to evaluate if spec is {"mode":"Fixed"}: no such key: replicas; guard it
	//    !has(self.mode) || self.mode != 'Fixed' || has(self.replicas) && self.replicas > 0
	//    !has(self.mode) || self.mode != 'Fixed' || !has(self.replicas) || self.replicas > 0
	// spec[1] never rejects anything that the rest accepts: proved (rule 0 of spec); it adds only its message
}

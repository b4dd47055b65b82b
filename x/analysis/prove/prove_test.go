package prove

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

func version(t testing.TB, text string) *apiextensionsv1.CustomResourceDefinitionVersion {
	t.Helper()
	v := &apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{}}
	if err := yaml.UnmarshalStrict([]byte(text), &v.Schema.OpenAPIV3Schema); err != nil {
		t.Fatal(err)
	}
	return v
}

func spec(properties string, rules ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "type: object\nproperties:\n  spec:\n    type: object\n    x-kubernetes-validations:\n")
	for _, rule := range rules {
		fmt.Fprintf(&b, "    - {rule: %q}\n", rule)
	}
	b.WriteString("    properties:\n")
	for line := range strings.Lines(strings.TrimSpace(properties)) {
		b.WriteString("      " + line)
	}
	return b.String()
}

func never(t *testing.T, schema string, what Outcome) string {
	t.Helper()
	p, err := New(version(t, schema), Config{})
	if err != nil {
		t.Fatal(err)
	}
	proof, err := p.Never(engine.RuleRef{Path: "spec", Index: 0}, what)
	if err != nil {
		t.Fatal(err)
	}
	if proof == nil {
		return ""
	}
	return proof.String()
}

const fields = `
flag: {type: boolean}
num: {type: integer, minimum: 1, maximum: 9}
m: {type: integer}
d: {type: number, minimum: 0.5}
s: {type: string, pattern: '^[a-z]+$', maxLength: 5}
t: {type: string, minLength: 1}
kind: {type: string, enum: [A, B], default: A}
free: {type: string, nullable: true, default: x}
l: {type: array, minItems: 1, items: {type: object, required: [a], properties: {a: {type: string, maxLength: 3}, b: {type: string}}}}
map: {type: object, maxProperties: 2, additionalProperties: {type: integer, minimum: 0}}
o: {type: object, properties: {x: {type: string}}}
p: {type: object, properties: {x: {type: string}}}
either: {anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}
`

// An empty string in proofs means that no proof exists.
func holdNever(t *testing.T, what Outcome, proofs map[string]string) {
	t.Helper()
	for rule, want := range proofs {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			if got := never(t, spec(fields, rule), what); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestNeverRejected(t *testing.T) {
	t.Parallel()
	holdNever(t, Rejected, map[string]string{
		"true":                                                                         "the rule itself",
		"has(self.num) || !has(self.num)":                                              "the rule itself",
		"!has(self.num) || self.num > 0":                                               "schema",
		"!has(self.num) || self.num > 1":                                               "",
		"!has(self.num) || self.num < 10":                                              "schema",
		"!has(self.num) || self.num != 10":                                             "schema",
		"!has(self.num) || self.num in [1,2,3,4,5,6,7,8,9]":                            "schema",
		"!has(self.num) || self.num in [1,2,3,4,5,6,7,8]":                              "",
		"self.num > 0":                                                                 "", // num may be absent
		"!has(self.d) || self.d >= 0.5":                                                "", // the schema accepts 0 for minimum 0.5
		"!has(self.d) || self.d >= 0.5 || self.d == 0.0":                               "schema",
		"!has(self.d) || self.d > 0.5 || self.d == 0.0":                                "",
		"self.kind in ['A', 'B']":                                                      "schema",
		"self.kind == 'A'":                                                             "",
		"has(self.free)":                                                               "", // free may be null
		"!has(self.s) || self.s.matches('^[a-f]*[a-z]*$')":                             "schema",
		"!has(self.s) || self.s != 'X'":                                                "schema",
		"!has(self.s) || size(self.s) < 6":                                             "schema",
		"!has(self.s) || size(self.s) < 5":                                             "",
		"!has(self.s) || !self.s.startsWith('abcdef')":                                 "schema",
		"!has(self.s) || !(self.s.startsWith('abc') && self.s.endsWith('def'))":        "schema",
		"!has(self.s) || !(self.s.startsWith('abc') && self.s.endsWith('cde'))":        "",
		"self.?t.optMap(v, v != '').orValue(true)":                                     "", // not modeled
		"!has(self.t) || self.t != ''":                                                 "schema",
		"!has(self.t) || self.t == self.t":                                             "the rule itself",
		"!has(self.l) || size(self.l) > 0":                                             "schema",
		"!has(self.l) || size(self.l) > 1":                                             "",
		"!has(self.l) || self.l.all(x, size(x.a) < 4)":                                 "schema",
		"!has(self.l) || self.l.all(x, size(x.a) < 3)":                                 "",
		"!has(self.l) || self.l.all(x, has(x.a))":                                      "schema",
		"!has(self.l) || self.l.all(x, has(x.b))":                                      "",
		"!has(self.l) || !self.l.exists(x, size(x.a) > 3)":                             "schema",
		"!has(self.l) || size(self.l[0].a) < 4":                                        "schema",
		"!has(self.l) || size(self.l[1].a) < 4":                                        "", // there may be no second item
		"!has(self.map) || size(self.map) <= 2":                                        "schema",
		"!has(self.map) || !('k' in self.map) || self.map['k'] >= 0":                   "schema",
		"!has(self.map) || self.map.all(k, self.map[k] >= 0)":                          "schema",
		"!has(self.num) || self.num + 1 > self.num":                                    "", // not modeled
		"(has(self.num) ? 1 : 0) + (has(self.m) ? 1 : 0) <= 2":                         "the rule itself",
		"(has(self.num) ? 1 : 0) + (has(self.m) ? 1 : 0) <= 1":                         "",
		"!has(self.either) || type(self.either) == int || type(self.either) == string": "", // not modeled
		"self == oldSelf || true":                                                      "the rule itself",
		"dyn(b'a') in {false: b'a'} || true":                                           "", // cel-go panics
		"dyn(b'a') in ['a'] || true":                                                   "",
		"{dyn(b'a'): 1}.size() == 1 || true":                                           "",
		"[[2, 1]][7].distinct().size() == 1 || true":                                   "",
		"[[1]].flatten([3][7]).size() == 1 || true":                                    "",
		"[[1]].flatten(2).size() == 1 || true":                                         "the rule itself",
		"b'a' in [b'b'] || true":                                                       "",
		"!has(self.either) || self.either in ['a', 'b'] || true":                       "the rule itself",
		"oldSelf.kind != 'C'":                                                          "schema",
		"self.kind == oldSelf.kind":                                                    "",
	})
}

func TestNeverFailed(t *testing.T) {
	t.Parallel()
	holdNever(t, Failed, map[string]string{
		"self.kind == 'A'":                                                 "schema",
		"self.num > 3":                                                     "",
		"has(self.num) && self.num > 3":                                    "the rule itself",
		"!has(self.num) || self.num > 3":                                   "the rule itself",
		"has(self.l) && self.l[0].a == 'x'":                                "schema",
		"has(self.l) && self.l[1].a == 'x'":                                "",
		"has(self.l) && self.l[0].b == 'x'":                                "",
		"has(self.l) && self.l.all(x, x.a != 'y')":                         "schema",
		"has(self.l) && self.l.all(x, x.b != 'y')":                         "",
		"has(self.l) && self.l.exists(x, has(x.b) && x.b.startsWith('y'))": "the rule itself",
		"has(self.m) && 10 / self.m > 1":                                   "",
		"has(self.m) && self.m + 1 > 1":                                    "",
		"has(self.t) && url(self.t).getHost() == 'x'":                      "",
		"has(self.t) && isURL(self.t)":                                     "the rule itself",
		"has(self.t) && self.t.split('/').size() == 2":                     "the rule itself",
		"has(self.map) && self.map['k'] == 1":                              "",
		"has(self.map) && 'k' in self.map && self.map['k'] == 1":           "the rule itself",
		"has(self.either) && self.either > 3":                              "",
		"self.free.startsWith('x')":                                        "",
		"self == oldSelf":                                                  "the rule itself",
		"oldSelf.num == 3":                                                 "",
	})
}

func TestSiblings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rules []string
		want  string
	}{
		"one":           {[]string{"self.kind != 'B'", "self.kind == 'A'"}, "rule 1 of spec"},
		"the other way": {[]string{"self.kind == 'A'", "self.kind != 'B'"}, "schema; rule 1 of spec"},
		"two":           {[]string{"has(self.num) && has(self.m)", "has(self.flag) && has(self.num)", "!has(self.flag) || has(self.m)", "has(self.s)"}, "rules 1 and 2 of spec"},
		"none":          {[]string{"has(self.num)", "has(self.m)"}, ""},
		"a broken one":  {[]string{"has(self.num)", "has(self.nosuch)"}, ""},
		"a transition":  {[]string{"has(self.num)", "has(self.num) || self != oldSelf"}, ""},
		"an error":      {[]string{"has(self.t) && self.t != ''", "self.t != 'x'"}, "schema; rule 1 of spec"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := never(t, spec(fields, c.rules...), Rejected); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestBesideTooMuch checks that a proof from the schema alone is found even if the sibling rules
// are too large to model.
func TestBesideTooMuch(t *testing.T) {
	p := prover(t, spec("s: {type: string, enum: [System]}", "!has(self.s) || self.s.size() < 9"))
	proof, err := p.prove(func(w *formula) error {
		q, err := w.question(p, engine.RuleRef{Path: "spec"})
		if err != nil {
			return err
		}
		if w.clause(q.rejects(q.rule)); !w.withoutSiblings {
			w.spend(maxWork + 1)
		}
		return nil
	})
	if got := proofText(t, proof, err); got != "schema" {
		t.Errorf("proof %q, want schema", got)
	}
}

func TestAcceptsNothing(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"has(self.num) && !has(self.num)":                          "rule 0 of spec",
		"1 == (self.o != null ? 1 : 0) + (self.p != null ? 1 : 0)": "rule 0 of spec",
		"1 == (has(self.o) ? 1 : 0) + (has(self.p) ? 1 : 0)":       "",
		"self.kind == 'C'": "schema; rule 0 of spec",
	} {
		p, err := New(version(t, spec(fields, rule)), Config{})
		if err != nil {
			t.Fatal(err)
		}
		proof, err := p.AcceptsNothing("spec")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if proof != nil {
			got = proof.String()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", rule, got, want)
		}
	}
}

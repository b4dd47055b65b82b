package assist_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/x/assist"
)

// In fixedRules, "" means that no fix is offered.
func TestMended(t *testing.T) {
	p := placeIn(t, "../../examples/crontab/crd.yaml", "")
	for src, want := range fixedRules {
		problems := p.Problems(src)
		if len(problems) != 1 {
			t.Errorf("%s: %d problems", src, len(problems))
			continue
		}
		got := ""
		for i, m := range problems[0].Fixes {
			if i == 0 {
				got = assist.Apply(src, m.Edits)
			}
			gone(t, p, src, problems[0], m)
		}
		if got != want {
			t.Errorf("%s: %q, want %q (%s: %+v)", src, got, want, problems[0].Message, problems[0].Fixes)
		}
	}
}

func gone(t *testing.T, p *assist.Context, src string, was assist.Problem, m assist.Fix) {
	t.Helper()
	is := assist.Apply(src, m.Edits)
	for _, other := range p.Problems(is) {
		if other.Kind == was.Kind && other.Message == was.Message && other.Start <= was.Start {
			t.Errorf("%s: %s: %s is left in %s", src, m.Title, was.Message, is)
		}
	}
	if m.Title == "" {
		t.Errorf("%s: a mend without a title", src)
	}
	for _, e := range m.Edits {
		if was.Kind == assist.Unguarded && e.Start != e.End {
			t.Errorf("%s: %s: a guard writes %+v anew", src, m.Title, e)
		}
	}
}

var fixedRules = map[string]string{
	"self.spec.replicas = 3":                          "self.spec.replicas == 3",
	"self.spec.replicas = 3 && self.spec.image = 'a'": "self.spec.replicas == 3 && self.spec.image == 'a'",
	"self.spec.replicas === 3":                        "self.spec.replicas == 3",
	"self.spec.replicas !== 3":                        "self.spec.replicas != 3",
	"self.spec.replicas <> 3":                         "self.spec.replicas != 3",
	"self.spec.replicas =< 3":                         "self.spec.replicas <= 3",
	"true and false":                                  "true && false",
	"self.spec.suspended and false or true":           "self.spec.suspended && false || true",
	"true or\n  false":                                "true ||\n  false",
	"not true":                                        "!true",
	"true && not false":                               "true && !false",
	"true & false":                                    "true && false",
	"true | false":                                    "true || false",
	"self.spec.image =~ 'a'":                          "self.spec.image.matches('a')",
	"self.spec.image !~ 'a'":                          "!self.spec.image.matches('a')",
	"self.spec.image matches 'a'":                     "self.spec.image.matches('a')",
	"self.spec.image ?? 'a'":                          "self.spec.?image.orValue('a')",
	"self?.spec":                                      "self.?spec",
	"self->spec":                                      "self.spec",
	"self.spec.env.map(e => e.name)":                  "self.spec.env.map(e, e.name)",
	"$self.spec":                                      "self.spec",
	"true; false":                                     "true && false",
	"true, false":                                     "true && false",
	"'abc":                                            "'abc'",
	"self.spec.image.startsWith('abc)":                "self.spec.image.startsWith('abc')",
	"self.spec.env.0":                                 "self.spec.env[0]",
	"size(self.spec.env":                              "size(self.spec.env)",
	"[1, 2].all(x, (x > 0) && self.spec.replicas > x": "[1, 2].all(x, (x > 0) && self.spec.replicas > x)",
	"1 + 2)":                                               "1 + 2",
	"return true":                                          "true",
	"if self.spec.replicas > 1":                            "",
	"self.spec.image.in(['a'])":                            "self.spec.image in ['a']",
	"1 + 'a'":                                              "'%da'.format([1])",
	"self.spec.image + self.spec.replicas":                 "'%s%d'.format([self.spec.image, self.spec.replicas])",
	"[1] + 2":                                              "[1] + [2]",
	"1 + 1.5":                                              "1.0 + 1.5",
	"self.spec.replicas > '1'":                             "self.spec.replicas > 1",
	"self.spec.suspended == 'true'":                        "self.spec.suspended == true",
	"self.spec.image == null":                              "!has(self.spec.image)",
	"null != self.spec.image":                              "has(self.spec.image)",
	"self.spec.?image == 'a'":                              "self.spec.?image.orValue('') == 'a'",
	"self.spec.?image.orValue(1) == 'a'":                   "self.spec.?image.orValue('') == 'a'",
	"1 < self.spec.replicas < 5":                           "1 < self.spec.replicas && self.spec.replicas < 5",
	"!self.spec.replicas":                                  "self.spec.replicas == 0",
	"!self.spec.env":                                       "!has(self.spec.env)",
	"self.spec.image && true":                              "self.spec.image != '' && true",
	"self.spec.env && true":                                "has(self.spec.env) && true",
	"self.spec.replicas ? 1 : 2":                           "self.spec.replicas != 0 ? 1 : 2",
	"true ? 1 : 'a'":                                       "true ? string(1) : 'a'",
	"'a' in self.spec.image":                               "self.spec.image.contains('a')",
	"'image' in self.spec":                                 "has(self.spec.image)",
	"self.spec.env.contains('a')":                          "",
	"['a'].contains(self.spec.image)":                      "self.spec.image in ['a']",
	"self.spec.replicas.matches('a')":                      "string(self.spec.replicas).matches('a')",
	"self.spec.image.length":                               "self.spec.image.size()",
	"self.spec.image.length()":                             "self.spec.image.size()",
	"len(self.spec.env)":                                   "size(self.spec.env)",
	"self.spec.image.size":                                 "self.spec.image.size()",
	"self.spec.image.startswith('a')":                      "self.spec.image.startsWith('a')",
	"self.spec.image.toLowerCase()":                        "self.spec.image.lowerAscii()",
	"self.spec.env.any(e, true)":                           "self.spec.env.exists(e, true)",
	"self.spec.image.isEmpty()":                            "self.spec.image.size() == 0",
	"!self.spec.image.isEmpty()":                           "!(self.spec.image.size() == 0)",
	"self.spec.replicas.toString() == '1'":                 "string(self.spec.replicas) == '1'",
	"self.spec.replica":                                    "self.spec.replicas",
	"spec.replicas":                                        "self.spec.replicas",
	"spec.replicas > 0 && spec.image == 'a'":               "self.spec.replicas > 0 && self.spec.image == 'a'",
	"this.spec.replicas > 0":                               "self.spec.replicas > 0",
	"self.spec.image == nil":                               "!has(self.spec.image)",
	"self.spec.env.all(e, e.nmae != '')":                   "self.spec.env.all(e, e.name != '')",
	"self.spec.image == timestamp('2026-01-02T03:04:05Z')": "timestamp(self.spec.image) == timestamp('2026-01-02T03:04:05Z')",
	"quantity('1') < quantity('2')":                        "quantity('1').isLessThan(quantity('2'))",
	"now()":                                                "",
}

const open = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: opens.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: opens, singular: open, kind: Open, listKind: OpenList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [hosts]
            properties:
              mode: {type: string, enum: [a, b, '"q"', "it's", 'back\\slash"']}
              hosts:
                type: array
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    port: {type: integer}
                    tags: {type: array, maxItems: 100, items: {type: string}}
              labels: {type: object, additionalProperties: {type: string}}
`

func problems(t *testing.T, path, src string, part assist.Part) []string {
	t.Helper()
	p := placeOf(t, []byte(open), path)
	p.Part = part
	var out []string
	for _, problem := range p.Problems(src) {
		line := fmt.Sprintf("%d %q %s; %s", problem.Kind, string([]rune(src)[problem.Start:problem.End]), problem.Message, problem.Words)
		for _, m := range problem.Fixes {
			line += "\n  " + assist.Apply(src, m.Edits)
			gone(t, p, src, problem, m)
		}
		out = append(out, line)
	}
	return out
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, src string
		part      assist.Part
		want      []string
	}{
		{"spec", "self.mode == 'a'", assist.Rule, []string{"1 \"self.mode\" self.mode is optional and is read without has(): if it is absent, the rule fails with \"no such key\"; write has(self.mode) && …, or !has(self.mode) || …\n  has(self.mode) && self.mode == 'a'\n  !has(self.mode) || self.mode == 'a'"}},
		{"spec", "!has(self.mode) || self.mode == 'a'", assist.Rule, nil},
		{"spec", "self.mode == 'a'", assist.AnyExpression, nil},
		{"spec.hosts[*]", "self.port > 1 && self.port < 9", assist.Rule, []string{"1 \"self.port\" self.port is optional and is read without has(): if it is absent, the rule fails with \"no such key\"; write has(self.port) && …, or !has(self.port) || …\n  has(self.port) && self.port > 1 && self.port < 9\n  (!has(self.port) || self.port > 1) && (!has(self.port) || self.port < 9)"}},
		{"spec", "self.hosts.exists(h, h.port == 1)", assist.Rule, []string{"1 \"h.port\" h.port is optional and is read without has(): if it is absent, the rule fails with \"no such key\"; write has(h.port) && …, or !has(h.port) || …\n  self.hosts.exists(h, has(h.port) && h.port == 1)\n  self.hosts.exists(h, !has(h.port) || h.port == 1)"}},
		{"spec", "self.hosts.all(h, has(h.port)) && self.hosts.exists(h, h.port > 1)", assist.Rule, []string{"1 \"h.port\" h.port is optional and is read without has(): if it is absent, the rule fails with \"no such key\"; write has(h.port) && …, or !has(h.port) || …\n  self.hosts.all(h, has(h.port)) && self.hosts.exists(h, has(h.port) && h.port > 1)\n  self.hosts.all(h, has(h.port)) && self.hosts.exists(h, !has(h.port) || h.port > 1)"}},
		{"spec", "self.hosts.size()", assist.Rule, []string{"0 \"self.hosts.size()\" cel expression must evaluate to a bool; an integer is not a condition: use x != 0\n  self.hosts.size() != 0"}},
		{"spec", "self.?mode", assist.Rule, []string{"0 \"self.?mode\" cel expression must evaluate to a bool; an optional is not a condition: use .hasValue(), or end with .orValue(false)\n  self.?mode.hasValue()"}},
		{"spec", "self.hosts.size() + 1", assist.Rule, []string{"0 \"self.hosts.size() + 1\" cel expression must evaluate to a bool; an integer is not a condition: use x != 0\n  self.hosts.size() + 1 != 0"}},
		{"spec", "self.hosts.size()", assist.MessageExpression, []string{"0 \"self.hosts.size()\" messageExpression must evaluate to a string; \n  string(self.hosts.size())"}},
		{"spec", "self.hosts.all(a, self.hosts.all(b, a.name != b.name))", assist.Rule, []string{"2 \"self.hosts.all(a, self.hosts.all(b, a.name != b.name))\" estimate 1.84e16, 1.84e9x of the limit; "}},
		{"spec.hosts[*]", "self.name.matches('a+')", assist.Rule, []string{"2 \"self.name.matches('a+')\" estimate 7.61e10, 7,612x of the limit; "}},
		{"spec", "self.hosts.map(h, h.name).join(',')", assist.MessageExpression, []string{"2 \"self.hosts.map(h, h.name).join(',')\" estimate 1.84e18, 1.84e11x of the limit; "}},
	} {
		if got := problems(t, c.path, c.src, c.part); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s:\n%s", c.path, c.src, strings.Join(got, "\n"))
		}
	}
}

func TestOwnName(t *testing.T) {
	t.Parallel()
	p := placeIn(t, "../../examples/recipes/name-length/crd.yaml", "")
	p.Part = assist.Rule
	if found := p.Problems("self.metadata.name.size() < 40"); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

func TestEnumTexts(t *testing.T) {
	t.Parallel()
	p := placeOf(t, []byte(open), "spec")
	p.Part = assist.Rule
	for _, quote := range []string{"'", `"`} {
		before := "has(self.mode) && self.mode == " + quote
		c := p.CompleteAt(before, len(before))
		if len(c.Candidates) != 5 {
			t.Errorf("%s: %+v", before, c)
		}
		for _, candidate := range c.Candidates {
			if found := p.Problems(before + candidate.Text); len(found) > 0 {
				t.Errorf("%s%s: %+v", before, candidate.Text, found)
			}
		}
	}
}

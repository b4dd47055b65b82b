package assist_test

import (
	"testing"

	"github.com/celadon-cel/celadon/engine/assist"
)

// TestMended holds what each broken expression becomes with the first mend; what is not
// offered is "".
func TestMended(t *testing.T) {
	p := placeIn(t, "../../examples/crontab/crd.yaml", "")
	for src, want := range mended {
		problems := p.Problems(src)
		if len(problems) != 1 {
			t.Errorf("%s: %d problems", src, len(problems))
			continue
		}
		got := ""
		for i, m := range problems[0].Mends {
			if i == 0 {
				got = assist.Apply(src, m.Edits)
			}
			gone(t, p, src, problems[0], m)
		}
		if got != want {
			t.Errorf("%s: %q, want %q (%s: %+v)", src, got, want, problems[0].Message, problems[0].Mends)
		}
	}
}

// gone holds that a mend takes its problem away.
func gone(t *testing.T, p *assist.Place, src string, was assist.Problem, m assist.Mend) {
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
}

var mended = map[string]string{
	"self.spec.replicas = 3":                          "self.spec.replicas == 3",
	"self.spec.replicas = 3 && self.spec.image = 'a'": "self.spec.replicas == 3 && self.spec.image == 'a'",
	"self.spec.replicas === 3":                        "self.spec.replicas == 3",
	"self.spec.replicas !== 3":                        "self.spec.replicas != 3",
	"self.spec.replicas <> 3":                         "self.spec.replicas != 3",
	"self.spec.replicas =< 3":                         "self.spec.replicas <= 3",
	"true and false":                                  "true && false",
	"true and false or true":                          "true && false || true",
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
	"self.spec.image.in(['a'])":                            "self.spec.image in (['a'])",
	"1 + 'a'":                                              "string(1) + 'a'",
	"self.spec.image + self.spec.replicas":                 "self.spec.image + string(self.spec.replicas)",
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
	"!self.spec.env":                                       "size(self.spec.env) == 0",
	"self.spec.image && true":                              "self.spec.image != '' && true",
	"self.spec.env && true":                                "size(self.spec.env) > 0 && true",
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
	"self.spec.image == nil":                               "",
	"self.spec.env.all(e, e.nmae != '')":                   "self.spec.env.all(e, e.name != '')",
	"self.spec.image == timestamp('2026-01-02T03:04:05Z')": "timestamp(self.spec.image) == timestamp('2026-01-02T03:04:05Z')",
	"quantity('1') < quantity('2')":                        "quantity('1').isLessThan(quantity('2'))",
	"now()":                                                "",
}

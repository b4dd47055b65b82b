package ruletest

import (
	"fmt"
	"strings"
	"testing"
)

func TestHostileSuites(t *testing.T) {
	t.Parallel()
	bomb := `a: &a ["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]` + "\n"
	for _, c := range "bcdefg" {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 10), ","))
	}
	initial := strings.ReplaceAll(strings.TrimSuffix("      "+strings.ReplaceAll(bomb, "\n", "\n      "), "      "), "xx", "x")
	copies := strings.Repeat("    - {op: copy, from: /spec/versions, path: /metadata/annotations/-}\n    - {op: copy, from: /metadata, path: /spec/versions/0/schema}\n", 60)
	head := "name: hostile\ncrdName: crontabs.stable.example.com\ntests:\n"
	for name, c := range map[string]struct{ text, want string }{
		"aliases of aliases":        {head + "  x: &x\n" + bomb, "excessive aliasing"},
		"of a suite of our own":     {"kind: RuleTest\napiVersion: celadon/v1\ntests: []\n" + bomb, "excessive aliasing"},
		"in embedded objects":       {head + "  onCreate:\n" + strings.Repeat("  - name: a\n    expectedError: b\n    initial: |\n"+initial, 3), "excessive aliasing"},
		"a CRD that grows":          {head + "  onUpdate:\n  - name: a\n    initial: \"a: b\"\n    updated: \"a: b\"\n    expectedError: b\n    initialCRDPatches:\n" + copies, "initialCRDPatches"},
		"more than can be compiled": {head + "  onUpdate:\n" + changedCRDs(maxChanged+2), "different initialCRDPatches"},
		"a large text":              {head + "  onCreate: []\n#" + strings.Repeat("x", maxText), "want at most"},
		"many large objects":        {"kind: RuleTest\napiVersion: celadon/v1\nbase: {a: \"" + strings.Repeat("x", 1<<20) + "\"}\ntests:\n" + strings.Repeat("- {name: a, expect: valid}\n", 1000), "want at most"},
		"a long pattern":            {"kind: RuleTest\napiVersion: celadon/v1\ntests: [{name: a, object: {}, expect: {causes: [{message: \"~" + strings.Repeat("(a*)*", 1000) + "\"}]}}]\n", "want at most"},
	} {
		report := New(Config{}).Run(t.Context(), Parse("hostile.yaml", 1, []byte(c.text)), exampleCRD(t), nil)
		var messages []string
		for _, p := range report.Errors {
			messages = append(messages, p.Message)
		}
		for _, one := range report.Cases {
			if one.Outcome == Error {
				messages = append(messages, one.Message)
			}
		}
		if all := strings.Join(messages, "\n"); !strings.Contains(all, c.want) {
			t.Errorf("%s: %.300q, want %q", name, all, c.want)
		}
	}
}

func changedCRDs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  - {name: n%d, initial: 'a: b', updated: 'a: b', expectedError: b, initialCRDPatches: [{op: add, path: /metadata/labels, value: {a: '%d'}}]}\n", i, i)
	}
	return b.String()
}

package output

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/x/ruletest/coverage"
)

const hostile = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: "</pre><script>x.example.com"}
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        x-kubernetes-validations:
        - rule: "self.a != '</span><script>' && \u202e"
        - rule: |
            self.a
              && self.b
`

// TestHostileTexts checks that untrusted text in a CRD is escaped in lcov and on a terminal.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "crd\"><script>.yaml")
	if err := os.WriteFile(file, []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	name, rule := "</pre><script>x.example.com", "self.a != '</span><script>' && \u202e"
	r := &coverage.Report{Rules: 3, Ran: 1, Items: []coverage.Item{
		{CRD: name, Version: "v1", Rule: rule, Ran: 1, Passed: 1, Conditions: []coverage.Condition{{Text: "'</span><script>'", Start: 10, End: 27, True: 1}}},
		{CRD: name, Version: "v1", Index: 1, Rule: "self.a\n  && self.b\n", Conditions: []coverage.Condition{}},
		{CRD: "<script>\nSF:x", Version: "v1", Rule: "\x1b[31m<script>", Conditions: []coverage.Condition{}},
	}}
	sources := ReadSources([]string{file, file, "none.yaml"})
	var trace bytes.Buffer
	if err := Lcov(&trace, r, sources); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	CoverageRules(&text, r)
	CoverageLine(&text, r)
	for _, line := range strings.Split(trace.String(), "\n") {
		if strings.HasPrefix(line, "SF:x") {
			t.Errorf("lcov has a line of the CRD's: %q", line)
		}
	}
	if n := strings.Count(trace.String(), "FN:"); n != 2 {
		t.Errorf("lcov has %d rules, want 2: %s", n, trace.String())
	}
	if strings.ContainsAny(text.String(), "\x1b\u202e") || !strings.Contains(text.String(), `\u202e`) {
		t.Errorf("text: %q", text.String())
	}
}

// TestUnderlined checks that gaps are underlined below each line that contains a part of a gap, and
// that the whole rule is only underlined if there is no other gap.
func TestUnderlined(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	underlined(&b, "日本 == self.a\n\t&& self.b", []coverage.Gap{{Start: 0, End: 23, Text: "never rejected"}, {Start: 6, End: 12}, {Start: 17, End: 23}})
	const want = "    日本 == self.a\n            ~~~~~~\n        && self.b\n           ~~~~~~\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	underlined(&b, "self.a", []coverage.Gap{{Start: 0, End: 6, Text: "never ran"}})
	if b.String() != "    self.a\n    ~~~~~~\n" {
		t.Errorf("got\n%s", b.String())
	}
	b.Reset()
	underlined(&b, strings.Repeat("x", 100_000), nil)
	if n := b.Len(); n > 300 {
		t.Errorf("a long line has %d bytes", n)
	}
}

package test

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/x/ruletest/coverage"
)

func TestHostileTexts(t *testing.T) {
	t.Parallel()
	r := &coverage.Report{Rules: 2, Ran: 1, Items: []coverage.Item{
		{CRD: "x.example.com", Version: "v1", Rule: "self.a != '\u202e'", Ran: 1, Passed: 1, Conditions: []coverage.Condition{{Text: "'\u202e'", Start: 10, End: 13, True: 1}}},
		{CRD: "<script>\nSF:x", Version: "v1", Rule: "\x1b[31m<script>", Conditions: []coverage.Condition{}},
	}}
	var text strings.Builder
	coverageRules(&text, r)
	coverageLine(&text, r)
	if strings.ContainsAny(text.String(), "\x1b\u202e") || !strings.Contains(text.String(), `\u202e`) {
		t.Errorf("text: %q", text.String())
	}
}

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

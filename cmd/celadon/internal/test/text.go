package test

import (
	"io"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/test/output"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/ruletest"
)

// textPrinter writes a report for people. It explains the cases that did not pass.
type textPrinter struct {
	w       *untrusted.Writer
	verbose bool
	layout  print.Layout
}

func (p *textPrinter) suite(s *ruletest.SuiteReport) error {
	var b strings.Builder
	for _, e := range s.Errors {
		p.head(&b, untrusted.Red, "ERROR", s, "", e.Position)
		untrusted.Fprintf(&b, "  %s\n", e.Message)
	}
	for _, c := range s.Cases {
		p.one(&b, s, c)
	}
	_, err := io.WriteString(p.w, p.layout.Text(b.String()))
	return err
}

var outcomes = map[ruletest.Outcome]struct {
	color untrusted.Color
	word  untrusted.Safe
}{
	ruletest.Failed: {untrusted.Red, "FAIL"}, ruletest.Error: {untrusted.Red, "ERROR"},
	ruletest.Skipped: {untrusted.Yellow, "SKIP"}, ruletest.Passed: {untrusted.Green, "PASS"},
}

func (p *textPrinter) one(b *strings.Builder, s *ruletest.SuiteReport, c *ruletest.CaseReport) {
	if p.verbose || c.Outcome == ruletest.Failed || c.Outcome == ruletest.Error {
		o := outcomes[c.Outcome]
		p.head(b, o.color, o.word, s, c.Name, c.Position)
		showCase(b, s, c)
	}
}

func (p *textPrinter) head(b *strings.Builder, colour untrusted.Color, word untrusted.Safe, s *ruletest.SuiteReport, name string, at ruletest.Position) {
	untrusted.Fprintf(b, "%s %s:%d:%d: %s", p.w.Paint(colour, word), s.File, at.Line, at.Column, s.Name)
	if name != "" {
		untrusted.Fprintf(b, "/%s", name)
	}
	b.WriteByte('\n')
}

func showCase(b *strings.Builder, s *ruletest.SuiteReport, c *ruletest.CaseReport) {
	if c.Against != "" {
		untrusted.Fprintf(b, "  against %s\n", c.Against)
	}
	if len(c.Mismatches) == 0 && c.Message != "" {
		untrusted.Fprintf(b, "  %s\n", c.Message)
	}
	for _, remark := range c.Remarks {
		untrusted.Fprintf(b, "  %s\n", remark)
	}
	for _, m := range c.Mismatches {
		untrusted.Fprintf(b, "  want %s\n", m.Want)
		if m.Line > 0 {
			untrusted.Fprintf(b, "   --> %s:%d:%d\n", s.File, m.Line, m.Column)
		}
		untrusted.Fprintf(b, "  got  %s\n", m.Got)
	}
	if c.Got == nil || c.Outcome != ruletest.Failed {
		return
	}
	shown := map[string]bool{}
	for _, cause := range c.Got.Causes {
		if cause.Position == nil {
			continue
		}
		untrusted.Fprintf(b, "   --> %s:%d:%d: %s\n", s.File, cause.Line, cause.Column, cause.Field)
		if cause.Rule == "" || shown[cause.Rule] {
			continue
		}
		shown[cause.Rule] = true
		print.ShowRule(b, cause.Rule)
		for _, v := range cause.Values {
			untrusted.Fprintf(b, "          %s: %s\n", v.Expr, finding.Preview(v.Value, nil))
		}
		print.ShowMissing(b, cause.NotShown)
	}
	shownTexts := make([]string, len(c.Mismatches))
	for i, m := range c.Mismatches {
		shownTexts[i] = m.Got
	}
	print.ShowPolicies(b, &finding.Object{Policies: c.Got.Policies, Warnings: shownTexts})
}

func (p *textPrinter) end(r *Report) error {
	var b strings.Builder
	if r.Coverage != nil {
		output.CoverageRules(&b, r.Coverage)
	}
	if r.Mutation != nil {
		output.Survivors(&b, r.Mutation)
	}
	if _, err := io.WriteString(p.w, b.String()); err != nil {
		return err
	}
	b.Reset()
	counts(&b, r)
	text := untrusted.Safe(b.String())
	if s := &r.Summary; s.Failed == 0 && s.Errors == 0 && s.Passed > 0 {
		text = p.w.Paint(untrusted.Green, untrusted.Safe(strings.TrimSuffix(string(text), "\n"))) + "\n"
	}
	_, err := io.WriteString(p.w, p.layout.Text(string(text)))
	return err
}

// counts writes the last lines of a report, with the counts.
func counts(b *strings.Builder, r *Report) {
	s := &r.Summary
	for _, file := range r.Updated {
		untrusted.Fprintf(b, "%s is updated: review the new expectations\n", file)
	}
	untrusted.Fprintf(b, "%s in %s: %d passed, %d failed", phrase.Count(s.Passed+s.Failed+s.Skipped, "case"), phrase.Count(s.Suites, "suite"), s.Passed, s.Failed)
	print.Also(b, s.Skipped, "skipped")
	print.Also(b, s.Errors, "error", "errors")
	print.Also(b, s.Older, "with a message in the wording of an older server")
	if r.Interrupted {
		b.WriteString("; interrupted")
	}
	b.WriteByte('\n')
	if r.Coverage != nil {
		output.CoverageLine(b, r.Coverage)
	}
	if r.Mutation != nil {
		output.MutationLine(b, r.Mutation)
	}
}

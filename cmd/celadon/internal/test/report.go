package test

import (
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/ruletest"
	"github.com/celadon-cel/celadon/x/ruletest/coverage"
	"github.com/celadon-cel/celadon/x/ruletest/mutation"
)

// Report is the result of a test run. Its JSON form is a published contract.
type Report struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	// KubeVersion is the Kubernetes version of --kube-version.
	KubeVersion string                  `json:"kubeVersion,omitempty"`
	Summary     ruletest.Summary        `json:"summary"`
	Suites      []*ruletest.SuiteReport `json:"suites"`
	// Coverage and Mutation are set if they were requested and measured.
	Coverage *coverage.Report `json:"coverage,omitempty"`
	Mutation *mutation.Report `json:"mutation,omitempty"`
	// Updated lists the files that --update changed.
	Updated []string `json:"updated,omitempty"`
	// Interrupted is set if the run was interrupted, so that results are missing.
	Interrupted bool `json:"interrupted,omitempty"`
}

type printer interface {
	suite(*ruletest.SuiteReport) error
	end(*Report) error
}

func (o *Options) newPrinter(format string, stdout, to io.Writer) (printer, error) {
	w := untrusted.NewWriter(to)
	switch format {
	case "json":
		return &jsonPrinter{w}, nil
	case "text":
		w.Colors = command.Color(stdout)
		width, _ := command.Width(stdout)
		return &textPrinter{w: w, verbose: o.Verbose, layout: print.Layout{Color: w.Colors, Width: width}}, nil
	}
	return &listPrinter{print.NewList(format, w, "celadon test", "")}, nil
}

type jsonPrinter struct{ w io.Writer }

func (p *jsonPrinter) suite(*ruletest.SuiteReport) error { return nil }

func (p *jsonPrinter) end(r *Report) error { return print.JSON(p.w, r) }

type listPrinter struct{ list print.List }

func (p *listPrinter) suite(s *ruletest.SuiteReport) error {
	return p.list.Add(finding.Result{Findings: suite{s}.findings, Cases: suite{s}.cases})
}

func (p *listPrinter) end(r *Report) error {
	var b strings.Builder
	counts(&b, r)
	return p.list.End(print.End{Text: b.String(), Interrupted: r.Interrupted})
}

type suite struct{ *ruletest.SuiteReport }

func (s suite) findings(yield func(finding.Finding) bool) {
	for _, e := range s.Errors {
		if !yield(s.finding(e.Position, s.Name, string(untrusted.Line(e.Message)))) {
			return
		}
	}
	for _, c := range s.Cases {
		if c.Outcome != ruletest.Failed && c.Outcome != ruletest.Error {
			continue
		}
		at := c.Position
		if len(c.Mismatches) > 0 && c.Mismatches[0].Line > 0 {
			at = c.Mismatches[0].Position
		}
		var b strings.Builder
		showCase(&b, s.SuiteReport, c)
		if !yield(s.finding(at, s.Name+"/"+c.Name, b.String())) {
			return
		}
	}
}

func (s suite) finding(at ruletest.Position, title, text string) finding.Finding {
	place := finding.Location{File: s.File, Line: at.Line, Column: at.Column}
	f := finding.Finding{Level: "error", At: place, Title: title}
	f.SetLines(text)
	return f
}

func (s suite) cases() (file string, cases []junit.Testcase) {
	class := string(untrusted.Line(s.CRD))
	for _, e := range s.Errors {
		at := untrusted.Sprintf("%s:%d:%d", s.File, e.Line, e.Column)
		cases = append(cases, junit.Testcase{Name: string(untrusted.Sprintf("line %d", e.Line)), Classname: class, Error: print.JUnitResult(untrusted.Line(e.Message), "Suite", at)})
	}
	for _, one := range s.Cases {
		c := junit.Testcase{Name: string(untrusted.Sprintf("%s/%s", s.Name, one.Name)), Classname: class}
		var b strings.Builder
		showCase(&b, s.SuiteReport, one)
		message, kind, data := untrusted.Line(firstLine(one.Message)), untrusted.Safe(one.Outcome), untrusted.Safe(b.String())
		switch one.Outcome {
		case ruletest.Failed:
			c.Failure = print.JUnitResult(message, kind, data)
		case ruletest.Error:
			c.Error = print.JUnitResult(message, kind, data)
		case ruletest.Skipped:
			c.Skipped = print.JUnitResult(message, "", "")
		}
		cases = append(cases, c)
	}
	return s.File, cases
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

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
		coverageRules(&b, r.Coverage)
	}
	if r.Mutation != nil {
		survivors(&b, r.Mutation)
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
		coverageLine(b, r.Coverage)
	}
	if r.Mutation != nil {
		mutationLine(b, r.Mutation)
	}
}

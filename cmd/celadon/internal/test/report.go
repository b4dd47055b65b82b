package test

import (
	"fmt"
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/ruletest"
	"github.com/celadon-cel/celadon/x/ruletest/coverage"
	"github.com/celadon-cel/celadon/x/ruletest/mutation"
)

// Report is the result of a test run. Its JSON form is a published contract.
type Report struct {
	Kind       string                  `json:"kind"`
	APIVersion string                  `json:"apiVersion"`
	Summary    ruletest.Summary        `json:"summary"`
	Suites     []*ruletest.SuiteReport `json:"suites"`
	// Coverage and Mutation are set if they were requested.
	Coverage *coverage.Report `json:"coverage,omitempty"`
	Mutation *mutation.Report `json:"mutation,omitempty"`
	// Updated lists the files that --update changed.
	Updated []string `json:"updated,omitempty"`
	// Interrupted is set if some cases were not run.
	Interrupted bool `json:"interrupted,omitempty"`
}

// A printer writes a report while suites run.
type printer interface {
	suite(*readResult, *ruletest.SuiteReport) error
	end(*Report) error
}

func newPrinter(o *Options, stdout, to io.Writer) (printer, error) {
	w := untrusted.NewWriter(to)
	switch o.Output {
	case "json":
		return &jsonPrinter{w}, nil
	case "junit":
		return &junitPrinter{finding.NewJUnit(w, "celadon test")}, nil
	case "github":
		return &githubPrinter{w}, nil
	case "text":
		w.Colors = command.Color(stdout)
		return &textPrinter{w: w, verbose: o.Verbose}, nil
	}
	return nil, fmt.Errorf("--output %q: want %s", o.Output, strings.Join(Outputs, ", "))
}

type jsonPrinter struct{ w io.Writer }

func (p *jsonPrinter) suite(*readResult, *ruletest.SuiteReport) error { return nil }

func (p *jsonPrinter) end(r *Report) error {
	enc := finding.Encoder(p.w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// junitPrinter writes one JUnit suite for each test suite.
type junitPrinter struct{ *finding.JUnit }

func (p *junitPrinter) suite(_ *readResult, s *ruletest.SuiteReport) error {
	class := string(untrusted.Line(s.CRD))
	for _, e := range s.Errors {
		at := untrusted.Sprintf("%s:%d:%d", s.File, e.Line, e.Column)
		c := junit.Testcase{Name: string(untrusted.Sprintf("line %d", e.Line)), Classname: class, Error: finding.JUnitResult(untrusted.Line(e.Message), "Suite", at)}
		if err := p.Add(s.File, c); err != nil {
			return err
		}
	}
	for _, one := range s.Cases {
		c := junit.Testcase{Name: string(untrusted.Sprintf("%s/%s", s.Name, one.Name)), Classname: class}
		var b strings.Builder
		showCase(&b, s, one)
		message, kind, data := untrusted.Line(firstLine(one.Message)), untrusted.Safe(one.Outcome), untrusted.Safe(b.String())
		switch one.Outcome {
		case ruletest.Failed:
			c.Failure = finding.JUnitResult(message, kind, data)
		case ruletest.Error:
			c.Error = finding.JUnitResult(message, kind, data)
		case ruletest.Skipped:
			c.Skipped = finding.JUnitResult(message, "", "")
		}
		if err := p.Add(s.File, c); err != nil {
			return err
		}
	}
	return nil
}

func (p *junitPrinter) end(r *Report) error { return p.Close(r.Interrupted) }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// githubPrinter writes GitHub workflow commands, which are shown as annotations.
type githubPrinter struct{ w *untrusted.Writer }

func (p *githubPrinter) suite(_ *readResult, s *ruletest.SuiteReport) error {
	for _, e := range s.Errors {
		if err := finding.Annotate(p.w, "error", finding.Location{File: s.File, Line: e.Line, Column: e.Column}, s.Name, untrusted.Line(e.Message)); err != nil {
			return err
		}
	}
	for _, c := range s.Cases {
		if c.Outcome != ruletest.Failed && c.Outcome != ruletest.Error {
			continue
		}
		at := finding.Location{File: s.File, Line: c.Line, Column: c.Column}
		if len(c.Mismatches) > 0 && c.Mismatches[0].Line > 0 {
			at.Line, at.Column = c.Mismatches[0].Line, c.Mismatches[0].Column
		}
		var b strings.Builder
		showCase(&b, s, c)
		if err := finding.Annotate(p.w, "error", at, s.Name+"/"+c.Name, untrusted.Safe(strings.TrimSpace(b.String()))); err != nil {
			return err
		}
	}
	return nil
}

func (p *githubPrinter) end(r *Report) error {
	var b strings.Builder
	counts(&b, r)
	_, err := io.WriteString(p.w, b.String())
	return err
}

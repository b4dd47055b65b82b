package testrun

import (
	"fmt"
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/engine/ruletest"
	"github.com/celadon-cel/celadon/engine/ruletest/coverage"
	"github.com/celadon-cel/celadon/engine/ruletest/mutation"
	"github.com/celadon-cel/celadon/internal/foreign"
)

// Report is a test run. Its JSON form is fixed: scripts read it.
type Report struct {
	Kind       string                  `json:"kind"`
	APIVersion string                  `json:"apiVersion"`
	Summary    ruletest.Summary        `json:"summary"`
	Suites     []*ruletest.SuiteReport `json:"suites"`
	// Coverage and Mutation are there where they are asked for.
	Coverage *coverage.Report `json:"coverage,omitempty"`
	Mutation *mutation.Report `json:"mutation,omitempty"`
	// Updated are the files that --update changed.
	Updated []string `json:"updated,omitempty"`
	// Interrupted: not all was run.
	Interrupted bool `json:"interrupted,omitempty"`
}

// printer writes a report as suites are run.
type printer interface {
	suite(*found, *ruletest.SuiteReport) error
	end(*Report) error
}

func newPrinter(o *Options, stdout, to io.Writer) (printer, error) {
	w := foreign.NewWriter(to)
	switch o.Output {
	case "json":
		return &jsonPrinter{w}, nil
	case "junit":
		return &junitPrinter{report.NewJUnit(w, "celadon test")}, nil
	case "github":
		return &githubPrinter{w}, nil
	case "text":
		w.Colours = cli.Colour(stdout)
		return &textPrinter{w: w, verbose: o.Verbose}, nil
	}
	return nil, fmt.Errorf("--output %q: want %s", o.Output, strings.Join(Outputs, ", "))
}

type jsonPrinter struct{ w io.Writer }

func (p *jsonPrinter) suite(*found, *ruletest.SuiteReport) error { return nil }

func (p *jsonPrinter) end(r *Report) error {
	enc := report.Encoder(p.w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// junitPrinter writes a suite for each file, with a case for each.
type junitPrinter struct{ *report.JUnit }

func (p *junitPrinter) suite(_ *found, s *ruletest.SuiteReport) error {
	class := string(foreign.Line(s.CRD))
	for _, e := range s.Errors {
		at := foreign.Sprintf("%s:%d:%d", s.File, e.Line, e.Column)
		c := junit.Testcase{Name: string(foreign.Sprintf("line %d", e.Line)), Classname: class, Error: report.JUnitResult(foreign.Line(e.Message), "Suite", at)}
		if err := p.Add(s.File, c); err != nil {
			return err
		}
	}
	for _, one := range s.Cases {
		c := junit.Testcase{Name: string(foreign.Sprintf("%s/%s", s.Name, one.Name)), Classname: class}
		var b strings.Builder
		showCase(&b, s, one)
		message, kind, data := foreign.Line(firstLine(one.Message)), foreign.Own(one.Outcome), foreign.Own(b.String())
		switch one.Outcome {
		case ruletest.Failed:
			c.Failure = report.JUnitResult(message, kind, data)
		case ruletest.Error:
			c.Error = report.JUnitResult(message, kind, data)
		case ruletest.Skipped:
			c.Skipped = report.JUnitResult(message, "", "")
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

// githubPrinter writes workflow commands, which GitHub shows as annotations.
type githubPrinter struct{ w *foreign.Writer }

func (p *githubPrinter) suite(_ *found, s *ruletest.SuiteReport) error {
	for _, e := range s.Errors {
		if err := report.Annotate(p.w, "error", report.Place{File: s.File, Line: e.Line, Column: e.Column}, s.Name, foreign.Line(e.Message)); err != nil {
			return err
		}
	}
	for _, c := range s.Cases {
		if c.Outcome != ruletest.Failed && c.Outcome != ruletest.Error {
			continue
		}
		at := report.Place{File: s.File, Line: c.Line, Column: c.Column}
		if len(c.Mismatches) > 0 && c.Mismatches[0].Line > 0 {
			at.Line, at.Column = c.Mismatches[0].Line, c.Mismatches[0].Column
		}
		var b strings.Builder
		showCase(&b, s, c)
		if err := report.Annotate(p.w, "error", at, s.Name+"/"+c.Name, foreign.Own(strings.TrimSpace(b.String()))); err != nil {
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

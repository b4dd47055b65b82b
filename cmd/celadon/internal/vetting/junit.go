package vetting

import (
	"fmt"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/internal/foreign"
)

// junitPrinter writes a case a CRD. What keeps a CRD from being accepted is its
// failure; warnings, lints and advice are its output.
type junitPrinter struct{ log *report.JUnit }

func (p *junitPrinter) crd(one *vetted) error { return p.log.Add(one.doc.File, one.testcase()) }

func (p *junitPrinter) end(s *summary) error { return p.log.Close(s.Interrupted) }

func (one *vetted) testcase() junit.Testcase {
	c := junit.Testcase{Name: string(one.caseName()), Classname: "CustomResourceDefinition"}
	place := foreign.Line(one.doc.Place())
	switch {
	case one.problem != nil:
		c.Error = report.JUnitResult(foreign.Line(one.problem.Error()), "unreadable", place)
		return c
	case one.undecided():
		c.Error = report.JUnitResult(foreign.Line(one.report.Undecided.Error()), "undecided", place)
	}
	var refused, said []string
	for _, f := range one.findings() {
		text := string(f.text())
		if f.level == "error" {
			refused = append(refused, text)
		} else {
			said = append(said, text)
		}
	}
	if s := one.report.Status; s != nil {
		c.Failure = report.JUnitResult(report.KubectlError(one.kubectl(0)), foreign.Line(string(s.Reason)), foreign.Own(strings.Join(refused, "")))
	}
	if len(said) > 0 {
		c.SystemOut = &junit.Output{Data: strings.TrimSuffix(strings.Join(said, ""), "\n")}
	}
	return c
}

// text is a finding with its place and rule, lines of their own.
func (f *finding) text() foreign.Own {
	var b strings.Builder
	foreign.Fprintf(&b, "%s: %s\n", f.id, report.Sentence(f.message))
	if f.at.Column > 0 {
		foreign.Fprintf(&b, "  --> %s:%d:%d\n", f.at.File, f.at.Line, f.at.Column)
	} else {
		foreign.Fprintf(&b, "  --> %s:%d\n", f.at.File, f.at.Line)
	}
	if f.rule != "" {
		report.ShowRule(&b, f.rule)
	}
	for _, line := range f.shown {
		foreign.Fprintf(&b, "        %s\n", line)
	}
	return foreign.Own(b.String())
}

// caseName tells CRDs of one file apart.
func (one *vetted) caseName() foreign.Own {
	if one.report == nil || one.report.Name == "" {
		return foreign.Own(fmt.Sprintf("document %d, item %d", one.doc.Index, one.doc.Item))
	}
	return foreign.Line(one.report.Name)
}

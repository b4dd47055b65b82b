package vet

import (
	"fmt"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// cases returns the CRD as a test case. Errors are its failure. Warnings, lints, and advice are its
// output.
func (one *vetted) cases() (file string, cases []junit.Testcase) {
	return one.doc.File, []junit.Testcase{one.testcase()}
}

func (one *vetted) testcase() junit.Testcase {
	c := junit.Testcase{Name: string(one.caseName()), Classname: "CustomResourceDefinition"}
	place := untrusted.Line(one.doc.Place())
	switch {
	case one.problem != nil:
		c.Error = print.JUnitResult(untrusted.Line(one.problem.Error()), "unreadable", place)
		return c
	case one.undecided():
		c.Error = print.JUnitResult(untrusted.Line(one.report.Undecided.Error()), "undecided", place)
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
		c.Failure = print.JUnitResult(print.KubectlError(one.kubectl(0)), untrusted.Line(string(s.Reason)), untrusted.Own(strings.Join(refused, "")))
	}
	if len(said) > 0 {
		c.SystemOut = &junit.Output{Data: strings.TrimSuffix(strings.Join(said, ""), "\n")}
	}
	return c
}

// text returns the finding with its location and rule on separate lines.
func (f *crdFinding) text() untrusted.Own {
	var b strings.Builder
	untrusted.Fprintf(&b, "%s: %s\n", f.id, print.Sentence(f.message))
	if f.at.Column > 0 {
		untrusted.Fprintf(&b, "  --> %s:%d:%d\n", f.at.File, f.at.Line, f.at.Column)
	} else {
		untrusted.Fprintf(&b, "  --> %s:%d\n", f.at.File, f.at.Line)
	}
	if f.rule != "" {
		print.ShowRule(&b, f.rule)
	}
	for _, line := range f.shown {
		untrusted.Fprintf(&b, "        %s\n", line)
	}
	return untrusted.Own(b.String())
}

// caseName distinguishes the CRDs in a file.
func (one *vetted) caseName() untrusted.Own {
	if one.report == nil || one.report.Name == "" {
		return untrusted.Own(fmt.Sprintf("document %d, item %d", one.doc.Index, one.doc.Item))
	}
	return untrusted.Line(one.report.Name)
}

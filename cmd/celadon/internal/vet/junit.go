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
	location := untrusted.Line(one.doc.Location())
	switch {
	case one.problem != nil:
		c.Error = print.JUnitResult(untrusted.Line(one.problem.Error()), "unreadable", location)
		return c
	case one.undecided():
		c.Error = print.JUnitResult(untrusted.Line(one.report.Undecided.Error()), "undecided", location)
	}
	var rejected, warned []string
	for _, f := range one.findings() {
		text := string(f.text())
		if f.level == "error" {
			rejected = append(rejected, text)
		} else {
			warned = append(warned, text)
		}
	}
	if s := one.report.Status; s != nil {
		c.Failure = print.JUnitResult(print.KubectlError(one.kubectl(0)), untrusted.Line(string(s.Reason)), untrusted.Safe(strings.Join(rejected, "")))
	}
	if len(warned) > 0 {
		c.SystemOut = &junit.Output{Data: strings.TrimSuffix(strings.Join(warned, ""), "\n")}
	}
	return c
}

// text returns the finding with its location and rule on separate lines.
func (f *crdFinding) text() untrusted.Safe {
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
	return untrusted.Safe(b.String())
}

// caseName distinguishes the CRDs in a file.
func (one *vetted) caseName() untrusted.Safe {
	if one.report == nil || one.report.Name == "" {
		return untrusted.Safe(fmt.Sprintf("document %d, item %d", one.doc.Index, one.doc.Item))
	}
	return untrusted.Line(one.report.Name)
}

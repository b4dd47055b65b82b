package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// junitPrinter writes a suite a file, each when the file is done, and a case an
// object.
type junitPrinter struct {
	w           io.Writer
	strictKinds bool
	suite       *junit.Testsuite
	suites      int
}

func (p *junitPrinter) Object(o *Object) error {
	if p.suite != nil && p.suite.Name != o.File {
		if err := p.flush(); err != nil {
			return err
		}
	}
	if p.suite == nil {
		p.suite = &junit.Testsuite{Name: o.File, File: o.File, ID: p.suites, Time: "0"}
		p.suites++
	}
	p.suite.AddTestcase(p.testcase(o))
	return nil
}

func (p *junitPrinter) testcase(o *Object) junit.Testcase {
	c := junit.Testcase{Name: o.caseName(), Classname: o.Kind}
	if c.Classname == "" {
		c.Classname = "unknown"
	}
	var b strings.Builder
	switch {
	case o.Verdict == Invalid:
		o.where(&b)
		c.Failure = &junit.Result{Message: xmlText(strings.TrimSpace(KubectlError(o))), Type: o.Status.Reason, Data: xmlText(b.String())}
	case o.Verdict == Unreadable:
		c.Error = &junit.Result{Message: xmlText(o.Problem), Type: Unreadable, Data: o.place()}
	case o.Verdict == Skipped && p.strictKinds:
		c.Failure = &junit.Result{Message: xmlText(o.Problem), Type: Skipped, Data: o.place()}
	case o.Verdict == Skipped:
		c.Skipped = &junit.Result{Message: xmlText(o.Problem)}
	}
	if o.Upgrade != nil && c.Failure == nil && o.Upgrade.Finding() {
		o.Upgrade.show(&b, o)
		c.Failure = &junit.Result{Message: "the upgrade changes the object", Type: "Upgrade", Data: xmlText(b.String())}
	}
	if len(o.Warnings) > 0 {
		c.SystemOut = &junit.Output{Data: xmlText("Warning: " + strings.Join(o.Warnings, "\nWarning: "))}
	}
	return c
}

// caseName tells objects of one file apart.
func (o *Object) caseName() string {
	if o.Name == "" {
		return fmt.Sprintf("document %d, item %d", o.Document, o.Item)
	}
	if o.Namespace != "" {
		return xmlText(o.Kind + " " + o.Namespace + "/" + o.Name)
	}
	return xmlText(o.Kind + " " + o.Name)
}

// xmlText leaves out what XML cannot hold.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == utf8.RuneError || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, s)
}

func (p *junitPrinter) start() error {
	if p.suites > 1 {
		return nil
	}
	_, err := io.WriteString(p.w, xml.Header+"<testsuites name=\"celadon check\">\n")
	return err
}

func (p *junitPrinter) flush() error {
	if p.suite == nil {
		return nil
	}
	if err := p.start(); err != nil {
		return err
	}
	enc := xml.NewEncoder(p.w)
	enc.Indent("  ", "  ")
	err := enc.EncodeElement(p.suite, xml.StartElement{Name: xml.Name{Local: "testsuite"}})
	if err == nil {
		_, err = io.WriteString(p.w, "\n")
	}
	p.suite = nil
	return err
}

func (p *junitPrinter) End(s *Summary) error {
	if p.suites == 0 {
		p.suites = 1
		if err := p.start(); err != nil {
			return err
		}
	}
	if s.Interrupted && p.suite != nil {
		p.suite.AddTestcase(junit.Testcase{Name: "interrupted", Classname: "celadon",
			Error: &junit.Result{Message: "interrupted: the report is of the objects before", Type: "Interrupted"}})
	}
	if err := p.flush(); err != nil {
		return err
	}
	_, err := io.WriteString(p.w, "</testsuites>\n")
	return err
}

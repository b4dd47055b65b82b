package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// junitPrinter writes a suite a file, each when the file is done, and a case an
// object. A suite begins with its counts, so its cases wait in a spool.
type junitPrinter struct {
	w           io.Writer
	strictKinds bool
	file        string           // of the suite
	suite       *junit.Testsuite // without its cases
	cases       spool
	suites      int
}

func (p *junitPrinter) Object(o *Object) error {
	if p.suite != nil && p.file != o.File {
		if err := p.flush(); err != nil {
			return err
		}
	}
	return p.add(o.File, p.testcase(o))
}

// add puts a case into the suite of a file.
func (p *junitPrinter) add(file string, c junit.Testcase) error {
	if p.suite == nil {
		p.file = file
		p.suite = &junit.Testsuite{Name: xmlText(file), File: xmlText(file), ID: p.suites, Time: "0"}
		p.suites++
	}
	p.suite.AddTestcase(c) // which counts it
	p.suite.Testcases = p.suite.Testcases[:0]
	enc := xml.NewEncoder(&p.cases)
	enc.Indent("    ", "  ")
	if err := enc.EncodeElement(c, xml.StartElement{Name: xml.Name{Local: "testcase"}}); err != nil {
		return err
	}
	_, err := io.WriteString(&p.cases, "\n")
	return err
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

const suiteEnd = "</testsuite>"

// flush writes the suite of a file.
func (p *junitPrinter) flush() error {
	if p.suite == nil {
		return nil
	}
	defer p.cases.reset()
	if err := p.start(); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := xml.NewEncoder(&b).EncodeElement(p.suite, xml.StartElement{Name: xml.Name{Local: "testsuite"}}); err != nil {
		return err
	}
	p.suite = nil
	if _, err := fmt.Fprintf(p.w, "  %s\n", bytes.TrimSuffix(b.Bytes(), []byte(suiteEnd))); err != nil {
		return err
	}
	if err := p.cases.copyTo(p.w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.w, "  %s\n", suiteEnd)
	return err
}

func (p *junitPrinter) End(s *Summary) error {
	if s.Interrupted {
		file := "celadon"
		if p.suite != nil {
			file = p.file
		}
		c := junit.Testcase{Name: "interrupted", Classname: "celadon", Error: &junit.Result{Message: Partial, Type: "Interrupted"}}
		if err := p.add(file, c); err != nil {
			return err
		}
	}
	if p.suites == 0 {
		p.suites = 1
		if err := p.start(); err != nil {
			return err
		}
	}
	if err := p.flush(); err != nil {
		return err
	}
	_, err := io.WriteString(p.w, "</testsuites>\n")
	return err
}

package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/celadon-cel/celadon/internal/foreign"
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
		p.suite = &junit.Testsuite{Name: string(foreign.Line(file)), File: string(foreign.Line(file)), ID: p.suites, Time: "0"}
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

// testcase has all texts escaped: encoding/xml writes what XML cannot hold as it
// is in CDATA and as U+FFFD elsewhere.
func (p *junitPrinter) testcase(o *Object) junit.Testcase {
	c := junit.Testcase{Name: string(o.caseName()), Classname: string(foreign.Line(o.Kind))}
	if c.Classname == "" {
		c.Classname = "unknown"
	}
	problem, place := foreign.Line(o.Problem), foreign.Line(o.place())
	var b strings.Builder
	switch {
	case o.Verdict == Invalid:
		o.where(&b)
		c.Failure = result(KubectlError(o), foreign.Line(o.Status.Reason), foreign.Own(b.String()))
	case o.Verdict == Unreadable:
		c.Error = result(problem, Unreadable, place)
	case o.Verdict == Undecided:
		o.undecided(&b)
		c.Error = result(problem, Undecided, place+"\n"+foreign.Own(b.String()))
	case o.Verdict == Skipped && p.strictKinds:
		c.Failure = result(problem, Skipped, place)
	case o.Verdict == Skipped:
		c.Skipped = result(problem, "", "")
	}
	if o.Upgrade != nil && c.Failure == nil && o.Upgrade.Finding() {
		o.Upgrade.show(&b, o)
		c.Failure = result("the upgrade changes the object", "Upgrade", foreign.Own(b.String()))
	}
	if len(o.Warnings) > 0 {
		c.SystemOut = &junit.Output{Data: strings.TrimSuffix(string(o.warnings()), "\n")}
	}
	return c
}

func result(message, kind, data foreign.Own) *junit.Result {
	return &junit.Result{Message: strings.TrimSpace(string(message)), Type: string(kind), Data: string(data)}
}

// caseName tells objects of one file apart.
func (o *Object) caseName() foreign.Own {
	if o.Name == "" {
		return foreign.Sprintf("document %d, item %d", o.Document, o.Item)
	}
	if o.Namespace != "" {
		return foreign.Sprintf("%s %s/%s", o.Kind, o.Namespace, o.Name)
	}
	return foreign.Sprintf("%s %s", o.Kind, o.Name)
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

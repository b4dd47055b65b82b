package finding

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// JUnit writes one suite per file, when the file is complete. A suite starts with its counts, so
// its cases are kept in a spool until then.
type JUnit struct {
	w      io.Writer
	name   string
	file   string           // of the suite
	suite  *junit.Testsuite // without its cases
	cases  spool
	suites int
	lacks  string // parts that a merged report lacks
}

// NewJUnit returns a JUnit for the report of a command. The strings of cases must already be
// escaped, because encoding/xml writes characters that XML cannot represent unchanged in CDATA, and
// as U+FFFD elsewhere.
func NewJUnit(w io.Writer, command string) *JUnit { return &JUnit{w: w, name: command} }

// junitPrinter writes one test case per object.
type junitPrinter struct {
	*JUnit
	strictKinds bool
}

func (p *junitPrinter) Object(o *Object) error { return p.Add(o.inSource(o.File), p.testcase(o)) }

func (p *junitPrinter) End(s *Summary) error {
	p.lacks = s.lacks()
	return p.Close(s.Interrupted)
}

// Add adds a case to the suite of a file.
func (p *JUnit) Add(file string, c junit.Testcase) error {
	if p.suite != nil && p.file != file {
		if err := p.flush(); err != nil {
			return err
		}
	}
	if p.suite == nil {
		p.file = file
		p.suite = &junit.Testsuite{Name: string(untrusted.Line(file)), File: string(untrusted.Line(file)), ID: p.suites, Time: "0"}
		p.suites++
	}
	p.suite.AddTestcase(c) // updates the counts
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
	c := junit.Testcase{Name: string(o.caseName()), Classname: string(untrusted.Line(o.Kind))}
	if c.Classname == "" {
		c.Classname = "unknown"
	}
	problem, location := untrusted.Line(o.Problem), untrusted.Line(o.locationText())
	var b strings.Builder
	switch {
	case o.Verdict == Invalid:
		o.where(&b)
		c.Failure = JUnitResult(KubectlError(o), untrusted.Line(o.Status.Reason), untrusted.Safe(b.String()))
	case o.Verdict == Unreadable:
		c.Error = JUnitResult(problem, Unreadable, location)
	case o.Verdict == Undecided:
		o.undecided(&b)
		c.Error = JUnitResult(problem, Undecided, location+"\n"+untrusted.Safe(b.String()))
	case o.Verdict == Skipped && p.strictKinds:
		c.Failure = JUnitResult(problem, Skipped, location)
	case o.Verdict == Skipped:
		c.Skipped = JUnitResult(problem, "", "")
	}
	if o.Upgrade != nil && c.Failure == nil && o.Upgrade.Finding() {
		o.Upgrade.show(&b, o)
		c.Failure = JUnitResult("the upgrade changes the object", "Upgrade", untrusted.Safe(b.String()))
	}
	if o.Known {
		c.Failure, c.Skipped = nil, JUnitResult(known, "", "")
	}
	if len(o.Warnings) > 0 {
		c.SystemOut = &junit.Output{Data: strings.TrimSuffix(string(o.warnings()), "\n")}
	}
	return c
}

// JUnitResult returns the reason why a case did not pass.
func JUnitResult(message, kind, data untrusted.Safe) *junit.Result {
	return &junit.Result{Message: strings.TrimSpace(string(message)), Type: string(kind), Data: string(data)}
}

// caseName distinguishes the objects in a file.
func (o *Object) caseName() untrusted.Safe {
	if o.Name == "" {
		return untrusted.Sprintf("document %d, item %d", o.Document, o.Item)
	}
	if o.Namespace != "" {
		return untrusted.Sprintf("%s %s/%s", o.Kind, o.Namespace, o.Name)
	}
	return untrusted.Sprintf("%s %s", o.Kind, o.Name)
}

func (p *JUnit) start() error {
	if p.suites > 1 {
		return nil
	}
	_, err := fmt.Fprintf(p.w, "%s<testsuites name=%q>\n", xml.Header, p.name)
	return err
}

const suiteEnd = "</testsuite>"

// flush writes the suite of a file.
func (p *JUnit) flush() error {
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

// Close completes the report. If the run was interrupted, it adds a case with an error.
func (p *JUnit) Close(interrupted bool) error {
	if interrupted || p.lacks != "" {
		file := "celadon"
		if p.suite != nil {
			file = p.file
		}
		c := junit.Testcase{Name: "incomplete", Classname: "celadon", Error: &junit.Result{Message: string(untrusted.Line(p.lacks)), Type: "Incomplete"}}
		if interrupted {
			c.Name, c.Error = "interrupted", &junit.Result{Message: Partial, Type: "Interrupted"}
		}
		if err := p.Add(file, c); err != nil {
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

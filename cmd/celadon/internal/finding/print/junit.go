package print

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// junitPrinter writes one suite per file, when the file is complete. A suite starts with its counts, so
// its cases are kept in a spool until then.
type junitPrinter struct {
	w      io.Writer
	name   string
	file   string
	suite  *junit.Testsuite // without its cases
	cases  spool
	suites int
}

func (p *junitPrinter) Add(r finding.Result) error {
	file, cases := r.Cases()
	for i := range cases {
		if err := p.add(file, cases[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *junitPrinter) add(file string, c junit.Testcase) error {
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

// JUnitResult returns the reason why a case did not pass.
func JUnitResult(message, kind, data untrusted.Safe) *junit.Result {
	return &junit.Result{Message: strings.TrimSpace(string(message)), Type: string(kind), Data: string(data)}
}

func (p *junitPrinter) start() error {
	if p.suites > 1 {
		return nil
	}
	_, err := fmt.Fprintf(p.w, "%s<testsuites name=%q>\n", xml.Header, p.name)
	return err
}

const suiteEnd = "</testsuite>"

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

func (p *junitPrinter) End(e End) error {
	if why := e.incomplete(); why != "" {
		name, kind := "incomplete", untrusted.Safe("Incomplete")
		if e.Interrupted {
			name, kind = "interrupted", "Interrupted"
		}
		c := junit.Testcase{Name: name, Classname: "celadon", Error: JUnitResult(untrusted.Line(why), kind, "")}
		if err := p.add(cmp.Or(p.file, "celadon"), c); err != nil {
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

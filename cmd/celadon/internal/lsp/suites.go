package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/test"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/ruletest"
)

// A suitePart is a test suite in a text, with its results.
type suitePart struct{ report *ruletest.SuiteReport }

// ofSuite adds the findings of celadon test.
func (v *view) ofSuite(ctx context.Context, p *part) {
	runner := test.SuiteRunner{Roots: v.folders(), Open: v.openCRDs(), Known: v.crds.known()}
	r := runner.Run(ctx, p.doc)
	if r == nil || ctx.Err() != nil {
		return
	}
	p.suite = &suitePart{r}
	add := func(at ruletest.Position, code ruletest.Outcome, message string) {
		location := finding.Location{Line: at.Line, Column: at.Column}
		d := protocol.Diagnostic{Range: p.rangeOf(v.text, location), Severity: protocol.Error, Code: string(code), Source: source, Message: shown(strings.TrimSuffix(message, "\n"))}
		p.findings = append(p.findings, docFinding{diagnostic: d})
	}
	for _, e := range r.Errors {
		add(e.Position, ruletest.Error, e.Message)
	}
	for _, c := range r.Cases {
		if c.Outcome == ruletest.Failed || c.Outcome == ruletest.Error {
			at := c.Position
			if len(c.Mismatches) > 0 && c.Mismatches[0].Line > 0 {
				at = c.Mismatches[0].Position
			}
			add(at, c.Outcome, c.Name+"\n"+test.Why(r, c))
		}
	}
}

// openCRDs returns the contents of open files that have CRDs.
func (s *server) openCRDs() map[string][]byte {
	open := map[string][]byte{}
	for _, path := range s.crds.paths() {
		s.docs.mu.Lock()
		for _, d := range s.docs.all {
			if d.name == path {
				open[path] = d.text.bytes
			}
		}
		s.docs.mu.Unlock()
	}
	return open
}

// known returns the CRDs in force.
func (c *crds) known() (all []resource.Read) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.inForce {
		all = append(all, r.Read)
	}
	return all
}

// runSuite is the command of a test suite's code lens.
const runSuite = "celadon.runSuite"

func (v *view) suiteLenses(p *part) (lenses []protocol.CodeLens) {
	if p.suite == nil {
		return nil
	}
	r := p.suite.report
	uri, _ := json.Marshal(v.uri) // marshaling a string cannot fail
	var sum ruletest.Summary
	sum.Add(r)
	title := fmt.Sprintf("run %s: %d passed, %d failed", phrase.Count(len(r.Cases), "case"), sum.Passed, sum.Failed)
	lenses = append(lenses, protocol.CodeLens{Range: p.whole(v.known.text), Command: &protocol.Command{Title: title, Command: runSuite, Arguments: []json.RawMessage{uri}}})
	for _, c := range r.Cases {
		at := p.rangeOf(v.known.text, finding.Location{Line: c.Line, Column: c.Column})
		lenses = append(lenses, protocol.CodeLens{Range: at, Command: &protocol.Command{Title: string(c.Outcome), Command: runSuite, Arguments: []json.RawMessage{uri}}})
	}
	return lenses
}

// execute runs a test suite again, which is the server's only command.
func (s *server) execute(p protocol.ExecuteCommandParams) func(context.Context) (any, error) {
	var uri string
	if p.Command != runSuite || len(p.Arguments) != 1 || json.Unmarshal(p.Arguments[0], &uri) != nil {
		return failed(fmt.Errorf("%q: want %s with the URI of an open suite", p.Command, runSuite))
	}
	s.rounds.mark(uri)
	return func(context.Context) (any, error) { return nil, nil }
}

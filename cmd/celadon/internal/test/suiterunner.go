package test

import (
	"context"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/x/ruletest"
)

// SuiteRunner runs suites that an editor has open.
type SuiteRunner struct {
	// Roots are the folders that a suite may name files in.
	Roots []string
	// Open are texts that count in place of files, by their paths.
	Open map[string][]byte
	// Known are CRDs of the workspace, for a suite beside which there is none.
	Known []resource.Read
}

// Run is what celadon test says of a suite; nil where the document is none.
func (d *SuiteRunner) Run(ctx context.Context, doc *input.Document) *ruletest.SuiteReport {
	of := look(doc, true, nil)
	if of.suite == nil {
		return nil
	}
	defs := newDefinitions(nil, nil)
	defs.roots = d.Roots
	for path, text := range d.Open {
		var all []*definition
		input.SplitText(path, text, func(c input.Chunk) bool { return c.Each(collect(&all)) })
		defs.files[path] = all
		defs.walked = append(defs.walked, all...)
	}
	for _, r := range d.Known {
		known := &definition{file: r.Place, name: r.CRD.Name}
		known.once.Do(func() { known.crd = &ruletest.CRD{File: r.Place, Definition: r.CRD.ForEngine()} })
		defs.walked = append(defs.walked, known)
	}
	crds, err := defs.find(of.suite)
	return ruletest.New(ruletest.Config{}).Run(ctx, of.suite, crds, err)
}

// Why says, in lines, why a case has its outcome.
func Why(s *ruletest.SuiteReport, c *ruletest.CaseReport) string {
	var b strings.Builder
	showCase(&b, s, c)
	return b.String()
}

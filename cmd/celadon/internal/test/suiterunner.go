package test

import (
	"context"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/x/ruletest"
)

// SuiteRunner runs suites that are open in an editor.
type SuiteRunner struct {
	// Roots are the folders in which a suite may name files.
	Roots []string
	// Open maps the paths of open files to their unsaved content.
	Open map[string][]byte
	// Known holds the workspace's CRDs. They apply to suites without a CRD next to them.
	Known []resource.Read
}

// Run runs the suite in doc as celadon test would. It returns nil if doc is not a suite.
func (d *SuiteRunner) Run(ctx context.Context, doc *input.Document) *ruletest.SuiteReport {
	of := classify(doc, true, nil)
	if of.suite == nil {
		return nil
	}
	defs := newDefinitions(nil, nil)
	defs.roots = d.Roots
	for path, text := range d.Open {
		var all []*definition
		input.SplitText(path, text, func(c input.Chunk) bool { return c.Each(collect(&all)) })
		defs.files.get(path, func() readFile { return readFile{crds: all} })
		defs.walked = append(defs.walked, all...)
	}
	for _, r := range d.Known {
		known := &definition{file: r.Location, name: r.CRD.Name}
		known.once.Do(func() { known.crd = &ruletest.CRD{File: r.Location, Definition: r.CRD.ForEngine()} })
		defs.walked = append(defs.walked, known)
	}
	crds, err := defs.find(of.suite)
	return ruletest.New(ruletest.Config{Policies: defs.policies, Server: builtins.Alone()}).Run(ctx, of.suite, crds, err)
}

// Why returns lines that explain the outcome of case c.
func Why(s *ruletest.SuiteReport, c *ruletest.CaseReport) string {
	var b strings.Builder
	showCase(&b, s, c)
	return b.String()
}

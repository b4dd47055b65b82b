package conformance

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/ruletest"
)

// SweepStarters generates starter suites, checks that their generation is deterministic, and runs
// writes of their cases on a server.
func (s *Server) SweepStarters(ctx context.Context, crds []*CRD, steps int, report *Report) {
	for some := range slices.Chunk(crds, atATime) {
		works := make([]*starterRun, len(some))
		for i, crd := range some {
			works[i] = &starterRun{ctx: ctx, crd: crd, steps: steps, report: report, group: &Group{CRD: crd}}
		}
		each(runtime.NumCPU(), works, (*starterRun).work)
		var groups []*Group
		for _, w := range works {
			if len(w.group.Cases) > 0 {
				groups = append(groups, w.group)
			}
		}
		s.Sweep(ctx, groups, report)
	}
}

type starterRun struct {
	ctx    context.Context
	crd    *CRD
	steps  int
	report *Report
	group  *Group
}

func (w *starterRun) work() {
	e, err := compile(w.crd, "")
	if err != nil {
		return // TestAnswers reports the error
	}
	for _, v := range w.crd.Definition.Spec.Versions {
		if !v.Served {
			continue
		}
		id := w.crd.variant() + " " + v.Name
		var suites [2]*ruletest.Started
		for i := range suites {
			starter := &ruletest.Starter{Definition: w.crd.Definition, Engine: e, Version: v.Name, CRDPath: "crd.yaml", Search: analysis.Config{Steps: w.steps}}
			if suites[i], err = starter.Suite(w.ctx); err != nil {
				w.report.Error(id, err)
				return
			}
		}
		if suites[0] == nil {
			continue
		}
		if !bytes.Equal(suites[0].Text, suites[1].Text) {
			w.report.Error(id, fmt.Errorf("two runs give different suites"))
		}
		w.note(suites[0])
		w.run(id, v.Name, suites[0].Text)
	}
}

func (w *starterRun) note(suite *ruletest.Started) {
	for label, n := range map[string]int{"rules": suite.Rules, "rules with an accepted object": suite.Accepted,
		"rules with a refused object": suite.Rejected, "rules that refuse an object alone": suite.Alone} {
		w.report.Count(label, n)
	}
}

// run makes a case of the last write of each case of a suite. The preceding writes only prepare it.
func (w *starterRun) run(id, version string, text []byte) {
	suite := ruletest.Parse(id, 1, text)
	runner := ruletest.New(ruletest.Config{Record: true})
	out := runner.Run(w.ctx, suite, []*ruletest.CRD{{File: w.crd.Path, Definition: w.crd.Definition}}, nil)
	for _, c := range out.Cases {
		if c.Outcome != ruletest.Passed && c.Outcome != ruletest.Skipped {
			w.report.Error(id+" "+c.Name, fmt.Errorf("%s: %s", c.Outcome, c.Message))
		}
		for _, p := range c.Replays {
			req := p.Writes[len(p.Writes)-1].Request
			res, err := p.Engine.Validate(w.ctx, req)
			if err != nil {
				w.report.Error(id+" "+c.Name, err)
				continue
			}
			claim := resultAnswer(res, req.OldObject != nil)
			w.group.Cases = append(w.group.Cases, &Case{
				ID: id + " " + c.Name, Project: "starters", CRD: w.crd, Version: version,
				Subresource: req.Subresource, FieldValidation: req.FieldValidation,
				Object: req.Object, OldObject: req.OldObject, Claim: &claim,
			})
		}
	}
}

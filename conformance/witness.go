package conformance

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

// asking is how much is asked of each CRD.
type asking struct {
	wants []search.Want
	// rules are evenly spread ones of each version; 0 is all.
	rules int
	// steps are those of one question; 0 is what celadon find takes.
	steps int
}

// atATime is of how many CRDs the witnesses are there before they are tried.
const atATime = 24

// SweepWitnesses tries on a server the writes by which x/analysis/search shows what
// the rules of CRDs do, and samples of each version. A rule that variants of one
// CRD share is asked about once.
func (s *Server) SweepWitnesses(ctx context.Context, crds []*CRD, ask asking, report *Report) {
	asked := map[string]bool{}
	for some := range slices.Chunk(crds, atATime) {
		s.Sweep(ctx, witnesses(ctx, some, ask, asked, report), report)
	}
}

// witnesses are a group a CRD; asked are the rules that were asked about before.
func witnesses(ctx context.Context, crds []*CRD, ask asking, asked map[string]bool, report *Report) []*Group {
	works := make([]*witnessing, len(crds))
	for i, crd := range crds {
		works[i] = &witnessing{ctx: ctx, ask: ask, report: report, group: &Group{CRD: crd}}
		works[i].plan(asked)
	}
	each(runtime.NumCPU(), works, (*witnessing).work)
	var out []*Group
	for _, w := range works {
		if len(w.group.Cases) > 0 {
			out = append(out, w.group)
		}
	}
	return out
}

// witnessing is the work on one CRD.
type witnessing struct {
	ctx      context.Context
	ask      asking
	report   *Report
	group    *Group
	versions []versionQuestions
}

// versionQuestions are what is asked of one version.
type versionQuestions struct {
	name     string
	analyzer *analysis.Analyzer
	rules    []engine.RuleRef
}

// plan chooses the rules that were not asked about before.
func (w *witnessing) plan(asked map[string]bool) {
	crd := w.group.CRD
	e, err := compile(crd)
	if err != nil {
		return // TestAnswers tells of it
	}
	for _, version := range e.Versions() {
		a, err := analysis.New(crd.Definition, e, version, analysis.Config{Steps: w.ask.steps})
		if err != nil {
			w.report.Error(crd.variant()+" "+version, err)
			continue
		}
		rules := slices.DeleteFunc(a.Rules(), func(r engine.RuleRef) bool {
			id := fmt.Sprintf("%s %s %s %s", crd.Definition.Name, version, r.Path, r.Rule)
			known := asked[id]
			asked[id] = true
			return known
		})
		if w.ask.rules > 0 {
			rules = spread(rules, w.ask.rules)
		}
		w.versions = append(w.versions, versionQuestions{version, a, rules})
	}
}

func (w *witnessing) work() {
	for _, v := range w.versions {
		for _, full := range []bool{false, true} {
			a, err := v.analyzer.Sample(w.ctx, full)
			w.add(v.name, map[bool]string{false: "minimal", true: "full"}[full], "", a, err)
		}
		for _, ref := range v.rules {
			w.report.Note("rules asked about")
			for _, want := range w.ask.wants {
				a, err := v.analyzer.Ask(w.ctx, ref, want)
				w.add(v.name, string(want), fmt.Sprintf(" %s[%d]", ref.Path, ref.Index), a, err)
			}
		}
	}
	w.versions = nil // what a search has learnt is large
}

// add makes a case of a witness.
func (w *witnessing) add(version, what, rule string, a *analysis.Answer, err error) {
	crd := w.group.CRD
	id := fmt.Sprintf("%s %s %s%s", crd.variant(), version, what, rule)
	if err != nil {
		w.report.Error(id, err)
		return
	}
	if a.Status != search.Found {
		w.report.Note(fmt.Sprintf("questions without a witness: %s, %s", what, a.Status))
		return
	}
	if what == string(search.Refused) && !a.Witness.Alone {
		what = "refused for other reasons too"
	}
	w.report.Note(fmt.Sprintf("witnesses: %s, %s", what, a.Witness.Operation))
	claim := resultAnswer(a.Witness.Result, a.Witness.Old != nil)
	w.group.Cases = append(w.group.Cases, &Case{
		ID: id, Project: "witnesses", CRD: crd, Version: version,
		Subresource: a.Witness.Request().Subresource,
		// What celadon check takes when nothing else is said: a witness has no
		// field that the schema does not have.
		FieldValidation: "Strict",
		Object:          a.Witness.Object, OldObject: a.Witness.Old,
		Claim: &claim,
	})
}

// claimed holds a witness to what its search says of it. ours is the engine's
// answer to the very request that the server got.
func (c *Case) claimed(t *trial, ours Answer) []Difference {
	if c.Claim == nil {
		return nil
	}
	out := compare(ours, *c.Claim, claims)
	for i := range out {
		out[i].Reason = "the search says otherwise: " + out[i].Reason
	}
	if t.seeded {
		out = append(out, Difference{Reason: "the server refuses the old object of a witness"})
	}
	return out
}

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

type witnessLimits struct {
	wants []search.Want
	// rules is the number of rules to examine in each version, evenly spaced; 0 means all.
	rules int
	// steps is the number of steps per search; 0 means the default.
	steps int
}

// atATime is the number of CRDs whose example objects are collected before they are tried.
const atATime = 24

// SweepWitnesses writes to a server the example objects that x/analysis/search finds for the rules
// of CRDs, and the samples of each version. It examines a rule that several variants of a CRD share
// only once.
func (s *Server) SweepWitnesses(ctx context.Context, crds []*CRD, limits witnessLimits, report *Report) {
	done := map[string]bool{}
	for some := range slices.Chunk(crds, atATime) {
		s.Sweep(ctx, witnesses(ctx, some, limits, done, report), report)
	}
}

// done holds the rules that were already examined, and is updated.
func witnesses(ctx context.Context, crds []*CRD, limits witnessLimits, done map[string]bool, report *Report) []*Group {
	works := make([]*witnessSearch, len(crds))
	for i, crd := range crds {
		works[i] = &witnessSearch{ctx: ctx, limits: limits, report: report, group: &Group{CRD: crd}}
		works[i].plan(done)
	}
	each(runtime.NumCPU(), works, (*witnessSearch).work)
	var out []*Group
	for _, w := range works {
		if len(w.group.Cases) > 0 {
			out = append(out, w.group)
		}
	}
	return out
}

type witnessSearch struct {
	ctx      context.Context
	limits   witnessLimits
	report   *Report
	group    *Group
	versions []versionQuestions
}

type versionQuestions struct {
	name     string
	analyzer *analysis.Analyzer
	rules    []engine.RuleRef
}

func (w *witnessSearch) plan(done map[string]bool) {
	crd := w.group.CRD
	e, err := compile(crd, "")
	if err != nil {
		return // TestAnswers reports the error
	}
	for _, version := range e.Info().Versions {
		a, err := analysis.New(crd.Definition, e, version, analysis.Config{Steps: w.limits.steps})
		if err != nil {
			w.report.Error(crd.variant()+" "+version, err)
			continue
		}
		rules := slices.DeleteFunc(a.Rules(), func(r engine.RuleRef) bool {
			id := fmt.Sprintf("%s %s %s %s", crd.Definition.Name, version, r.Path, r.Rule)
			known := done[id]
			done[id] = true
			return known
		})
		if w.limits.rules > 0 {
			rules = spread(rules, w.limits.rules)
		}
		w.versions = append(w.versions, versionQuestions{version, a, rules})
	}
}

func (w *witnessSearch) work() {
	for _, v := range w.versions {
		for _, full := range []bool{false, true} {
			a, err := v.analyzer.Sample(w.ctx, full)
			w.add(v.name, map[bool]string{false: "minimal", true: "full"}[full], "", a, err)
		}
		for _, ref := range v.rules {
			w.report.Note("rules searched")
			for _, want := range w.limits.wants {
				a, err := v.analyzer.Ask(w.ctx, ref, want)
				w.add(v.name, string(want), fmt.Sprintf(" %s[%d]", ref.Path, ref.Index), a, err)
			}
		}
	}
	w.versions = nil // a search keeps much state, so free it
}

func (w *witnessSearch) add(version, outcome, rule string, a *analysis.Answer, err error) {
	crd := w.group.CRD
	id := fmt.Sprintf("%s %s %s%s", crd.variant(), version, outcome, rule)
	if err != nil {
		w.report.Error(id, err)
		return
	}
	if a.Status != search.Found {
		w.report.Note(fmt.Sprintf("questions without a witness: %s, %s", outcome, a.Status))
		return
	}
	if outcome == string(search.Rejected) && !a.Witness.Alone {
		outcome = "refused for other reasons too"
	}
	w.report.Note(fmt.Sprintf("witnesses: %s, %s", outcome, a.Witness.Operation))
	claim := resultAnswer(a.Witness.Result, a.Witness.Old != nil)
	w.group.Cases = append(w.group.Cases, &Case{
		ID: id, Project: "witnesses", CRD: crd, Version: version,
		Subresource: a.Witness.Request().Subresource,
		// The default of celadon check. An example object has no fields that the schema does not
		// define.
		FieldValidation: "Strict",
		Object:          a.Witness.Object, OldObject: a.Witness.Old,
		Claim: &claim,
	})
}

// claimed compares the prediction of a search with ours, the engine's result for the request that
// the server received.
func (c *Case) claimed(t *trial, ours Answer) []Difference {
	if c.Claim == nil {
		return nil
	}
	out := compare(ours, *c.Claim, claims)
	for i := range out {
		out[i].Reason = "the search disagrees: " + out[i].Reason
	}
	if t.seeded && !c.Ratcheting {
		out = append(out, Difference{Reason: "the server refuses the old object of a witness"})
	}
	return out
}

package conformance

import (
	"path/filepath"
	"testing"

	"github.com/celadon-cel/celadon/conformance/fuzz"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

func TestWitnessesOnServer(t *testing.T) {
	ask := witnessLimits{wants: []search.Want{search.Rejected, search.Accepted, search.Errs}}
	crds := witnessCRDs(t)
	if !level.Long() {
		ask.rules, ask.steps = 4, 200
		crds = oneOfEach(crds)
	}
	report := NewReport("witnesses")
	startServer(t).SweepWitnesses(t.Context(), crds, ask, report)
	finish(t, report)
}

func TestWitnessesOfScenarios(t *testing.T) {
	n, ask := uint64(3), witnessLimits{wants: []search.Want{search.Rejected, search.Accepted, search.Errs}, rules: 4, steps: 50}
	if level.Long() {
		n, ask.rules, ask.steps = 100, 20, 200
	}
	var crds []*CRD
	for _, g := range Scenarios(fuzz.NewLibrary(), *firstScenario, n) {
		crds = append(crds, g.CRD)
	}
	report := NewReport("scenario-witnesses")
	startServer(t).SweepWitnesses(t.Context(), crds, ask, report)
	finish(t, report)
}

func witnessCRDs(t *testing.T) (all []*CRD) {
	t.Helper()
	for _, file := range corpus.CRDFiles(t) {
		crd, err := ReadCRD(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, crd)
	}
	return all
}

func oneOfEach(all []*CRD) (some []*CRD) {
	project := ""
	for _, crd := range all {
		if dir := filepath.Dir(crd.Path); dir != project {
			project = dir
			some = append(some, crd)
		}
	}
	return some
}

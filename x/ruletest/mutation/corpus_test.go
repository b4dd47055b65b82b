package mutation

import (
	"context"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

var measured = []string{"karpenter", "karpenter-provider-aws", "nginx-gateway-fabric", "postgres-operator"}

// A case passes if its verdict and causes equal the original's.
func corpusSuites(t testing.TB, folder string) map[string][]Suite {
	t.Helper()
	suites, byFile := map[string][]Suite{}, map[string]int{}
	for c := range corpus.Cases(t, folder) {
		project := filepath.Base(filepath.Dir(c.CRD))
		if !slices.Contains(measured, project) {
			continue
		}
		i, known := byFile[c.CRD]
		if !known {
			crd := corpus.ReadCRD(t, filepath.Join(folder, c.CRD))
			e, err := engine.Compile(crd, engine.Config{})
			if err != nil {
				t.Fatal(err)
			}
			i = len(suites[project])
			byFile[c.CRD] = i
			suites[project] = append(suites[project], Suite{CRD: crd, Engine: e})
		}
		s := &suites[project][i]
		req := engine.Request{Object: c.Object, OldObject: c.OldObject, Subresource: c.Subresource}
		s.Cases = append(s.Cases, Case{Name: project + "/" + c.Name, Writes: []Write{{Request: req, Passes: asBefore(t, s.Engine, req)}}})
	}
	return suites
}

func asBefore(t testing.TB, e *engine.Engine, req engine.Request) func(*engine.Result, error) bool {
	t.Helper()
	want, err := e.Validate(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return func(got *engine.Result, err error) bool {
		return err == nil && got.Allowed == want.Allowed && reflect.DeepEqual(places(got), places(want))
	}
}

func places(r *engine.Result) (all []string) {
	for _, c := range r.Causes {
		all = append(all, c.Field+": "+c.Message)
	}
	return all
}

func TestCorpusMutants(t *testing.T) {
	for _, folder := range corpus.Folders(t) {
		for project, suites := range corpusSuites(t, folder) {
			r, err := Run(context.Background(), suites, nil, Config{RulesOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			tests, sample := 0, &Report{}
			for _, m := range r.Survivors {
				if m.Test != nil && m.CRD == suites[0].CRD.Name && len(sample.Survivors) < 3 {
					sample.Survivors = append(sample.Survivors, m)
				}
				if m.Test != nil {
					tests++
				}
			}
			t.Logf("%s: %d mutants, %d killed, %d survived (%d with a test that would kill them), %d not covered, %d equivalent, %d timed out, %d not viable, score %.3f", project,
				r.Total, r.Killed, r.Survived, tests, r.NotCovered, r.Equivalent, r.TimedOut, r.NotViable, r.Score)
			for _, m := range r.Mutants {
				if (m.Status == Killed) != (m.KilledBy != "") || m.Status == "" {
					t.Errorf("%s: %s by %q", m, m.Status, m.KilledBy)
				}
			}
			if r.Score < 0.3 || r.Score == 1 || 10*tests < 7*r.Survived || len(r.Failing) > 0 {
				t.Errorf("%s: score %.3f, %d of %d survivors with a test, failing %q: that cannot be", project, r.Score, tests, r.Survived, r.Failing)
			}
			if len(sample.Survivors) > 0 {
				holdTests(t, sample, suites[0].CRD, suites[0].Engine)
			}
		}
	}
}

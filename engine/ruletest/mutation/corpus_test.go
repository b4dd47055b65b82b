package mutation

import (
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/corpus"
)

// measured are the projects whose rules are mutated.
var measured = []string{"karpenter", "karpenter-provider-aws", "nginx-gateway-fabric", "postgres-operator"}

// corpusSuites are a project's cases, one suite a CRD: a case passes where the
// answer is the original's, in verdict and causes.
func corpusSuites(t testing.TB, folder, project string) (suites []Suite) {
	t.Helper()
	byFile := map[string]int{}
	for c := range corpus.Cases(t, folder) {
		if !strings.HasPrefix(c.CRD, "crds/"+project+"/") {
			continue
		}
		i, known := byFile[c.CRD]
		if !known {
			crd := corpus.ReadCRD(t, filepath.Join(folder, c.CRD))
			e, err := engine.Compile(crd, engine.Config{})
			if err != nil {
				t.Fatal(err)
			}
			i = len(suites)
			byFile[c.CRD] = i
			suites = append(suites, Suite{CRD: crd, Engine: e})
		}
		s := &suites[i]
		req := engine.Request{Object: c.Object, OldObject: c.OldObject, Subresource: c.Subresource}
		s.Cases = append(s.Cases, Case{Name: project + "/" + c.Name, Writes: []Write{{Request: req, Passes: asBefore(t, s.Engine, req)}}})
	}
	return suites
}

// asBefore passes what an engine answers now.
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

// places are the causes as tests tell them: where, and in what words.
func places(r *engine.Result) (all []string) {
	for _, c := range r.Causes {
		all = append(all, c.Field+": "+c.Message)
	}
	return all
}

// TestCorpusMutants measures four projects' tests.
func TestCorpusMutants(t *testing.T) {
	for _, folder := range corpus.Folders(t) {
		for _, project := range measured {
			suites := corpusSuites(t, folder, project)
			if len(suites) == 0 {
				continue
			}
			r, err := Run(context.Background(), suites, Config{RulesOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			tests := 0
			for _, m := range r.Survivors {
				if m.Test != nil {
					tests++
				}
			}
			t.Logf("%s: %d mutants, %d killed, %d survived (%d with a test that would kill them), %d not covered, %d equivalent, %d timed out, %d not viable, score %.3f, cut %d, failing %d", project,
				r.Total, r.Killed, r.Survived, tests, r.NotCovered, r.Equivalent, r.TimedOut, r.NotViable, r.Score, r.Cut, len(r.Failing))
		}
	}
}

package conformance

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/x/ruletest/mutation"
)

var mutated = []string{"karpenter", "karpenter-provider-aws", "nginx-gateway-fabric", "postgres-operator"}

type killed struct {
	mutant *mutation.Mutant
	by     *Case
}

func TestKilledOnServer(t *testing.T) {
	n, step := 10, 25 // one in 25 CRDs
	if level.Long() {
		n, step = 200, 1
	}
	var all []killed
	for i, g := range groups(readCorpora(t).Cases) {
		if i%step == 0 && slices.Contains(mutated, g.Cases[0].Project) {
			all = append(all, killedOf(t, g)...)
		}
	}
	if len(all) == 0 {
		t.Skip("no corpus folder has the projects")
	}
	s, replayed, untried := startServer(t), 0, 0
	for i := range n {
		k := all[i*len(all)/n]
		crd := k.mutant.Apply(k.by.CRD.Definition)
		e, err := engine.Compile(crd, engine.Config{})
		if err != nil {
			t.Errorf("%s: %v", k.mutant, err)
			continue
		}
		r, err := s.Serve(t.Context(), crd)
		if err != nil {
			untried++ // the cost of the mutated CRD exceeds the server's limit
			t.Logf("%s: %v", k.mutant, err)
			continue
		}
		got, err := r.try(t.Context(), k.by, "default")
		remove(t, r)
		if err != nil {
			t.Errorf("%s: %s: %v", k.mutant, k.by.ID, err)
			continue
		}
		replayed++
		want, err := decide(t.Context(), e, got.request)
		if err != nil || got.answer.Allowed != want.Allowed || !reflect.DeepEqual(sortedCauses(got.answer.Causes), sortedCauses(want.Causes)) {
			t.Errorf("%s: %s: server %+v, engine %+v (%v)", k.mutant, k.by.ID, got.answer, want, err)
		}
	}
	if t.Logf("%d killed mutants, %d replayed, %d that no server takes", len(all), replayed, untried); untried > n/4 {
		t.Errorf("%d of %d were not replayed", untried, n)
	}
}

func killedOf(t *testing.T, g *Group) (all []killed) {
	t.Helper()
	e, err := engine.Compile(g.CRD.Definition, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	suite := mutation.Suite{CRD: g.CRD.Definition, Engine: e}
	byID := map[string]*Case{}
	for _, c := range g.Cases {
		if c.Raw != nil || c.Ratcheting {
			continue
		}
		byID[c.ID] = c
		req := engine.Request{Object: c.Object, OldObject: c.OldObject, Subresource: c.Subresource, FieldValidation: c.FieldValidation}
		want, err := decide(t.Context(), e, req)
		if err != nil {
			t.Fatal(err)
		}
		suite.Cases = append(suite.Cases, mutation.Case{Name: c.ID, Writes: []mutation.Write{{Request: req, Passes: func(res *engine.Result, err error) bool {
			return err == nil && reflect.DeepEqual(resultAnswer(res, req.OldObject != nil).Causes, want.Causes) && res.Allowed == (len(want.Causes) == 0)
		}}}})
	}
	report, err := mutation.Run(context.Background(), []mutation.Suite{suite}, nil, mutation.Config{RulesOnly: true, Steps: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range report.Mutants {
		if m.Status == mutation.Killed {
			all = append(all, killed{m, byID[m.KilledBy]})
		}
	}
	return all
}

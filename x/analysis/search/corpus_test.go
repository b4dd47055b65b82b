package search

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/x/analysis/prove"
)

// How it works. Each distinct rule of the corpus is searched at most once. Limits are in steps, so results are
// the same on each machine. CELADON_LEVEL=long searches all rules for all outcomes and checks the
// floors also for the projects that are kept aside; otherwise a sample of the rules is searched for
// rejected and accepted writes.

// keptAside holds projects whose rules were not used to improve the search.
var keptAside = []string{
	"argo-workflows", "cert-manager", "cilium", "crossplane", "grafana-operator", "kuadrant-operator", "kubeflow-trainer",
	"mongodb-atlas-kubernetes", "postgres-operator", "tetragon",
}

// A tally counts results for rules. Rules with the same source count once.
type tally struct {
	name string
	sync.Mutex
	// rules is the number of searched rules. alone, proved, and accepted count those that are the
	// only cause of a rejection, those for which a proof shows that this is impossible (or that
	// they never run), and those that ran on an accepted object.
	rules, alone, proved, accepted int
	// quick counts the rules in alone that needed at most ten writes.
	quick        int
	errs, budget int
	sizes        []int // of the rejected objects, in bytes
	frames       []int // of their apiVersion, kind and metadata
	// slack is how far a sample may miss the floors, in percent.
	slack float64
}

const (
	// The floors, in percent of the rules.
	leastDecided  = 95
	leastAccepted = 98.5
	leastQuick    = 65
	medianSize    = 260
	leastErrs     = 60
)

func TestFindInCorpus(t *testing.T) {
	every, wants := 24, []Want{Rejected, Accepted}
	long := level.Long()
	if long {
		every, wants = 1, []Want{Rejected, Accepted, Errs, OverBudget}
	}
	built, aside := &tally{name: "built with"}, &tally{name: "kept aside"}
	if !long {
		built.slack = 4
	}
	var work []*questions
	seen := map[string]bool{}
	for _, file := range corpus.CRDFiles(t) {
		q := &questions{crd: corpus.ReadCRD(t, file), file: filepath.Base(file), wants: wants, sum: built}
		if slices.Contains(keptAside, filepath.Base(filepath.Dir(file))) {
			q.sum = aside
		}
		for _, v := range q.crd.Spec.Versions {
			_, s, err := structural.Of(v.Schema)
			if err != nil || !v.Served {
				continue
			}
			for _, r := range rulesOf(v.Name, s) {
				if seen[r.ref.Rule] {
					continue
				}
				if seen[r.ref.Rule] = true; len(seen)%every == 0 {
					q.rules = append(q.rules, r.ref)
				}
			}
		}
		if len(q.rules) > 0 {
			work = append(work, q)
		}
	}
	// Longest first, so that the cores finish at about the same time.
	slices.SortStableFunc(work, func(a, b *questions) int { return len(b.rules) - len(a.rules) })
	share(work, func(q *questions) {
		q.ask(t)
		t.Logf("%s: %d rules searched", q.file, len(q.rules))
	})
	built.hold(t)
	if !long {
		return
	}
	aside.hold(t)
	if n := built.errs + aside.errs; n < leastErrs {
		t.Errorf("%d rules fail on an admitted object (want %d)", n, leastErrs)
	}
}

func share[T any](work []T, do func(T)) {
	queue := make(chan T, len(work))
	for _, w := range work {
		queue <- w
	}
	close(queue)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for w := range queue {
				do(w)
			}
		}()
	}
	workers.Wait()
}

type questions struct {
	crd   *apiextensionsv1.CustomResourceDefinition
	file  string
	rules []engine.RuleRef
	wants []Want
	sum   *tally
}

func (q *questions) ask(t *testing.T) {
	e, err := engine.Compile(q.crd, engine.Config{})
	if e == nil {
		t.Errorf("%s: %v", q.file, err)
		return
	}
	var s *Search
	var p *prove.Prover
	for _, ref := range q.rules {
		if s == nil || s.version != ref.Version {
			if s, err = New(q.crd, e, ref.Version, Config{}); err != nil {
				t.Errorf("%s: %v", q.file, err)
				return
			}
			p = proverOf(q.crd, ref.Version)
		}
		for _, want := range q.wants {
			a, err := s.Find(t.Context(), ref, want)
			if err != nil {
				t.Errorf("%s: %s: %s: %v", q.file, ref.Path, ref.Rule, err)
				continue
			}
			if a.Witness != nil {
				holds(t, s, ref, want, a.Witness)
				isMinimal(t, s, ref, want, a.Witness)
			}
			q.sum.add(want, a, q.proof(t, p, ref, want, a))
		}
	}
}

func proverOf(crd *apiextensionsv1.CustomResourceDefinition, version string) *prove.Prover {
	for i := range crd.Spec.Versions {
		if of := &crd.Spec.Versions[i]; of.Name == version {
			if p, err := prove.New(of, prove.Config{}); err == nil {
				return p
			}
		}
	}
	return nil
}

func (q *questions) proof(t *testing.T, p *prove.Prover, ref engine.RuleRef, want Want, a *Answer) bool {
	outcome, ok := map[Want]prove.Outcome{Rejected: prove.Rejected, Errs: prove.Failed}[want]
	if !ok || p == nil {
		return false
	}
	proof, err := p.Never(ref, outcome)
	if err != nil || proof == nil {
		return false
	}
	if a.Status == Found && a.Witness.Alone {
		t.Errorf("%s: %s: %s: %s is found, and proved impossible by %s", q.file, ref.Path, ref.Rule, want, proof)
	}
	return true
}

func (sum *tally) add(want Want, a *Answer, proved bool) {
	sum.Lock()
	defer sum.Unlock()
	found := a.Status == Found && a.Witness.Alone
	switch {
	case want == Rejected:
		sum.rules++
		if !found {
			if proved {
				sum.proved++
			}
			return
		}
		sum.alone++
		if a.Searched <= 10 {
			sum.quick++
		}
		obj := a.Witness.Object
		data, _ := json.Marshal(obj)
		frame, _ := json.Marshal(map[string]any{"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": obj["metadata"]})
		sum.sizes, sum.frames = append(sum.sizes, len(data)), append(sum.frames, len(frame))
	case !found:
	case want == Accepted:
		sum.accepted++
	case want == Errs:
		sum.errs++
	case want == OverBudget:
		sum.budget++
	}
}

func (sum *tally) hold(t *testing.T) {
	if sum.rules == 0 || len(sum.sizes) == 0 {
		t.Logf("%s: no rules in the corpus", sum.name)
		return
	}
	slices.Sort(sum.sizes)
	slices.Sort(sum.frames)
	size, frame := sum.sizes[len(sum.sizes)/2], sum.frames[len(sum.frames)/2]
	percent := func(n int) float64 { return 100 * float64(n) / float64(sum.rules) }
	t.Logf("%s: %d rules: decided %.1f %% (%.1f %% refused alone, %d proved), accepted %.1f %%, in ten writes %.1f %%, %d err, %d over budget, median %d bytes (%d of apiVersion, kind, metadata)",
		sum.name, sum.rules, percent(sum.alone+sum.proved), percent(sum.alone), sum.proved, percent(sum.accepted), percent(sum.quick), sum.errs, sum.budget, size, frame)
	for _, floor := range []struct {
		what        string
		have, least float64
	}{
		{"decided", percent(sum.alone + sum.proved), leastDecided},
		{"accepted with the rule run", percent(sum.accepted), leastAccepted},
		{"refused alone in ten writes", percent(sum.quick), leastQuick},
	} {
		if least := floor.least - sum.slack; floor.have < least {
			t.Errorf("%s: %s: %.1f %% (want %.1f)", sum.name, floor.what, floor.have, least)
		}
	}
	if size > medianSize {
		t.Errorf("%s: median size: %d bytes (want %d)", sum.name, size, medianSize)
	}
}

func isMinimal(t *testing.T, s *Search, ref engine.RuleRef, want Want, found *Witness) {
	t.Helper()
	if want == OverBudget {
		return // OverBudget writes are slow, so shrinking uses few steps
	}
	h := s.newSolver(t.Context(), "", 1<<30)
	h.rule, h.want = s.byRef[ref], want
	w := &candidate{op: found.Operation, obj: found.Object, old: found.Old, split: s.split}
	last, err := h.oracle.decide(w)
	if err != nil {
		t.Fatal(err)
	}
	less := &shrinker{solver: h, w: w, last: last, alone: found.Alone, failed: map[string]bool{}}
	if changed, err := less.applyEverywhere("remove", less.remove); err != nil || changed {
		t.Errorf("%s: %s: %s: something can go: %v %v", ref.Path, ref.Rule, want, w.obj, err)
	}
	if changed, err := less.applyEverywhere("alike", less.alike); err != nil || changed {
		t.Errorf("%s: %s: %s: something need not differ from the old object: %v %v %v", ref.Path, ref.Rule, want, w.obj, w.old, err)
	}
	if w.old != nil {
		return // a value that was set to its old value may not be the simplest
	}
	if changed, err := less.applyEverywhere("simplify", less.simplify); err != nil || changed {
		t.Errorf("%s: %s: %s: something can be simpler: %v %v", ref.Path, ref.Rule, want, w.obj, err)
	}
}

func TestCorpusAnswersAreTheSameEachTime(t *testing.T) {
	files := corpus.CRDFiles(t)
	var work []string
	for i := 0; i < len(files); i += 1 + len(files)/5 {
		work = append(work, files[i])
	}
	share(work, func(file string) {
		crd := corpus.ReadCRD(t, file)
		first, second := answersOf(t, crd, Config{Steps: 100}, false), answersOf(t, crd, Config{Steps: 100}, true)
		for question, answer := range first {
			if second[question] != answer {
				t.Errorf("%s: %s: %s", filepath.Base(file), question, cmp.Diff(answer, second[question]))
			}
		}
	})
}

func answersOf(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, cfg Config, backwards bool) map[string]string {
	e, err := engine.Compile(crd, engine.Config{})
	if e == nil {
		t.Error(err)
		return nil
	}
	s, err := New(crd, e, "", cfg)
	if err != nil {
		t.Error(err)
		return nil
	}
	refs := s.Rules()
	refs = refs[:min(len(refs), 4)]
	if backwards {
		slices.Reverse(refs)
	}
	answers := map[string]string{}
	for _, ref := range refs {
		for _, want := range []Want{Rejected, Accepted, Errs} {
			a, err := s.Find(t.Context(), ref, want)
			if err != nil {
				t.Error(err)
				return nil
			}
			data, err := json.Marshal(a)
			if err != nil {
				t.Error(err)
			}
			answers[ref.Path+" "+ref.Rule+" "+string(want)] = string(data)
		}
	}
	return answers
}

package search

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/internal/structural"
	"github.com/celadon-cel/celadon/internal/corpus"
)

// tally counts what was found of the corpus's rules, each text once.
type tally struct {
	sync.Mutex
	rules, alone, refused, accepted, errs int
	// quick are rules refused alone after no more than a few writes.
	quick int
	sizes []int
}

// TestFindInCorpus looks for witnesses of real rules. In steps, and so the same
// on each machine, it holds how many are found: CELADON_SEARCH=long asks of every
// rule, otherwise of some.
func TestFindInCorpus(t *testing.T) {
	every, wants := 24, []Want{Refused, Accepted}
	if os.Getenv("CELADON_SEARCH") == "long" {
		every, wants = 1, append(wants, Errs)
	}
	questions := map[string][]question{}
	seen := map[string]bool{}
	files := corpus.CRDFiles(t)
	for _, file := range files {
		crd := corpus.ReadCRD(t, file)
		for _, v := range crd.Spec.Versions {
			_, s, err := structural.Of(v.Schema)
			if err != nil || !v.Served {
				continue
			}
			for _, r := range rulesOf(v.Name, s) {
				if seen[r.ref.Rule] {
					continue
				}
				if seen[r.ref.Rule] = true; len(seen)%every == 0 {
					questions[file] = append(questions[file], question{v.Name, r.ref})
				}
			}
		}
	}
	var sum tally
	queue := make(chan string, len(files))
	for _, file := range files {
		if len(questions[file]) > 0 {
			queue <- file
		}
	}
	close(queue)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for file := range queue {
				sum.ask(t, file, questions[file], wants)
			}
		}()
	}
	workers.Wait()
	sum.hold(t)
}

type question struct {
	version string
	ref     engine.RuleRef
}

func (sum *tally) ask(t *testing.T, file string, questions []question, wants []Want) {
	crd := corpus.ReadCRD(t, file)
	e, err := engine.Compile(crd, engine.Config{})
	if e == nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	var s *Search
	for _, q := range questions {
		if s == nil || s.version != q.version {
			if s, err = New(crd, e, q.version, Config{}); err != nil {
				t.Errorf("%s: %v", file, err)
				return
			}
		}
		for _, want := range wants {
			a, err := s.Find(t.Context(), q.ref, want)
			if err != nil {
				t.Errorf("%s: %s: %s: %v", filepath.Base(file), q.ref.Path, q.ref.Rule, err)
				continue
			}
			if a.Witness != nil {
				holds(t, s, q.ref, want, a.Witness)
			}
			sum.add(want, a)
		}
	}
}

func (sum *tally) add(want Want, a *Answer) {
	sum.Lock()
	defer sum.Unlock()
	found := a.Status == Found
	switch want {
	case Refused:
		sum.rules++
		if !found {
			return
		}
		sum.refused++
		if !a.Witness.Alone {
			return
		}
		sum.alone++
		if a.Searched <= 10 {
			sum.quick++
		}
		data, _ := json.Marshal(a.Witness.Object)
		sum.sizes = append(sum.sizes, len(data))
	case Accepted:
		if found {
			sum.accepted++
		}
	case Errs:
		if found {
			sum.errs++
		}
	}
}

// The least that is found, in percent of the rules. What is not found alone is
// mostly redundant: some other rule, or the schema, refuses the same objects.
const (
	leastAlone    = 91
	leastRefused  = 96
	leastAccepted = 97
	leastQuick    = 65
	medianSize    = 260
)

func (sum *tally) hold(t *testing.T) {
	if sum.rules == 0 {
		t.Skip("no rules in the corpus")
	}
	slices.Sort(sum.sizes)
	size := sum.sizes[len(sum.sizes)/2]
	percent := func(n int) float64 { return 100 * float64(n) / float64(sum.rules) }
	t.Logf("%d rules: refused alone %.1f %%, refused %.1f %%, accepted %.1f %%, in ten writes %.1f %%, %d err, median %d bytes",
		sum.rules, percent(sum.alone), percent(sum.refused), percent(sum.accepted), percent(sum.quick), sum.errs, size)
	for _, floor := range []struct {
		what        string
		have, least float64
	}{
		{"refused alone", percent(sum.alone), leastAlone},
		{"refused", percent(sum.refused), leastRefused},
		{"accepted with the rule run", percent(sum.accepted), leastAccepted},
		{"refused alone in ten writes", percent(sum.quick), leastQuick},
	} {
		if floor.have < floor.least {
			t.Errorf("%s: %.1f %% (want %.0f)", floor.what, floor.have, floor.least)
		}
	}
	if size > medianSize {
		t.Errorf("median size: %d bytes (want %d)", size, medianSize)
	}
}

package mutation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Run generates all mutants of the suites' CRDs and tries them. It returns ctx's error or an
// internal error.
func Run(ctx context.Context, suites []Suite, cfg Config) (*Report, error) {
	if cfg.Steps == 0 {
		cfg.Steps = DefaultSteps
	}
	if cfg.Workers <= 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	breeder := &mutantGenerator{known: map[key]*Mutant{}, versions: map[string][]*apiextensionsv1.CustomResourceDefinitionVersion{}}
	report := &Report{Survivors: []*Mutant{}}
	for i := range suites {
		s := &suites[i]
		if s.CRD == nil || s.Engine == nil {
			return nil, errors.New("mutation: want a CRD and its engine for each suite")
		}
		b, err := newBaseline(ctx, s)
		if err != nil {
			return nil, err
		}
		for n := range s.Cases {
			if b.failing[n] {
				report.Failing = append(report.Failing, s.Cases[n].Name)
			}
		}
		if err := breeder.suite(b, cfg.RulesOnly); err != nil {
			return nil, fmt.Errorf("mutants of %s: %w", s.CRD.Name, err)
		}
	}
	if err := tryAll(ctx, breeder.all, cfg); err != nil {
		return nil, err
	}
	report.Mutants, report.Cut = breeder.all, breeder.cut
	slices.SortStableFunc(report.Mutants, func(a, b *Mutant) int {
		return cmp.Or(cmp.Compare(a.CRD, b.CRD), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Index, b.Index))
	})
	report.count()
	return report, nil
}

// tryAll tries mutants concurrently. Their results are independent of each other.
func tryAll(ctx context.Context, all []*Mutant, cfg Config) error {
	var mu sync.Mutex
	var failed error
	next, done := 0, 0
	take := func() *Mutant {
		mu.Lock()
		defer mu.Unlock()
		if failed != nil || next == len(all) {
			return nil
		}
		next++
		return all[next-1]
	}
	finished := func(m *Mutant, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w", m, err)
		}
		if done++; cfg.Progress != nil {
			cfg.Progress(done, len(all))
		}
	}
	var workers sync.WaitGroup
	for range min(cfg.Workers, len(all)) {
		workers.Go(func() {
			h := newRunner(cfg)
			for m := take(); m != nil; m = take() {
				finished(m, h.tried(ctx, m))
			}
		})
	}
	workers.Wait()
	return failed
}

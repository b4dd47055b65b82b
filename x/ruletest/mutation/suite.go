package mutation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

// Suite holds the cases that are run on the same engine.
type Suite struct {
	// CRD is the definition from which Engine was compiled.
	CRD    *apiextensionsv1.CustomResourceDefinition
	Engine *engine.Engine
	Cases  []Case
}

// Case is a test.
type Case struct {
	Name string
	// Writes are in order. Each contains its old object.
	Writes []Write
}

// Write is a write of a case.
type Write struct {
	Request engine.Request
	// Passes reports whether a result is as expected. It is called concurrently.
	Passes func(*engine.Result, error) bool
}

// Config holds the options of Run.
type Config struct {
	// Steps limits the writes that are tried per survivor to find a test that kills it. 0 means
	// DefaultSteps; a negative value disables the search.
	Steps int
	// RulesOnly excludes mutants of schemas: removed bounds, required fields, and values of enums.
	RulesOnly bool
	// Workers is the number of mutants that are tried concurrently; 0 means GOMAXPROCS.
	Workers int
	// Progress, if not nil, is called after each mutant.
	Progress func(done, of int)
}

// DefaultSteps is the default of Config.Steps.
const DefaultSteps = 100

// Status is the result of trying a mutant.
type Status string

const (
	// Killed means that a case fails.
	Killed Status = "killed"
	// Survived means that no case fails.
	Survived Status = "survived"
	// NotCovered means that the rule or expression runs in no case, or that no case has a value at
	// the path of the bound.
	NotCovered Status = "notCovered"
	// Equivalent means that no write distinguishes the mutant from the original. This is proved.
	Equivalent Status = "equivalent"
	// TimedOut means that a case has no verdict, for example because the mutant exceeds the work
	// limit.
	TimedOut Status = "timedOut"
	// NotViable means that the changed rule, schema, or expression does not compile.
	NotViable Status = "notViable"
)

// Mutant is a change of a CRD or a policy.
type Mutant struct {
	// Policy is the name of the changed policy. CRD and Version are then "", and Path is the field,
	// such as "spec.validations[0].expression".
	Policy string `json:"policy,omitempty"`
	CRD    string `json:"crd"`
	// Version is the first of the versions with equal schemas.
	Version string `json:"version"`
	Path    string `json:"path"`
	// Index is the index of the rule; -1 for a change of the schema.
	Index int `json:"index"`
	// Rule is the original: a rule, an expression, or a part of a schema such as "maxItems: 3".
	// Changed is its replacement, or "" if it is removed.
	Rule    string `json:"rule"`
	Changed string `json:"mutant"`
	// Start and End are the replaced range of the rule or expression, in code points. Both are 0 if
	// the whole rule, its fieldPath, or the schema is changed.
	Start int `json:"start"`
	End   int `json:"end"`
	// Operator is the kind of change.
	Operator string `json:"operator"`
	Status   Status `json:"status"`
	// KilledBy is the name of the first case that fails.
	KilledBy string `json:"killedBy,omitempty"`
	// Reason explains the statuses Equivalent, TimedOut, and NotViable.
	Reason string `json:"reason,omitempty"`
	// Test is a write that only one of the original and the mutant accepts; nil if no such write was
	// found.
	Test *Test `json:"test,omitempty"`

	change change
}

// Test is a write that would kill a surviving mutant.
type Test struct {
	Operation search.Operation `json:"operation"`
	Object    map[string]any   `json:"object"`
	Old       map[string]any   `json:"old,omitempty"`
	// Allowed is the verdict of the original. The mutant's is the opposite.
	Allowed bool `json:"allowed"`
}

// Report holds the results of all mutants.
type Report struct {
	// Total is the number of mutants; the fields below count them by status.
	Total      int `json:"mutants"`
	Killed     int `json:"killed"`
	Survived   int `json:"survived"`
	NotCovered int `json:"notCovered"`
	Equivalent int `json:"equivalent"`
	TimedOut   int `json:"timedOut"`
	NotViable  int `json:"notViable"`
	// Score is killed / (killed + survived + notCovered), or 1 if the denominator is 0.
	Score float64 `json:"score"`
	// Mutants are sorted: the mutants of CRDs by CRD, version, path, and rule, the mutants of policies by policy.
	Mutants []*Mutant `json:"-"`
	// Survivors are the mutants with status Survived.
	Survivors []*Mutant `json:"survivors"`
	// Failing lists cases that fail on the original CRD. They are ignored.
	Failing []string `json:"failing,omitempty"`
	// Cut counts rules and expressions of policies for which mutants were omitted.
	Cut int `json:"cut,omitempty"`
}

func (r *Report) count() {
	counts := map[Status]*int{
		Killed: &r.Killed, Survived: &r.Survived, NotCovered: &r.NotCovered,
		Equivalent: &r.Equivalent, TimedOut: &r.TimedOut, NotViable: &r.NotViable,
	}
	for _, m := range r.Mutants {
		r.Total++
		*counts[m.Status]++
		if m.Status == Survived {
			r.Survivors = append(r.Survivors, m)
		}
	}
	r.Score = 1
	if of := r.Killed + r.Survived + r.NotCovered; of > 0 {
		r.Score = float64(r.Killed) / float64(of)
	}
}

// Run generates mutants of the suites' CRDs, and of the validations, matchConditions, and variables of policies, and
// tries them. It does not detect equivalent mutants of policies. It returns an error if ctx is done, if a suite has
// no CRD or engine, or on an internal error.
func Run(ctx context.Context, suites []Suite, policies []PolicySuite, cfg Config) (*Report, error) {
	if cfg.Steps == 0 {
		cfg.Steps = DefaultSteps
	}
	if cfg.Workers <= 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	g := &mutantGenerator{known: map[key]*Mutant{}, versions: map[string][]*apiextensionsv1.CustomResourceDefinitionVersion{}}
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
		if err := g.suite(b, cfg.RulesOnly); err != nil {
			return nil, fmt.Errorf("mutants of %s: %w", s.CRD.Name, err)
		}
	}
	for i := range policies {
		if err := g.policies(&policies[i]); err != nil {
			return nil, err
		}
	}
	if err := tryAll(ctx, g.all, cfg); err != nil {
		return nil, err
	}
	report.Mutants, report.Cut = g.all, g.cut
	slices.SortStableFunc(report.Mutants, func(a, b *Mutant) int {
		if a.Policy != "" || b.Policy != "" { // the expressions of a policy are in order
			return cmp.Compare(a.Policy, b.Policy)
		}
		return cmp.Or(cmp.Compare(a.CRD, b.CRD), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Index, b.Index))
	})
	report.count()
	return report, nil
}

func tryAll(ctx context.Context, all []*Mutant, cfg Config) error {
	work, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	var failed error
	var next atomic.Int64
	done := 0
	var workers sync.WaitGroup
	for range min(cfg.Workers, len(all)) {
		workers.Go(func() {
			h := &runner{cfg: cfg, rewriters: map[*baseline]*engine.Rewriter{}, analyzers: map[target]*analysis.Analyzer{}}
			for i := next.Add(1); i <= int64(len(all)) && work.Err() == nil; i = next.Add(1) {
				m := all[i-1]
				err := h.try(work, m)
				mu.Lock()
				if err != nil && failed == nil {
					failed = fmt.Errorf("%s: %w", m, err)
					stop()
				}
				if done++; cfg.Progress != nil {
					cfg.Progress(done, len(all))
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return cmp.Or(failed, ctx.Err())
}

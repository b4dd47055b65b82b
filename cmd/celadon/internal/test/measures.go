package test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/spf13/pflag"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/reports"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/converter"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/ruletest"
	"github.com/celadon-cel/celadon/x/ruletest/coverage"
	"github.com/celadon-cel/celadon/x/ruletest/mutation"
)

// Measures holds the flags for coverage and mutation testing.
type Measures struct {
	Cover, Mutate       bool
	CoverMin, MutateMin float64
}

func (m *Measures) flags(f *pflag.FlagSet) {
	f.BoolVar(&m.Cover, "cover", false, "report rules and conditions that the cases do not test")
	f.Float64Var(&m.CoverMin, "cover-min", 0, "fail if fewer than `N` percent of the rules ran and rejected an object")
	f.BoolVar(&m.Mutate, "mutate", false, "change rules and bounds one at a time, and report changes that no case detects")
	f.Float64Var(&m.MutateMin, "mutate-min", 0, "fail if the cases detect fewer than `N` percent of the changes")
}

func (m *Measures) check(f *pflag.FlagSet, o *Options) error {
	m.Cover = m.Cover || f.Changed("cover-min")
	m.Mutate = m.Mutate || f.Changed("mutate-min")
	switch {
	case !(m.CoverMin >= 0 && m.CoverMin <= 100):
		return fmt.Errorf("--cover-min %v: want 0 to 100 percent", m.CoverMin)
	case !(m.MutateMin >= 0 && m.MutateMin <= 100):
		return fmt.Errorf("--mutate-min %v: want 0 to 100 percent", m.MutateMin)
	case (m.Cover || m.Mutate) && o.Update:
		return errors.New("--update with --cover or --mutate: update first, then measure")
	}
	return nil
}

// measures collects coverage and mutation data of a run. A nil *measures collects nothing. It is safe
// for concurrent use.
type measures struct {
	o   *Measures
	rec *coverage.Recorder

	mu     sync.Mutex
	err    error
	suites map[*engine.Engine]*mutation.Suite
	// policies holds the cases with policies by set.
	policies map[*policy.Set]*mutation.PolicySuite
}

func newMeasures(o *Measures) *measures {
	if !o.Cover && !o.Mutate {
		return nil
	}
	return &measures{o: o, rec: coverage.New(), suites: map[*engine.Engine]*mutation.Suite{}, policies: map[*policy.Set]*mutation.PolicySuite{}}
}

// attach adds the hooks that collect data to cfg.
func (m *measures) attach(cfg *ruletest.Config) {
	if m == nil {
		return
	}
	if m.o.Cover {
		cfg.Watch, cfg.WatchPolicies = m.watch, m.watchPolicies
	}
	if m.o.Mutate {
		cfg.Writes, cfg.PolicyCases = m.writes, m.policyCase
	}
}

func (m *measures) watch(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine) func(engine.RuleRun) {
	w, err := m.rec.Watch(crd, e)
	if m.failed(err) {
		return nil
	}
	return w.Observe
}

func (m *measures) watchPolicies(set *policy.Set) ruletest.PolicyObserver {
	w, err := m.rec.WatchPolicies(set)
	if m.failed(err) {
		return nil
	}
	return w.Observe
}

// failed keeps the first error. It reports whether err is not nil.
func (m *measures) failed(err error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = cmp.Or(m.err, err)
	return err != nil
}

func (m *measures) writes(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, s *ruletest.Suite, c *ruletest.Case, writes []ruletest.Write) {
	one := mutation.Case{Name: caseName(s, c)}
	for _, w := range writes {
		one.Writes = append(one.Writes, mutation.Write(w))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.suites[e] == nil {
		m.suites[e] = &mutation.Suite{CRD: crd, Engine: e}
	}
	m.suites[e].Cases = append(m.suites[e].Cases, one)
}

func (m *measures) policyCase(s *ruletest.Suite, c *ruletest.Case, of *ruletest.PolicyCase) {
	one := mutation.PolicyCase{Name: caseName(s, c), Policies: of.Policies, Passes: of.Passes}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.policies[of.Set] == nil {
		m.policies[of.Set] = &mutation.PolicySuite{Set: of.Set}
	}
	m.policies[of.Set].Cases = append(m.policies[of.Set].Cases, one)
}

func caseName(s *ruletest.Suite, c *ruletest.Case) string {
	return fmt.Sprintf("%s:%d: %s/%s", s.File, c.Line, s.Name, c.Name)
}

// finish adds the results of coverage and mutation testing to r.
func (m *measures) finish(ctx context.Context, s command.Streams, r *Report) (err error) {
	if m == nil || r.Interrupted || r.Summary.Ran() == 0 {
		return nil
	}
	if m.err != nil {
		return &command.ExitError{Code: command.Bug, Err: m.err}
	}
	if m.o.Cover {
		r.Coverage = m.rec.Report()
	}
	if !m.o.Mutate {
		return nil
	}
	bar := progress.On(s.Stderr, "mutating", "mutants")
	defer bar.Done()
	r.Mutation, err = m.mutate(ctx, mutation.Config{Progress: func(int, int) { bar.Add(1) }})
	switch {
	case ctx.Err() != nil:
		r.Interrupted, r.Mutation = true, nil
		return nil
	case err != nil:
		return &command.ExitError{Code: command.Bug, Err: err}
	}
	return nil
}

// mutate tries the mutants of CRDs and of policies.
func (m *measures) mutate(ctx context.Context, cfg mutation.Config) (*mutation.Report, error) {
	report, err := mutation.Run(ctx, m.ordered(), cfg)
	if err != nil || len(m.policies) == 0 {
		return report, err
	}
	of, err := mutation.RunPolicies(ctx, m.orderedPolicies(), cfg)
	if err != nil {
		return nil, err
	}
	report.Add(of)
	return report, nil
}

// orderedPolicies returns the cases with policies, so that the order does not depend on which suite
// finished first.
func (m *measures) orderedPolicies() []mutation.PolicySuite {
	var all []mutation.PolicySuite
	for _, s := range m.policies {
		slices.SortStableFunc(s.Cases, func(a, b mutation.PolicyCase) int { return cmp.Compare(a.Name, b.Name) })
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b mutation.PolicySuite) int {
		return cmp.Or(cmp.Compare(a.Cases[0].Name, b.Cases[0].Name), cmp.Compare(a.Set.KubeVersion(), b.Set.KubeVersion()))
	})
	return all
}

// ordered returns the suites sorted, so that the order does not depend on which finished first.
func (m *measures) ordered() (all []mutation.Suite) {
	texts := map[*engine.Engine][]byte{}
	for e, s := range m.suites {
		slices.SortStableFunc(s.Cases, func(a, b mutation.Case) int { return cmp.Compare(a.Name, b.Name) })
		texts[e], _ = json.Marshal(s.CRD)
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b mutation.Suite) int {
		return cmp.Or(
			cmp.Compare(a.CRD.Name, b.CRD.Name), bytes.Compare(texts[a.Engine], texts[b.Engine]),
			cmp.Compare(a.Cases[0].Name, b.Cases[0].Name),
			cmp.Compare(a.Engine.Info().KubeVersion, b.Engine.Info().KubeVersion),
		)
	})
	return all
}

// gate returns an error if coverage or the mutation score is below its minimum.
func (m *measures) gate(r *Report) error {
	if m == nil {
		return nil
	}
	if c := r.Coverage; c != nil && c.Percent() < m.o.CoverMin {
		return &command.ExitError{Code: command.Findings, Err: fmt.Errorf("coverage is %.1f %%: --cover-min requires %v", c.Percent(), m.o.CoverMin)}
	}
	if c := r.Mutation; c != nil && 100*c.Score < m.o.MutateMin {
		return &command.ExitError{Code: command.Findings, Err: fmt.Errorf("the mutation score is %.1f %%: --mutate-min requires %v", 100*c.Score, m.o.MutateMin)}
	}
	return nil
}

// Outputs lists the values of --output.
var Outputs = []string{"text", "json", "junit", "github", "gitlab", "markdown"}

// Options holds the flags of celadon test.
type Options struct {
	CRDs          []string
	Run           string
	FeatureGates  []string
	Update, Watch bool
	FailFast      bool
	Exact         bool
	Verbose       bool
	Output        string
	Reports       reports.Files
	KubeVersion   string
	Measures      Measures
	Config        config.Flags
	Converter     converter.OrCommand

	run   *regexp.Regexp
	gates []string
}

// Flags adds the flags to f.
func (o *Options) Flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringArrayVar(&o.CRDs, "crd", nil, "read CRDs from `PATH`: a file or a folder (repeatable; default: the usual folders next to the suites)")
	f.StringVar(&o.Run, "run", "", "run only the cases whose \"suite/case\" matches `REGEXP`")
	f.StringVar(&o.KubeVersion, "kube-version", "", "Kubernetes `X.Y` to emulate in cases without kubeVersions (default: the newest supported)")
	f.BoolVar(&o.FailFast, "fail-fast", false, "stop at the first case that does not pass")
	f.BoolVar(&o.Exact, "exact-messages", false, "fail if an expected message differs from the server's only in the printed value")
	f.StringSliceVar(&o.FeatureGates, "feature-gates", nil, "run only suites that match the feature gates in this `LIST`, such as A,B,-C; gates not listed are off")
	f.BoolVar(&o.Update, "update", false, "write the actual results of failed cases into the suites as expectations")
	f.BoolVarP(&o.Watch, "watch", "w", false, "test again whenever a file changes")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "print every case")
	o.Reports.Flag(f, &o.Output, Outputs)
	o.Measures.flags(f)
	o.Converter.Add(f)
	o.Config.Arguments = "suites"
	o.Config.Add(f)
	config.FromTree.Set(f, "crd", "output", "verbose", "exact-messages", "cover", "cover-min")
	config.Stricter.Set(f, "kube-version")
}

// Check returns an error if the flags are invalid. f is the set that parsed them.
func (o *Options) Check(f *pflag.FlagSet, paths []string) error {
	if o.Run != "" {
		re, err := regexp.Compile(o.Run)
		if err != nil {
			return fmt.Errorf("--run %q: %w", o.Run, err)
		}
		o.run = re
	}
	if f.Changed("feature-gates") {
		o.gates = append([]string{}, o.FeatureGates...)
	}
	if _, err := types.ParseVersion(o.KubeVersion); err != nil {
		return fmt.Errorf("--kube-version: %w", err)
	}
	stdin := slices.Contains(slices.Concat(paths, o.CRDs), "-")
	switch {
	case len(paths) == 0:
		return errors.New("no suites given: want files or folders (see celadon test --help)")
	case !slices.Contains(Outputs, o.Output):
		return fmt.Errorf("--output %q: want %s", o.Output, phrase.Or(Outputs))
	case stdin && (o.Watch || o.Update):
		return errors.New("--watch and --update: standard input is not a file: want files or folders")
	case slices.Contains(o.CRDs, "-") && slices.Contains(paths, "-"):
		return errors.New("- is given more than once: standard input can be read only once")
	case o.Update && o.Watch:
		return errors.New("--update and --watch: want only one of them")
	}
	return o.Measures.check(f, o)
}

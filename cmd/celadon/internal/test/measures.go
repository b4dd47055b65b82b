package test

import (
	"cmp"
	"context"
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

type measures struct {
	*Options
	rec *coverage.Recorder
	// suites and policies hold the cases that passed.
	suites   []mutation.Suite
	policies []mutation.PolicySuite

	mu  sync.Mutex
	err error
}

func (m *measures) attach(cfg *ruletest.Config) {
	if m.Cover {
		cfg.Watch, cfg.WatchPolicies = m.watch, m.watchPolicies
	}
	cfg.Record = m.Mutate
}

func (m *measures) watch(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine) func(engine.RuleRun) {
	w, err := m.rec.Watch(crd, e)
	if m.failed(err) {
		return nil
	}
	return w.Observe
}

func (m *measures) watchPolicies(set *policy.Set) ruletest.PolicyObserver {
	observe, err := m.rec.WatchPolicies(set)
	m.failed(err)
	return observe
}

// failed keeps the first error. It reports whether err is not nil.
func (m *measures) failed(err error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = cmp.Or(m.err, err)
	return err != nil
}

func (m *measures) add(s *ruletest.SuiteReport) {
	for _, c := range s.Cases {
		name := fmt.Sprintf("%s:%d: %s/%s", s.File, c.Line, s.Name, c.Name)
		for _, p := range c.Replays {
			if len(p.Writes) > 0 {
				i := slices.IndexFunc(m.suites, func(of mutation.Suite) bool { return of.Engine == p.Engine })
				if i < 0 {
					i = len(m.suites)
					m.suites = append(m.suites, mutation.Suite{CRD: p.CRD, Engine: p.Engine})
				}
				m.suites[i].Cases = append(m.suites[i].Cases, mutation.Case{Name: name, Writes: p.Writes})
			}
			if p.Set != nil {
				i := slices.IndexFunc(m.policies, func(of mutation.PolicySuite) bool { return of.Set == p.Set })
				if i < 0 {
					i = len(m.policies)
					m.policies = append(m.policies, mutation.PolicySuite{Set: p.Set})
				}
				p.Policies.Name = name
				m.policies[i].Cases = append(m.policies[i].Cases, p.Policies)
			}
		}
	}
}

func (m *measures) finish(ctx context.Context, s command.Streams, r *Report) (err error) {
	if r.Interrupted || r.Summary.Ran() == 0 {
		return nil
	}
	if m.err != nil {
		return &command.ExitError{Code: command.Bug, Err: m.err}
	}
	if m.Cover {
		r.Coverage = m.rec.Report()
	}
	if !m.Mutate {
		return nil
	}
	bar := progress.On(s.Stderr, "mutating", "mutants")
	defer bar.Done()
	r.Mutation, err = mutation.Run(ctx, m.suites, m.policies, mutation.Config{Progress: func(int, int) { bar.Add(1) }})
	switch {
	case ctx.Err() != nil:
		r.Interrupted, r.Mutation = true, nil
		return nil
	case err != nil:
		return &command.ExitError{Code: command.Bug, Err: err}
	}
	return nil
}

func (m *measures) gate(r *Report) error {
	if c := r.Coverage; c != nil && c.Percent() < m.CoverMin {
		return &command.ExitError{Code: command.Findings, Err: fmt.Errorf("coverage is %.1f %%: --cover-min requires %v", c.Percent(), m.CoverMin)}
	}
	if c := r.Mutation; c != nil && 100*c.Score < m.MutateMin {
		return &command.ExitError{Code: command.Findings, Err: fmt.Errorf("the mutation score is %.1f %%: --mutate-min requires %v", 100*c.Score, m.MutateMin)}
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

	Cover, Mutate       bool
	CoverMin, MutateMin float64

	Config    config.Flags
	Converter converter.OrCommand

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
	f.BoolVar(&o.Cover, "cover", false, "report rules and conditions that the cases do not test")
	f.Float64Var(&o.CoverMin, "cover-min", 0, "fail if fewer than `N` percent of the rules ran and rejected an object")
	f.BoolVar(&o.Mutate, "mutate", false, "change rules and bounds one at a time, and report changes that no case detects")
	f.Float64Var(&o.MutateMin, "mutate-min", 0, "fail if the cases detect fewer than `N` percent of the changes")
	o.Converter.Add(f)
	o.Config.Arguments = "suites"
	o.Config.Add(f)
	config.FromTree.Set(f, "crd", "output", "verbose", "exact-messages", "cover", "cover-min")
	config.Stricter.Set(f, "kube-version")
}

// Check returns an error if the flags are invalid, and completes the options. f is the set that
// parsed them.
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
	o.Cover = o.Cover || f.Changed("cover-min")
	o.Mutate = o.Mutate || f.Changed("mutate-min")
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
	case !(o.CoverMin >= 0 && o.CoverMin <= 100):
		return fmt.Errorf("--cover-min %v: want 0 to 100 percent", o.CoverMin)
	case !(o.MutateMin >= 0 && o.MutateMin <= 100):
		return fmt.Errorf("--mutate-min %v: want 0 to 100 percent", o.MutateMin)
	case (o.Cover || o.Mutate) && o.Update:
		return errors.New("--update with --cover or --mutate: update first, then measure")
	}
	return nil
}

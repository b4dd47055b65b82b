package ruletest

import (
	"cmp"
	"context"
	"fmt"
	"regexp"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/trace"
)

// Config is how suites are run; with the zero value all of their cases are.
type Config struct {
	// Run selects cases by "suite/case"; nil is all.
	Run *regexp.Regexp
	// Exact: an expected text that differs in the printed value alone fails.
	Exact bool
	// FailFast ends a suite at the first case that does not pass.
	FailFast bool
	// Fill runs cases that expect nothing: they fail, and Suite.Update has something
	// to write.
	Fill bool
	// Converter stands for the webhook of CRDs that convert by one. nil is none.
	Converter engine.Converter
	// Watch is called once for each CRD version that is compiled; what it returns is
	// told of each run of a rule, from several goroutines. Nil is nothing.
	Watch func(*apiextensionsv1.CustomResourceDefinition, *engine.Engine) func(engine.RuleRun)
	// Writes is told what the cases of a suite wrote to a CRD version, in order. It
	// is called from several goroutines where Run is. Nil is nothing.
	Writes func(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, suite *Suite, c *Case, writes []Write)
}

// Write is one write of a case, and whether another answer to it would pass.
type Write struct {
	Request engine.Request
	Passes  func(*engine.Result, error) bool
}

// Runner runs suites. It compiles each CRD version once, and is safe for concurrent
// use.
type Runner struct {
	cfg     Config
	targets targets
}

// New makes a Runner.
func New(cfg Config) *Runner { return &Runner{cfg: cfg} }

// Selected is how many of a suite's cases Config.Run selects.
func (r *Runner) Selected(s *Suite) (n int) {
	for _, c := range s.Cases {
		if r.selects(s, c) {
			n++
		}
	}
	return n
}

func (r *Runner) selects(s *Suite, c *Case) bool {
	return r.cfg.Run == nil || r.cfg.Run.MatchString(s.Name+"/"+c.Name)
}

// Run runs a suite against CRDs of one name, of which each case has to hold for
// each. With none, unresolved says why.
func (r *Runner) Run(ctx context.Context, s *Suite, crds []*CRD, unresolved error) *SuiteReport {
	report := newSuiteReport(s)
	var on []aim
	if unresolved == nil {
		on, unresolved = r.resolve(s, crds, "", "")
	}
	if unresolved != nil && len(s.Cases) > 0 {
		report.Errors = append(report.Errors, Problem{cmp.Or(s.CRDPlace, s.Place), unresolved.Error()})
	}
	if len(on) > 0 {
		report.CRD = on[0].crd.Name
		if len(on[0].crd.Spec.Versions) == 1 {
			report.Version = on[0].crd.Spec.Versions[0].Name
		}
		for _, t := range on {
			report.CRDFiles = append(report.CRDFiles, t.file)
		}
	}
	alone := s.alone()
	changed := map[string]bool{}
	var explained trace.Run
	for _, c := range s.Cases {
		if !r.selects(s, c) {
			continue
		}
		var one *CaseReport
		switch {
		case c.Problem != nil && !(c.open && r.cfg.Fill && len(on) > 0):
			one = c.unrun(Error, c.Problem.Message)
			one.Place = c.Problem.Place
		case c.Skip != "":
			one = c.unrun(Skipped, c.Skip)
		case alone && !c.Only:
			one = c.unrun(Skipped, "another case is marked only")
		case len(on) == 0:
			continue // of which the suite's error tells
		default:
			if patches := c.body.patches(); len(patches) > 0 {
				changed[string(patches)] = true
			}
			one = r.run(ctx, s, c, crds, on, len(changed), &explained)
		}
		report.Cases = append(report.Cases, one)
		if ctx.Err() != nil || r.cfg.FailFast && (one.Outcome == Failed || one.Outcome == Error) {
			break
		}
	}
	return report
}

// alone is true where a case is marked only.
func (s *Suite) alone() bool {
	for _, c := range s.Cases {
		if c.Only {
			return true
		}
	}
	return false
}

// resolve are the targets of a suite, each once; an error is of one that cannot be
// used as it is.
func (r *Runner) resolve(s *Suite, crds []*CRD, kubeVersion, patches string) (all []aim, err error) {
	seen := map[*target]bool{}
	for _, crd := range crds {
		t, wrong := r.targets.get(ask{crd, s.Version, kubeVersion, patches, s.whole})
		if wrong == nil && seen[t] {
			continue
		}
		if wrong == nil {
			if wrong = t.compile(&r.cfg); t.engine != nil {
				seen[t] = true
				all = append(all, aim{t, crd.File})
			}
		}
		if wrong != nil {
			err = cmp.Or(err, fmt.Errorf("%s: %w", crd.File, wrong))
		}
	}
	return all, err
}

// aim is a target, and the file of the suite's CRD by which it came to it.
type aim struct {
	*target
	file string
}

// version is how it is told from others of the case.
func (a aim) version() string {
	if a.kubeVersion != "" {
		return fmt.Sprintf("Kubernetes %s", a.kubeVersion)
	}
	return a.file
}

// pair is what a case runs on.
type pair struct {
	on     aim
	before *target
}

// pairs are those of a case.
func (r *Runner) pairs(s *Suite, c *Case, crds []*CRD, on []aim) (all []pair, err error) {
	for _, version := range c.body.kubeVersions() {
		at, err := r.resolve(s, crds, version, "")
		if err != nil {
			return nil, err
		}
		for _, t := range at {
			all = append(all, pair{t, t.target})
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	patches := string(c.body.patches())
	if patches == "" {
		for _, t := range on {
			all = append(all, pair{t, t.target})
		}
		return all, nil
	}
	seen := map[[2]*target]bool{}
	for _, crd := range crds {
		today, err := r.resolve(s, []*CRD{crd}, "", "")
		if err != nil {
			return nil, err
		}
		before, err := r.resolve(s, []*CRD{crd}, "", patches)
		if err != nil {
			return nil, err
		}
		p := pair{today[0], before[0].target}
		if key := [2]*target{p.on.target, p.before}; !seen[key] {
			seen[key] = true
			all = append(all, p)
		}
	}
	return all, nil
}

// run runs a case on all that it has to hold for, up to the first that it does not.
func (r *Runner) run(ctx context.Context, s *Suite, c *Case, crds []*CRD, on []aim, changed int, explained *trace.Run) *CaseReport {
	if changed > maxChanged {
		return c.unrun(Error, tooMuch("different initialCRDPatches", changed, maxChanged))
	}
	pairs, err := r.pairs(s, c, crds, on)
	if err != nil {
		return c.unrun(Error, err.Error())
	}
	var first *CaseReport
	for _, p := range pairs {
		t := &trial{ctx: ctx, cfg: &r.cfg, on: p.on.target, before: p.before}
		if c.body.run(t); c.open && !t.staged && t.result != nil {
			t.wrong = []Mismatch{{c.Place, "an expectation", "none"}}
		}
		one := c.report(ctx, t, explained)
		if one.Outcome != Passed {
			if len(pairs) > 1 {
				one.Against = p.on.version()
			}
			return one
		}
		if len(t.recorded) > 0 {
			r.cfg.Writes(p.on.crd, p.on.engine, s, c, t.recorded)
		}
		if first == nil {
			first = one
		} else {
			for _, remark := range one.Remarks {
				first.remark(remark)
			}
		}
	}
	return first
}

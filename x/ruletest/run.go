package ruletest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/trace"
)

// Config holds the options of a Runner. With the zero value all cases run.
type Config struct {
	// Run selects cases by "suite/case"; nil selects all.
	Run *regexp.Regexp
	// KubeVersion is the Kubernetes version for cases without kubeVersions; "" is the newest.
	KubeVersion string
	// Exact fails cases whose expected messages differ from the server's in printed values.
	Exact bool
	// FailFast stops a suite at the first case that does not pass.
	FailFast bool
	// Fill runs cases without expectations. They fail, so that Suite.Update can add the
	// expectations.
	Fill bool
	// Server validates the writes of suites of built-in kinds. Without it, only their structure is known, and only suites
	// with policies can test them.
	Server policyrequest.Server
	// Now is the time of writes in policies, such as object.metadata.creationTimestamp.
	Now time.Time
	// Converter replaces the conversion webhook of a CRD. It can be nil.
	Converter engine.Converter
	// Watch is called once for each compiled CRD version, and can be nil. The function that it
	// returns is called for each evaluation of a rule, concurrently.
	Watch func(*apiextensionsv1.CustomResourceDefinition, *engine.Engine) func(engine.RuleRun)
	// Writes is called with the writes of each passed case, in order. It is called concurrently if
	// Run is. It can be nil.
	Writes func(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, suite *Suite, c *Case, writes []Write)
	// Policies returns the policies of a suite that has PolicyPaths, and their errors. Without
	// policies, the cases of the suite are not run. It is called concurrently if Run is.
	Policies func(*Suite) (*Policies, []error)
	// WatchPolicies is called once for each compiled set of policies, and can be nil. The function
	// that it returns is called with the result of each request, concurrently. Its set has the params
	// of the case.
	WatchPolicies func(*policy.Set) PolicyObserver
	// PolicyCases is called with each passed case for which policies were evaluated, in order. It is
	// called concurrently if Run is. It can be nil.
	PolicyCases func(suite *Suite, c *Case, of *PolicyCase)
}

// PolicyCase is a passed case for which policies were evaluated.
type PolicyCase struct {
	// Set has the policies, without the params of the case.
	Set *policy.Set
	// Policies maps the names of the policies that were evaluated to whether their validations were
	// evaluated. matchConditions can exclude them.
	Policies map[string]bool
	// Passes reports whether the case passes with another set. problem is the reason why it has no
	// verdict, or "". The error is the context's or an internal error.
	Passes func(ctx context.Context, set *policy.Set) (passes bool, problem string, err error)
}

// PolicyObserver observes the results of policies. An error is an internal error.
type PolicyObserver func(ctx context.Context, set *policy.Set, req policy.Request, res *policy.Result) error

// Write is a write of a case. Passes reports whether the case would pass with another result.
type Write struct {
	Request engine.Request
	Passes  func(*engine.Result, error) bool
}

// Runner runs suites. It compiles each CRD version once. It is safe for concurrent use.
type Runner struct {
	cfg     Config
	targets targets
}

// New returns a Runner.
func New(cfg Config) *Runner { return &Runner{cfg: cfg} }

// Selected returns the number of cases that Config.Run selects.
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

// Run runs a suite against all CRDs with the same name; each case must pass with each CRD. If crds
// is empty, unresolved is the reason. It is nil if the suite tests built-in kinds.
func (r *Runner) Run(ctx context.Context, s *Suite, crds []*CRD, unresolved error) *SuiteReport {
	report := newSuiteReport(s)
	var on []aim
	policies, ok := r.policies(s, report)
	if unresolved == nil && ok {
		on, unresolved = r.resolve(s, crds, r.cfg.KubeVersion, "")
	}
	if unresolved != nil && len(s.Cases) > 0 {
		report.Errors = append(report.Errors, Problem{cmp.Or(s.CRDPosition, s.Position), unresolved.Error()})
	}
	if len(on) > 0 && on[0].crd != nil {
		report.CRD = on[0].crd.Name
		if len(on[0].crd.Spec.Versions) == 1 {
			report.Version = on[0].crd.Spec.Versions[0].Name
		}
		for _, t := range on {
			report.CRDFiles = append(report.CRDFiles, t.file)
		}
	}
	alone := slices.ContainsFunc(s.Cases, func(c *Case) bool { return c.Only })
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
			one.Position = c.Problem.Position
		case c.Skip != "":
			one = c.unrun(Skipped, c.Skip)
		case alone && !c.Only:
			one = c.unrun(Skipped, "another case is marked only")
		case len(on) == 0:
			continue // reported as an error of the suite
		default:
			if patches := c.body.patches(); len(patches) > 0 {
				changed[string(patches)] = true
			}
			one = r.run(ctx, c, inputs{s, crds, policies}, on, len(changed), &explained)
		}
		report.Cases = append(report.Cases, one)
		if ctx.Err() != nil || r.cfg.FailFast && (one.Outcome == Failed || one.Outcome == Error) {
			break
		}
	}
	return report
}

// inputs are a suite with the CRDs and policies that it tests.
type inputs struct {
	*Suite
	crds     []*CRD
	policies *Policies
}

// policies returns the policies of a suite, or nil if it has none. It adds their errors to the report,
// and reports whether the cases can run.
func (r *Runner) policies(s *Suite, report *SuiteReport) (*Policies, bool) {
	if len(s.PolicyPaths) == 0 {
		return nil, true
	}
	if r.cfg.Policies == nil {
		report.Errors = append(report.Errors, Problem{s.PolicyPosition, "policies: they are not supported here"})
		return nil, false
	}
	policies, errs := r.cfg.Policies(s)
	for _, err := range errs {
		report.Errors = append(report.Errors, Problem{s.PolicyPosition, err.Error()})
	}
	return policies, policies != nil
}

// resolve returns the distinct targets of a suite. It returns an error if any CRD cannot be used.
func (r *Runner) resolve(s *Suite, crds []*CRD, kubeVersion, patches string) (all []aim, err error) {
	if len(crds) == 0 && s.TestsBuiltins() && (r.cfg.Server != nil || len(s.PolicyPaths) > 0) {
		if s.Version != "" {
			return nil, errors.New("version: built-in kinds have their version in apiVersion: remove version, or set crd")
		}
		return []aim{{target: r.targets.builtin(kubeVersion, r.cfg.Server)}}, nil
	}
	seen := map[*target]bool{}
	for _, crd := range crds {
		t, wrong := r.targets.get(targetKey{crd, s.Version, kubeVersion, patches, s.whole})
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

// aim is a target with the file of its CRD.
type aim struct {
	*target
	file string
}

// version returns the Kubernetes version or file that distinguishes the target from others of the
// case.
func (a aim) version() string {
	if a.kubeVersion != "" {
		return fmt.Sprintf("Kubernetes %s", a.kubeVersion)
	}
	return a.file
}

// pair holds the target of a case and the target under which the old object is stored.
type pair struct {
	on     aim
	before *target
}

// pairs returns the targets on which a case must pass.
func (r *Runner) pairs(c *Case, in inputs, on []aim) (all []pair, err error) {
	s, crds := in.Suite, in.crds
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
		today, err := r.resolve(s, []*CRD{crd}, r.cfg.KubeVersion, "")
		if err != nil {
			return nil, err
		}
		before, err := r.resolve(s, []*CRD{crd}, r.cfg.KubeVersion, patches)
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

// run runs a case on all its targets until one does not pass.
func (r *Runner) run(ctx context.Context, c *Case, in inputs, on []aim, changed int, explained *trace.Run) *CaseReport {
	if changed > maxChanged {
		return c.unrun(Error, tooMany("different initialCRDPatches", changed, maxChanged))
	}
	pairs, err := r.pairs(c, in, on)
	if err != nil {
		return c.unrun(Error, err.Error())
	}
	var first *CaseReport
	for _, p := range pairs {
		t := &trial{ctx: ctx, cfg: &r.cfg, on: p.on.target, before: p.before, policies: in.policies}
		if in.policies != nil {
			if t.set, t.observePolicies, err = in.policies.compiled(p.on.kubeVersion, &r.cfg); err != nil {
				return c.unrun(Error, err.Error())
			}
		}
		if c.body.run(t); c.open && !t.staged && t.result != nil {
			t.wrong = []Mismatch{{c.Position, "an expectation", "none"}}
		}
		one := c.report(ctx, t, explained)
		if one.Outcome != Passed {
			if len(pairs) > 1 {
				one.Against = p.on.version()
			}
			return one
		}
		if len(t.recorded) > 0 {
			r.cfg.Writes(p.on.crd, p.on.engine, in.Suite, c, t.recorded)
		}
		if r.cfg.PolicyCases != nil && t.withSet != nil {
			r.cfg.PolicyCases(in.Suite, c, &PolicyCase{Set: t.set, Policies: t.evaluated(), Passes: t.withSet})
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

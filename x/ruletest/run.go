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
	"github.com/celadon-cel/celadon/x/ruletest/mutation"
	"github.com/celadon-cel/celadon/x/trace"
)

// Config holds the options of a Runner. The zero value selects all cases.
type Config struct {
	// Run selects cases by "suite/case"; nil selects all.
	Run *regexp.Regexp
	// KubeVersion is the Kubernetes version for cases without kubeVersions; "" is the newest.
	KubeVersion string
	// Exact fails cases whose expected messages differ from the server's only in printed values.
	Exact bool
	// FailFast stops a suite at the first case that fails or has no verdict.
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
	// Record sets CaseReport.Replays.
	Record bool
	// Policies returns the policies of a suite that has PolicyPaths, and their errors. Without
	// policies, the cases of the suite are not run. It is called concurrently if Run is.
	Policies func(*Suite) (*Policies, []error)
	// WatchPolicies is called once for each compiled set of policies, and can be nil. The function
	// that it returns is called with the result of each request, concurrently. Its set has the params
	// of the case.
	WatchPolicies func(*policy.Set) PolicyObserver
}

// PolicyObserver observes the results of policies. An error is an internal error.
type PolicyObserver func(ctx context.Context, set *policy.Set, req policy.Request, res *policy.Result) error

// Runner runs suites. It compiles each CRD version once. It is safe for concurrent use.
type Runner struct {
	cfg     Config
	targets targets
}

// New returns a Runner.
func New(cfg Config) *Runner { return &Runner{cfg: cfg} }

// Selects reports whether Config.Run selects any case.
func (r *Runner) Selects(s *Suite) bool {
	return slices.ContainsFunc(s.Cases, func(c *Case) bool { return r.selects(s, c) })
}

func (r *Runner) selects(s *Suite, c *Case) bool {
	return r.cfg.Run == nil || r.cfg.Run.MatchString(s.Name+"/"+c.Name)
}

// Run runs a suite against all CRDs with the same name; each case must pass with each CRD. If crds
// is empty, unresolved is the reason. It is nil if the suite tests built-in kinds.
func (r *Runner) Run(ctx context.Context, s *Suite, crds []*CRD, unresolved error) *SuiteReport {
	report := &SuiteReport{
		File: s.File, Line: s.Line, Name: s.Name, CRD: s.CRDName, Version: s.Version,
		Errors: append([]Problem{}, s.Problems...), Cases: []*CaseReport{},
	}
	run := &suiteRun{Runner: r, Suite: s, crds: crds, changed: map[string]bool{}}
	policies, ok := r.policies(s, report)
	if run.policies = policies; unresolved == nil && ok {
		run.on, unresolved = run.resolve(r.cfg.KubeVersion, "")
	}
	if unresolved != nil && len(s.Cases) > 0 {
		report.Errors = append(report.Errors, Problem{cmp.Or(s.CRDPosition, s.Position), unresolved.Error()})
	}
	if len(run.on) > 0 && run.on[0].crd != nil {
		crd := run.on[0].crd
		if report.CRD = crd.Name; len(crd.Spec.Versions) == 1 {
			report.Version = crd.Spec.Versions[0].Name
		}
		for _, a := range run.on {
			report.CRDFiles = append(report.CRDFiles, a.file)
		}
	}
	alone := slices.ContainsFunc(s.Cases, func(c *Case) bool { return c.Only })
	for _, c := range s.Cases {
		if !r.selects(s, c) {
			continue
		}
		var one *CaseReport
		switch {
		case c.Problem != nil && !(c.open && r.cfg.Fill && len(run.on) > 0):
			one = c.unrun(Error, c.Problem.Message)
			one.Position = c.Problem.Position
		case c.Skip != "":
			one = c.unrun(Skipped, c.Skip)
		case alone && !c.Only:
			one = c.unrun(Skipped, "another case is marked only")
		case len(run.on) == 0:
			continue // reported as an error of the suite
		default:
			one = run.run(ctx, c)
		}
		report.Cases = append(report.Cases, one)
		if ctx.Err() != nil || r.cfg.FailFast && (one.Outcome == Failed || one.Outcome == Error) {
			break
		}
	}
	return report
}

type suiteRun struct {
	*Runner
	*Suite
	crds      []*CRD
	policies  *Policies
	on        []aim // for cases without kubeVersions and patches
	changed   map[string]bool
	explained trace.Run
}

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

// An aim is a target of a case with the file of its CRD. before is the target under which the old object is
// stored: the same, or with the patches of the case.
type aim struct {
	*target
	before *target
	file   string
}

func (a aim) version() string {
	if a.kubeVersion != "" {
		return fmt.Sprintf("Kubernetes %s", a.kubeVersion)
	}
	return a.file
}

func (r *suiteRun) resolve(kubeVersion, patches string) (all []aim, err error) {
	if len(r.crds) == 0 && r.TestsBuiltins() && (r.cfg.Server != nil || len(r.PolicyPaths) > 0) {
		if r.Version != "" {
			return nil, errors.New("version: built-in kinds have their version in apiVersion: remove version, or set crd")
		}
		t, err := r.targets.get(targetKey{kubeVersion: kubeVersion}, &r.cfg)
		return []aim{{t, t, ""}}, err
	}
	seen := map[[2]*target]bool{}
	for _, crd := range r.crds {
		on, wrong := r.compiled(targetKey{crd, r.Version, kubeVersion, "", r.whole})
		before := on
		if patches != "" && wrong == nil {
			before, wrong = r.compiled(targetKey{crd, r.Version, kubeVersion, patches, r.whole})
		}
		if wrong != nil {
			err = cmp.Or(err, fmt.Errorf("%s: %w", crd.File, wrong))
		}
		if pair := [2]*target{on, before}; on != nil && before != nil && !seen[pair] {
			seen[pair] = true
			all = append(all, aim{on, before, crd.File})
		}
	}
	return all, err
}

// compiled returns a target. It also returns a target if there is an error because some rules do not compile.
func (r *suiteRun) compiled(key targetKey) (*target, error) {
	t, err := r.targets.get(key, &r.cfg)
	if err == nil {
		err = t.compile(&r.cfg)
	}
	if t == nil || t.engine == nil {
		return nil, err
	}
	return t, err
}

func (r *suiteRun) aims(c *Case) (all []aim, err error) {
	if len(c.versions) == 0 && c.patches == "" {
		return r.on, nil
	}
	versions := c.versions
	if len(versions) == 0 {
		versions = []string{r.cfg.KubeVersion}
	}
	for _, version := range versions {
		at, err := r.resolve(version, c.patches)
		if err != nil {
			return nil, err
		}
		all = append(all, at...)
	}
	return all, nil
}

func (r *suiteRun) run(ctx context.Context, c *Case) *CaseReport {
	if c.patches != "" {
		r.changed[c.patches] = true
	}
	if n := len(r.changed); n > maxChanged {
		return c.unrun(Error, tooMany("different initialCRDPatches", n, maxChanged))
	}
	aims, err := r.aims(c)
	if err != nil {
		return c.unrun(Error, err.Error())
	}
	var first *CaseReport
	for _, on := range aims {
		t := &trial{ctx: ctx, cfg: &r.cfg, on: on.target, before: on.before, policies: r.policies}
		if r.policies != nil {
			set, err := r.policies.compiled(on.kubeVersion, &r.cfg)
			if err != nil {
				return c.unrun(Error, err.Error())
			}
			t.set, t.observePolicies = set.Set, set.observer
		}
		if c.body.run(t); c.open && !t.staged && t.result != nil {
			t.wrong = []Mismatch{{c.Position, "an expectation", "none"}}
		}
		one := c.report(ctx, t, &r.explained)
		if one.Outcome != Passed {
			if len(aims) > 1 {
				one.Against = on.version()
			}
			return one
		}
		if first == nil {
			first = one
		}
		for _, remark := range one.Remarks {
			if !slices.Contains(first.Remarks, remark) {
				first.Remarks = append(first.Remarks, remark)
			}
		}
		if r.cfg.Record {
			p := Replay{CRD: on.crd, Engine: on.engine, Writes: t.recorded}
			if t.withSet != nil {
				p.Set, p.Policies = t.set, mutation.PolicyCase{Policies: t.evaluated(), Passes: t.withSet}
			}
			first.Replays = append(first.Replays, p)
		}
	}
	return first
}

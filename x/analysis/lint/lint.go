package lint

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/prove"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// Config selects the lints and the Kubernetes version. The same configuration and the same CRD always
// produce identical output.
type Config struct {
	// KubeVersion has the same meaning as in vet.Config.
	KubeVersion string
	// Without lists the names of lints to disable.
	Without []string

	work *work.Meter // of a unit
}

// maxSteps limits the writes that may be tried for most questions. More steps find hardly any other
// lints, because a rule that can fail usually fails on one of the first objects.
const maxSteps = 300

// The names of lints; docs/lints.md has a section for each.
const (
	FailsToEvaluate = "fails-to-evaluate"
	NeverRejects    = "never-refuses"
	AcceptsNothing  = "accepts-nothing"
)

// Names returns the names of this package's own lints, for Config.Without.
func Names() []string { return []string{FailsToEvaluate, NeverRejects, AcceptsNothing} }

// A Lint is a problem in a CRD, found by vet or by Find, with a witness or a proof if one is known.
type Lint struct {
	vet.Lint
	// Witness is a write that shows the problem, or nil.
	Witness *search.Witness
	// MadeUp lists the paths of the witness whose values are passwords.
	MadeUp []string
	// Proof shows that the rule rejects nothing or that the path accepts nothing, or is nil.
	Proof *prove.Proof
	// Rewrites are replacements for the rule. A replacement with Keeps is first.
	Rewrites []Rewrite
}

// Find returns all lints of a CRD: the lints of vet's report, except lints that a witness or proof
// supersedes, and its own. It returns an error if ctx is done, if the work budget is used up
// (*LimitError), or on an internal error. With an error, it also returns the lints found so far.
func Find(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, report *vet.Report, cfg Config) (all []Lint, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &engine.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()}
		}
	}()
	all = Of(report)
	e, _ := engine.Compile(crd, engine.Config{KubeVersion: cfg.KubeVersion})
	if e == nil {
		return all, nil // the report contains the reason
	}
	for _, u := range units(crd, report) {
		cfg.work = work.NewRun(len(u.rules), crdcopy.Nodes(crd))
		f := &finder{ctx: ctx, cfg: &cfg, report: report, unit: u, closed: map[string]bool{}, settled: map[string]bool{}}
		failed := f.find(crd, e)
		if failed == nil {
			failed = f.suggest(all)
		}
		if failed != nil {
			return append(all, f.lints...), cmp.Or(ctx.Err(), failed)
		}
		all = slices.DeleteFunc(all, func(l Lint) bool { return l.Name == optionalRead && f.settled[l.Field] })
		all = append(all, f.lints...)
		if cfg.work.Empty() {
			err = cmp.Or(err, error(&LimitError{Version: u.version, Reason: cfg.work.Reason()}))
		}
	}
	return all, err
}

// A LimitError reports that the search for lints of a version is incomplete because the work budget is used up.
type LimitError struct{ Version, Reason string }

func (e *LimitError) Error() string {
	return "version " + e.Version + ": some lints were skipped: " + e.Reason
}

// Of converts the lints of a vet report.
func Of(report *vet.Report) []Lint {
	all := make([]Lint, len(report.Lints))
	for i, l := range report.Lints {
		all[i].Lint = l
	}
	return all
}

// A unit is a distinct schema of a CRD. It belongs to one version or to all versions.
type unit struct {
	// version is a version that has the schema. name is that version, or "" if several versions share the schema.
	version, name string
	rules         []vet.Rule
}

func units(crd *apiextensionsv1.CustomResourceDefinition, report *vet.Report) (all []unit) {
	for i := range report.Versions {
		v := &report.Versions[i]
		at := slices.IndexFunc(crd.Spec.Versions, func(of apiextensionsv1.CustomResourceDefinitionVersion) bool { return of.Name == v.Name })
		if len(v.Rules) == 0 || at < 0 || !crd.Spec.Versions[at].Served {
			continue
		}
		u := unit{version: v.Name, name: v.Name, rules: v.Rules}
		if len(crd.Spec.Versions) > 1 && !strings.HasPrefix(v.Rules[0].Field, "spec.versions[") {
			u.name = ""
		}
		if !slices.ContainsFunc(all, func(other unit) bool { return other.rules[0].Field == u.rules[0].Field }) {
			all = append(all, u)
		}
	}
	return all
}

type finder struct {
	*form
	ctx    context.Context
	cfg    *Config
	report *vet.Report
	unit   unit
	// closed maps each path that accepts no value to whether that looks unintentional.
	closed map[string]bool
	// settled holds, by field in the CRD, the rules for which it is known whether they can fail to evaluate.
	settled map[string]bool
	lints   []Lint
	refs    map[engine.RuleRef]engine.RuleRef // the analyzer's rules, by path and index
}

func (f *finder) find(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine) (err error) {
	if f.form, err = f.newForm(crd, e, maxSteps); err != nil {
		return err
	}
	f.acceptsNothing()
	redundant := f.redundant()
	for i := range f.unit.rules {
		r := &f.unit.rules[i]
		if f.cfg.work.Empty() {
			break
		}
		if r.Broken || f.isClosed(r.Path) && !f.closed[r.Path] {
			continue
		}
		f.neverRejects(r, redundant[f.ref(r)])
		if err := f.failsToEvaluate(r); err != nil {
			return err
		}
	}
	return nil
}

// A form is the original CRD or a modified copy, for example with a replaced rule. analyzer analyzes the unit's
// version of it.
type form struct {
	crd      *apiextensionsv1.CustomResourceDefinition
	engine   *engine.Engine
	analyzer *analysis.Analyzer
}

func (f *finder) newForm(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, steps int) (*form, error) {
	a, err := analysis.New(crd, e, f.unit.version, analysis.Config{Steps: steps})
	if err != nil {
		return nil, err
	}
	a.Charge(f.cfg.work)
	return &form{crd, e, a}, nil
}

// compiled returns nil if the CRD does not compile or the budget is used up.
func (f *finder) compiled(crd *apiextensionsv1.CustomResourceDefinition, steps int) (*form, error) {
	if f.cfg.work.Spend(crdcopy.CompileWork(crd)); f.cfg.work.Empty() {
		return nil, nil
	}
	e, err := engine.Compile(crd, engine.Config{KubeVersion: f.cfg.KubeVersion})
	if e == nil || err != nil && f.report.Accepted {
		return nil, nil
	}
	return f.newForm(crd, e, steps)
}

func (f *finder) off(name string) bool { return slices.Contains(f.cfg.Without, name) }

func (f *finder) ref(r *vet.Rule) engine.RuleRef {
	if f.refs == nil {
		f.refs = map[engine.RuleRef]engine.RuleRef{}
		for _, ref := range f.analyzer.Rules() {
			f.refs[engine.RuleRef{Path: ref.Path, Index: ref.Index}] = ref
		}
	}
	if ref, ok := f.refs[engine.RuleRef{Path: r.Path, Index: r.Index}]; ok {
		return ref
	}
	return engine.RuleRef{Version: f.unit.version, Path: r.Path, Index: r.Index, Rule: r.Rule}
}

func (f *finder) lint(name string, r *vet.Rule, message string) Lint {
	return Lint{Lint: vet.Lint{Name: name, Version: f.unit.name, Path: r.Path, Index: r.Index, Rule: r.Rule, Field: r.Field, Message: message}}
}

func (f *finder) reportedByVet(name string, r *vet.Rule) bool {
	return slices.ContainsFunc(f.report.Lints, func(l vet.Lint) bool { return l.Name == name && l.Field == r.Field })
}

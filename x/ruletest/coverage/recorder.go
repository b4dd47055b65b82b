package coverage

import (
	"errors"
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/access"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
)

// Recorder collects the coverage of any number of CRDs and policies. It is safe for concurrent use.
type Recorder struct {
	replays sync.Mutex // held while expressions of policies are evaluated again

	mu      sync.Mutex
	schemas []versionSchema
	rules   map[key]*rule
	order   []*rule
}

// key identifies a rule. Variants of a CRD, for example with feature gates, share rules. Versions
// with equal schemas are merged at the end (report.go).
type key struct{ policy, crd, version, path, rule string }

func (i *Item) key() key { return key{i.Policy, i.CRD, i.Version, i.Path, i.Rule} }

// New returns an empty recorder.
func New() *Recorder { return &Recorder{rules: map[key]*rule{}} }

// Watch registers the rules of a CRD's served versions and returns a Watch for the runs of e. The
// engine must be compiled from crd, or from a copy that serves other versions.
func (r *Recorder) Watch(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine) (*Watch, error) {
	if crd == nil || e == nil {
		return nil, errors.New("coverage: want a CRD and its engine")
	}
	env, err := access.Env(e.Info().Config)
	if err != nil {
		return nil, err
	}
	scope, err := env.Scope()
	if err != nil {
		return nil, fmt.Errorf("coverage of %s: %w", crd.Name, err)
	}
	w := &Watch{recorder: r, crd: crd.Name, engine: e, scope: scope, planner: eval.NewPlanner(scope.Env()), rules: map[*engine.RuleRef]*engineRule{}}
	r.mu.Lock()
	for _, v := range crd.Spec.Versions {
		r.schemas = append(r.schemas, versionSchema{crd.Name, v.Name, v.Schema})
	}
	r.mu.Unlock()
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if !v.Served {
			continue // its rules never run
		}
		for _, ref := range e.Rules(v.Name) {
			w.ruleFor(ref)
		}
	}
	return w, nil
}

func (r *Recorder) rule(item Item) *rule {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.rules[item.key()]
	if known == nil {
		known = &rule{item: item}
		r.rules[item.key()] = known
		r.order = append(r.order, known)
		return known
	}
	known.mu.Lock()
	known.item.Index = min(known.item.Index, item.Index)
	known.mu.Unlock()
	return known
}

// Watch records the runs of an engine's rules. It is safe for concurrent use.
type Watch struct {
	recorder *Recorder
	crd      string
	engine   *engine.Engine

	mu      sync.Mutex
	scope   *celenv.Scope
	planner *eval.Planner
	rules   map[*engine.RuleRef]*engineRule
}

// Observe records a run. Set it as engine.Request.Observe.
func (w *Watch) Observe(run engine.RuleRun) { w.ruleFor(run.Rule).ran(&run) }

func (w *Watch) ruleFor(ref *engine.RuleRef) *engineRule {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.rules[ref]
	if p == nil {
		item := Item{CRD: w.crd, Version: ref.Version, Path: ref.Path, Index: ref.Index, Rule: ref.Rule}
		p = &engineRule{rule: w.recorder.rule(item), ref: ref}
		w.rules[ref] = p
		p.mu.Lock()
		defer p.mu.Unlock()
		if err := p.plan(w); err != nil {
			p.item.Unmeasured = err.Error()
		}
	}
	return p
}

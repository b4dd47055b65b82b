package main

import (
	"context"
	"runtime"
	"slices"
	"time"

	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/celadon-cel/celadon/conformance"
	"github.com/celadon-cel/celadon/engine"
)

// measure holds both sides of one CRD.
type measure struct {
	turns    int
	engine   *engine.Engine
	versions map[string]*version
}

type version struct {
	theirs *upstream
	ours   *engine.Rules
}

func newMeasure(crd *conformance.CRD, turns int) (*measure, error) {
	m := &measure{turns: turns, versions: map[string]*version{}}
	var err error
	if m.engine, err = engine.Compile(crd.Definition, engine.Config{}); m.engine == nil {
		return nil, err
	}
	for i := range crd.Definition.Spec.Versions {
		v := &crd.Definition.Spec.Versions[i]
		u, err := newUpstream(crd.Definition, v)
		if err != nil {
			return nil, err
		}
		rules, err := engine.CompileRules(u.schema, engine.Config{})
		if rules == nil {
			return nil, err
		}
		m.versions[v.Name] = &version{u, rules}
	}
	return m, nil
}

// row is one measured kind of work.
type row struct {
	crd, work string
	ratios    []float64
	// allocations of one of ours, at the median
	allocs float64
}

func (m *measure) rows(crd string, cases []*conformance.Case) []row {
	byWork := map[string]*row{}
	add := func(work string, theirs, ours func()) {
		r := byWork[work]
		if r == nil {
			r = &row{crd: crd, work: work}
			byWork[work] = r
		}
		r.ratios = append(r.ratios, m.ratio(theirs, ours))
		r.allocs = max(r.allocs, allocs(ours))
	}
	for _, c := range cases {
		m.object(c, add)
	}
	add("compile", m.compileTheirs, m.compileOurs)
	var out []row
	for _, work := range []string{"rules, create", "rules, update", "write, create", "write, update", "compile"} {
		if r := byWork[work]; r != nil {
			out = append(out, *r)
		}
	}
	return out
}

// object measures the rules alone and the whole write of one case.
func (m *measure) object(c *conformance.Case, add func(string, func(), func())) {
	v := m.versions[c.Version]
	if v == nil || c.Subresource != "" || c.Raw != nil {
		return
	}
	obj, err := m.engine.Prepare(c.Object)
	if err != nil {
		return
	}
	var old map[string]any
	op := "create"
	if c.OldObject != nil {
		if old, err = m.engine.Prepare(c.OldObject); err != nil {
			return
		}
		op = "update"
	}
	if v.theirs.rules != nil && v.theirs.valid(obj) {
		add("rules, "+op, func() { v.theirs.run(obj, old) }, func() { runOurs(v.ours, obj, old) })
	}
	request := engine.Request{Object: c.Object, OldObject: c.OldObject}
	add("write, "+op, func() { v.theirs.write(c.Object, c.OldObject) }, func() { _, _ = m.engine.Validate(context.Background(), request) })
}

func runOurs(r *engine.Rules, obj, old map[string]any) {
	var was any
	if old != nil {
		was = old
	}
	r.Validate(context.Background(), nil, obj, was, celconfig.RuntimeCELCostBudget)
}

// run is upstream's rule validator over one object.
func (u *upstream) run(obj, old map[string]any) field.ErrorList {
	var was any
	var opts []upstreamcel.Option
	if old != nil {
		was = old
		opts = append(opts, upstreamcel.WithRatcheting(common.NewCorrelatedObject(obj, old, &model.Structural{Structural: u.schema})))
	}
	errs, _ := u.rules.Validate(context.Background(), nil, u.schema, obj, was, celconfig.RuntimeCELCostBudget, opts...)
	return errs
}

func (m *measure) compileTheirs() {
	for _, v := range m.versions {
		upstreamcel.NewValidator(v.theirs.schema, true, celconfig.PerCallLimit)
	}
}

func (m *measure) compileOurs() {
	for _, v := range m.versions {
		_, _ = engine.CompileRules(v.theirs.schema, engine.Config{})
	}
}

// ratio is theirs over ours: the median of the turns.
func (m *measure) ratio(theirs, ours func()) float64 {
	ratios := make([]float64, m.turns)
	for i := range ratios {
		ratios[i] = perCall(theirs) / perCall(ours)
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// turnTime is how long a turn takes at least.
const turnTime = 2 * time.Millisecond

func perCall(f func()) float64 {
	f()
	for n := 1; ; n *= 4 {
		start := time.Now()
		for range n {
			f()
		}
		if took := time.Since(start); took >= turnTime {
			return float64(took) / float64(n)
		}
	}
}

func allocs(f func()) float64 {
	const n = 10
	f()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		f()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / n
}

package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/celadon-cel/celadon/conformance"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
)

// measure holds both implementations of a CRD.
type measure struct {
	filter string // selects works by name
	turns  int
	// collector is the garbage collector's time per byte, in nanoseconds.
	collector float64
	engine    *engine.Engine
	versions  map[string]*version
}

type version struct {
	theirs   *upstream
	ours     *engine.Rules
	recorder *recorder
	recorded *recordedRules
}

func newMeasure(crd *conformance.CRD, filter string, turns int) (*measure, error) {
	m := &measure{filter: filter, turns: turns, versions: map[string]*version{}}
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
		r := &recorder{}
		recorded := r.record(u.schema, types.FromSchema(u.schema, types.ResourceRoot))
		m.versions[v.Name] = &version{u, rules, r, recorded}
	}
	return m, nil
}

// work is an operation that both sides can repeat any number of times.
type work struct {
	name, outcome string
	object        string // case ID
	theirs, ours  func()
	// theirCopies and ourCopies are the parts of the times that only make the work repeatable: copies of
	// objects that it modifies. They can be nil.
	theirCopies, ourCopies func()
	// library holds the calls of library functions within the work.
	library []func()
}

// sample holds the measurements of a work.
type sample struct {
	object string
	ratio  float64
	// library is the share of their time that is spent in libraries. bound is the same for our
	// time; only the remainder can still be reduced.
	library, bound         float64
	theirAllocs, ourAllocs float64
}

// kind groups comparable samples.
type kind struct {
	crd, work, outcome string
	// libraries is set if library functions take a significant share of the time.
	libraries bool
}

// fewLibraries is the share of their time up to which libraries are insignificant.
const fewLibraries = 0.005

type row struct {
	kind
	samples []sample
}

func (m *measure) rows(crd string, all []work) []row {
	for _, v := range m.versions {
		v.recorded = nil // frees memory that the collector would have to visit
	}
	m.collector = collectorTime()
	byKind := map[kind]*row{}
	add := func(w work) {
		if !strings.Contains(w.name, m.filter) {
			return
		}
		s := m.sample(w)
		k := kind{crd, w.name, w.outcome, s.library >= fewLibraries}
		if byKind[k] == nil {
			byKind[k] = &row{kind: k}
		}
		byKind[k].samples = append(byKind[k].samples, s)
	}
	for _, w := range all {
		add(w)
	}
	var out []row
	for _, r := range byKind {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b row) int { return compareKinds(a.kind, b.kind) })
	return out
}

var works = []string{"rules, create", "rules, update", "write, create", "write, update"}

func compareKinds(a, b kind) int {
	return cmp.Or(
		cmp.Compare(slices.Index(works, a.work), slices.Index(works, b.work)),
		cmp.Compare(a.outcome, b.outcome),
		cmp.Compare(len(a.library()), len(b.library())),
	)
}

func (m *measure) allWorks(cases []*conformance.Case) []work {
	var out []work
	for _, c := range cases {
		out = append(out, m.works(c)...)
	}
	return out
}

// works returns the works of a case: evaluating its rules, and the whole write.
func (m *measure) works(c *conformance.Case) []work {
	v := m.versions[c.Version]
	if v == nil || c.Subresource != "" || c.Raw != nil {
		return nil
	}
	request := engine.Request{Object: c.Object, OldObject: c.OldObject}
	seen, err := m.engine.Prepare(request)
	if err != nil {
		return nil
	}
	obj, old, op := seen.Self, seen.Old, "create"
	if old != nil {
		op = "update"
	}
	res, err := m.engine.Validate(context.Background(), request)
	if err != nil {
		return nil
	}
	write := work{
		name: "write, " + op, outcome: outcome(res.Allowed), object: c.ID,
		theirs:      func() { v.theirs.write(c.Object, c.OldObject) },
		theirCopies: func() { copyBoth(c.Object, c.OldObject) },
		ours:        func() { _, _ = m.engine.Validate(context.Background(), request) },
		library:     patternCalls(v.theirs.schema, obj, nil),
	}
	if v.theirs.rules == nil || !v.theirs.valid(obj) {
		return []work{write}
	}
	calls := v.libraryCalls(obj, old)
	write.library = append(write.library, calls...)
	return []work{{
		name: "rules, " + op, outcome: outcome(len(v.theirs.run(obj, old)) == 0), object: c.ID,
		theirs:  func() { v.theirs.run(obj, old) },
		ours:    func() { runOurs(v.ours, obj, old) },
		library: calls,
	}, write}
}

func outcome(accepted bool) string {
	if accepted {
		return "accepted"
	}
	return "refused"
}

func runOurs(r *engine.Rules, obj, old map[string]any) {
	var was any
	if old != nil {
		was = old
	}
	r.Validate(context.Background(), nil, obj, was, celconfig.RuntimeCELCostBudget)
}

// run evaluates an object's rules with upstream's validator.
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

// sample measures a work in turns. Each figure is the median over the turns.
func (m *measure) sample(w work) sample {
	var out sample
	withoutCollector(func() {
		theirBytes, theirAllocs := allocatedWithout(w.theirs, w.theirCopies)
		ourBytes, ourAllocs := allocatedWithout(w.ours, w.ourCopies)
		var ratios, libraries, bounds []float64
		for range m.turns {
			theirs := perCallWithout(w.theirs, w.theirCopies) + theirBytes*m.collector
			ours := perCallWithout(w.ours, w.ourCopies) + ourBytes*m.collector
			library := 0.0
			if len(w.library) > 0 {
				library = perCall(func() { callAll(w.library) })
			}
			ratios = append(ratios, theirs/ours)
			libraries = append(libraries, library/theirs)
			bounds = append(bounds, library/ours)
		}
		out = sample{
			object: w.object, ratio: median(ratios), library: median(libraries), bound: median(bounds),
			theirAllocs: theirAllocs, ourAllocs: ourAllocs,
		}
	})
	return out
}

// perCallWithout returns the time of work without that of copies, which may be nil.
func perCallWithout(work, copies func()) float64 {
	if copies == nil {
		return perCall(work)
	}
	return perCall(work) - perCall(copies)
}

// allocatedWithout returns the allocations of work without those of copies, which may be nil.
func allocatedWithout(work, copies func()) (bytes, allocs float64) {
	bytes, allocs = allocated(work)
	if copies != nil {
		less, fewer := allocated(copies)
		bytes, allocs = bytes-less, allocs-fewer
	}
	return bytes, allocs
}

func callAll(calls []func()) {
	for _, call := range calls {
		call()
	}
}

func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return s[len(s)/2]
}

package main

import (
	"context"
	"runtime"
	"testing"
	"time"

	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/celadon-cel/celadon/conformance"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/cputime"
)

// Both sides can repeat a work any number of times.
type work struct {
	row, object  string
	theirs, ours func()
	// copies is the part of theirs that only makes it repeatable, or nil.
	copies func()
}

func BenchmarkRules(b *testing.B) {
	for _, s := range subjects(b) {
		for _, w := range works(b, s) {
			bench(b, w.row, w.object, ours, loop(w.ours, nil, 1))
			bench(b, w.row, w.object, "upstream", loop(w.theirs, w.copies, 1))
		}
	}
}

type version struct {
	theirs *upstream
	ours   *engine.Rules
}

func works(b *testing.B, s *subject) (all []work) {
	b.Helper()
	e, err := engine.Compile(s.crd.Definition, engine.Config{})
	if e == nil {
		b.Fatal(err)
	}
	versions := map[string]*version{}
	for i := range s.crd.Definition.Spec.Versions {
		v := &s.crd.Definition.Spec.Versions[i]
		u, err := newUpstream(s.crd.Definition, v)
		if err != nil {
			b.Fatal(err)
		}
		rules, err := engine.CompileRules(u.schema, engine.Config{})
		if rules == nil {
			b.Fatal(err)
		}
		versions[v.Name] = &version{u, rules}
	}
	for _, c := range s.cases {
		if v := versions[c.Version]; v != nil && c.Subresource == "" && c.Raw == nil {
			all = append(all, v.works(e, c)...)
		}
	}
	return all
}

func (v *version) works(e *engine.Engine, c *conformance.Case) []work {
	request := engine.Request{Object: c.Object, OldObject: c.OldObject}
	seen, err := e.Prepare(request)
	if err != nil {
		return nil
	}
	obj, old, op := seen.Self, seen.Old, "create"
	if old != nil {
		op = "update"
	}
	res, err := e.Validate(context.Background(), request)
	if err != nil {
		return nil
	}
	write := work{
		row: "write, " + op + outcome(res.Allowed), object: c.ID,
		theirs: func() { v.theirs.write(c.Object, c.OldObject) },
		copies: func() { copyBoth(c.Object, c.OldObject) },
		ours:   func() { _, _ = e.Validate(context.Background(), request) },
	}
	if v.theirs.rules == nil || !v.theirs.valid(obj) {
		return []work{write}
	}
	var was any
	if old != nil {
		was = old
	}
	return []work{{
		row: "rules, " + op + outcome(len(v.theirs.run(obj, old)) == 0), object: c.ID,
		theirs: func() { v.theirs.run(obj, old) },
		ours: func() {
			v.ours.Validate(context.Background(), nil, obj, was, celconfig.RuntimeCELCostBudget)
		},
	}, write}
}

func outcome(accepted bool) string {
	if accepted {
		return ", accepted"
	}
	return ", rejected"
}

func (u *upstream) run(obj, old map[string]any) field.ErrorList {
	var was any
	var opts []upstreamcel.Option
	if old != nil {
		was = old
		correlated := common.NewCorrelatedObject(obj, old, &model.Structural{Structural: u.schema})
		opts = append(opts, upstreamcel.WithRatcheting(correlated))
	}
	errs, _ := u.rules.Validate(context.Background(), nil, u.schema, obj, was, celconfig.RuntimeCELCostBudget, opts...)
	return errs
}

// BenchmarkCores measures how much more two goroutines on two cores do on the same engine than one. The ratio
// would be lower than that of the loops, the machine's own, if the goroutines wrote to the same cache lines or
// waited for each other.
func BenchmarkCores(b *testing.B) {
	for _, s := range subjects(b) {
		var rules, writes []func()
		for _, w := range works(b, s) {
			if w.copies != nil {
				writes = append(writes, w.ours)
			} else {
				rules = append(rules, w.ours)
			}
		}
		for _, part := range []struct {
			row  string
			work []func()
		}{
			{"rules", rules}, {"write", writes},
			{"a loop without memory", []func(){spin}}, {"a loop that only allocates", []func(){allocate}},
		} {
			if len(part.work) > 0 {
				bench(b, part.row, s.name, ours, func(b *testing.B) { throughput(b, 2, part.work) })
				bench(b, part.row, s.name, "one core", func(b *testing.B) { throughput(b, 1, part.work) })
			}
		}
	}
}

// throughput reports the time of one pass over the work.
func throughput(b *testing.B, cores int, work []func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	start, used := time.Now(), cputime.Process()
	b.SetParallelism(1)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			for _, f := range work {
				f()
			}
		}
	})
	// On a busy machine, processor time divided by the number of cores is less than the elapsed time.
	per := min(float64(time.Since(start)), float64(cputime.Process()-used)/float64(cores))
	b.ReportMetric(per/float64(b.N), "ns/op")
}

func spin() {
	x := uint64(1)
	for range 10_000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	if x == 0 {
		panic("xorshift never gives 0")
	}
}

func allocate() {
	keep := make([]map[string]any, 8)
	for i := range 800 {
		keep[i%len(keep)] = map[string]any{"name": keep}
	}
}

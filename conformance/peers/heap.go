package main

import (
	"fmt"
	"runtime"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/engine"
)

// printHeap measures the memory that compiled CRDs retain, in addition to their schemas and the
// environments that all CRDs share.
func printHeap(out report, subjects []*subject) error {
	fmt.Fprintln(out.detail, "heap kept per CRD, for all versions, without the structural schemas and the base environment: Validators against Rules; Engine with its schemas")
	var ratios []float64
	for _, s := range subjects {
		schemas, err := s.schemas()
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		theirs := kept(func() any {
			return each(schemas, func(s *schema.Structural) any { return upstreamcel.NewValidator(s, true, celconfig.PerCallLimit) })
		})
		ours := kept(func() any {
			return each(schemas, func(s *schema.Structural) any {
				r, _ := engine.CompileRules(s, engine.Config{})
				return r
			})
		})
		whole := kept(func() any {
			e, _ := engine.Compile(s.crd.Definition, engine.Config{})
			return e
		})
		ratios = append(ratios, theirs/ours)
		fmt.Fprintf(out.detail, "%-40.40s validators %7.2f MiB  rules %6.2f MiB, %5.1fx less  engine %6.2f MiB\n", s.name, theirs/mib, ours/mib, theirs/ours, whole/mib)
	}
	fmt.Fprintf(out.kept, "%-30s %s\n", "memory of compiled rules", spreadOf(ratios))
	return nil
}

const mib = 1 << 20

// schemas returns the structural schemas of all versions.
func (s *subject) schemas() ([]*schema.Structural, error) {
	var all []*schema.Structural
	for i := range s.crd.Definition.Spec.Versions {
		u, err := newUpstream(s.crd.Definition, &s.crd.Definition.Spec.Versions[i])
		if err != nil {
			return nil, err
		}
		all = append(all, u.schema)
	}
	return all, nil
}

func each(schemas []*schema.Structural, compile func(*schema.Structural) any) any {
	var all []any
	for _, s := range schemas {
		all = append(all, compile(s))
	}
	return all
}

// kept returns the number of bytes that a result of f retains.
func kept(f func() any) float64 {
	const n = 4
	all := make([]any, n)
	f() // the first call also allocates shared data
	before := heap()
	for i := range all {
		all[i] = f()
	}
	after := heap()
	runtime.KeepAlive(all)
	return (float64(after) - float64(before)) / n
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

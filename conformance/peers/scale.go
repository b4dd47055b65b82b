package main

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/celadon-cel/celadon/conformance"
	"github.com/celadon-cel/celadon/engine"
)

// scaling is the throughput of two cores over that of one.
type scaling struct {
	engine float64
	// machine is the same for a loop that touches no memory: what two cores
	// give at all while other work runs.
	machine float64
}

// scaling writes objects through one engine from one goroutine, then from two.
func (m *measure) scaling(cases []*conformance.Case) scaling {
	var requests []engine.Request
	for _, c := range cases {
		if c.Raw == nil {
			requests = append(requests, engine.Request{Object: c.Object, OldObject: c.OldObject, Subresource: c.Subresource})
		}
	}
	if len(requests) == 0 || m.filter != "" {
		return scaling{}
	}
	pass := func() {
		for _, r := range requests {
			_, _ = m.engine.Validate(context.Background(), r)
		}
	}
	var engines, machines []float64
	for range m.turns {
		engines = append(engines, twoOverOne(pass))
		machines = append(machines, twoOverOne(spin))
	}
	slices.Sort(engines)
	slices.Sort(machines)
	return scaling{engine: engines[len(engines)/2], machine: machines[len(machines)/2]}
}

// scaleTime is how long one side of a turn runs.
const scaleTime = 100 * time.Millisecond

func twoOverOne(pass func()) float64 {
	return throughput(2, pass) / throughput(1, pass)
}

func throughput(cores int, pass func()) float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	passes := make([]float64, cores)
	start := time.Now()
	var wg sync.WaitGroup
	for i := range passes {
		wg.Go(func() {
			n := 0
			for ; time.Since(start) < scaleTime; n++ {
				pass()
			}
			passes[i] = float64(n)
		})
	}
	wg.Wait()
	took := time.Since(start).Seconds()
	sum := 0.0
	for _, n := range passes {
		sum += n
	}
	return sum / took
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

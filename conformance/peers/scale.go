package main

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/celadon-cel/celadon/conformance"
	"github.com/celadon-cel/celadon/engine"
)

// scaleTime is how long one side of a turn runs.
const scaleTime = 100 * time.Millisecond

// scaling is the work that two goroutines do on one engine with two cores, over
// what one does with one, for the same processor's time on each. Where they
// wrote to one cache line, or waited for each other in a loop, it would be less
// than the machine's own: that of a loop that touches no memory, which is not 2
// where cores share their parts.
type scaling struct{ engine, machine float64 }

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
	decide := func() {
		for _, r := range requests {
			_, _ = m.engine.Validate(context.Background(), r)
		}
	}
	var engines, machines []float64
	withoutCollector(func() {
		for range m.turns {
			engines = append(engines, 2*throughput(2, decide)/throughput(1, decide))
			machines = append(machines, 2*throughput(2, spin)/throughput(1, spin))
		}
	})
	return scaling{median(engines), median(machines)}
}

// throughput is how often a nanosecond of the processor does the work.
func throughput(cores int, work func()) float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	passes := make([]int, cores)
	start, began := time.Now(), processorTime()
	var wg sync.WaitGroup
	for i := range passes {
		wg.Go(func() {
			n := 0
			for ; n == 0 || time.Since(start) < scaleTime; n++ {
				work()
			}
			passes[i] = n
		})
	}
	wg.Wait()
	sum := 0
	for _, n := range passes {
		sum += n
	}
	return float64(sum) / float64(processorTime()-began)
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

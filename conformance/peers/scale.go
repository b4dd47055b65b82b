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
// than 2. It is 0 when nothing was measured.
func (m *measure) scaling(cases []*conformance.Case) float64 {
	var requests []engine.Request
	for _, c := range cases {
		if c.Raw == nil {
			requests = append(requests, engine.Request{Object: c.Object, OldObject: c.OldObject, Subresource: c.Subresource})
		}
	}
	if len(requests) == 0 || m.filter != "" {
		return 0
	}
	var ratios []float64
	withoutCollector(func() {
		for range m.turns {
			ratios = append(ratios, 2*m.throughput(2, requests)/m.throughput(1, requests))
		}
	})
	return median(ratios)
}

// throughput is how often a nanosecond of the processor all requests are
// decided.
func (m *measure) throughput(cores int, requests []engine.Request) float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	passes := make([]int, cores)
	start, began := time.Now(), processorTime()
	var wg sync.WaitGroup
	for i := range passes {
		wg.Go(func() {
			n := 0
			for ; n == 0 || time.Since(start) < scaleTime; n++ {
				for _, r := range requests {
					_, _ = m.engine.Validate(context.Background(), r)
				}
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

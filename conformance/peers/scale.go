package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/celadon-cel/celadon/internal/testing/cputime"
)

// scaleTime is the duration of each side of a turn.
const scaleTime = 100 * time.Millisecond

// scaling holds how much work two goroutines on two cores do on the same engine, relative to one
// goroutine on one core, for the same processor time per core. It would be lower than the machine's
// own ratios if the goroutines wrote to the same cache lines or waited for each other. The
// machine's ratios are measured too, because cores share memory bandwidth and goroutines share an
// allocator.
type scaling struct {
	rules, write float64
	// spin uses no memory; allocate only allocates.
	spin, allocate float64
}

// scaling measures the works of a CRD. It returns zeros if the run is limited to some works.
func (m *measure) scaling(all []work) scaling {
	if m.filter != "" {
		return scaling{}
	}
	var rules, writes []func()
	for _, w := range all {
		switch {
		case strings.HasPrefix(w.name, "write"):
			writes = append(writes, w.ours)
		case w.outcome == "accepted":
			rules = append(rules, w.ours)
		}
	}
	var s scaling
	withoutCollector(func() {
		s.rules, s.write = m.twoOverOne(rules), m.twoOverOne(writes)
		s.spin, s.allocate = m.twoOverOne([]func(){spin}), m.twoOverOne([]func(){allocate})
	})
	return s
}

// twoOverOne returns the median ratio of the throughputs, or 0 for an empty list of works.
func (m *measure) twoOverOne(work []func()) float64 {
	if len(work) == 0 {
		return 0
	}
	var turns []float64
	for range m.turns {
		one := throughput(1, work)
		turns = append(turns, 2*throughput(2, work)/one)
	}
	return median(turns)
}

// throughput returns how often the work is done per nanosecond of processor time. It runs the
// garbage collector first, so that little memory must be requested from the system during the
// measurement.
func throughput(cores int, work []func()) float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	runtime.GC()
	passes := make([]int, cores)
	start, began := time.Now(), cputime.Process()
	var wg sync.WaitGroup
	for i := range passes {
		wg.Go(func() {
			n := 0
			for ; n == 0 || time.Since(start) < scaleTime; n++ {
				callAll(work)
			}
			passes[i] = n
		})
	}
	wg.Wait()
	sum := 0
	for _, n := range passes {
		sum += n
	}
	return float64(sum) / float64(cputime.Process()-began)
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

// allocate creates small maps on the heap.
func allocate() {
	keep := make([]map[string]any, 8)
	for i := range 800 {
		keep[i%len(keep)] = map[string]any{"name": keep}
	}
}

func (s scaling) print(out io.Writer) {
	fmt.Fprintf(out, "%-14s rules %.2f, write %.2f times one core; a loop without memory %.2f, one that only allocates %.2f\n", "two cores", s.rules, s.write, s.spin, s.allocate)
}

func printScaling(out io.Writer, all []scaling) {
	fmt.Fprintf(out, "two cores:")
	for _, part := range []struct {
		name string
		of   func(scaling) float64
	}{
		{"rules", func(s scaling) float64 { return s.rules }},
		{"write", func(s scaling) float64 { return s.write }},
		{"without memory", func(s scaling) float64 { return s.spin }},
		{"only allocating", func(s scaling) float64 { return s.allocate }},
	} {
		var of []float64
		for _, s := range all {
			if v := part.of(s); v > 0 {
				of = append(of, v)
			}
		}
		if len(of) > 0 {
			fmt.Fprintf(out, "  %s median %.2f worst %.2f", part.name, median(of), slices.Min(of))
		}
	}
	fmt.Fprintln(out)
}

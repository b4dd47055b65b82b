package main

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/celadon-cel/celadon/internal/testing/cputime"
)

// turnTime is the minimum duration of a turn.
const turnTime = 2 * time.Millisecond

// perCall returns the processor time per call of f, in nanoseconds.
func perCall(f func()) float64 { return perCallOver(turnTime, f) }

// perCallOver measures calls of f for at least the given processor time. It runs the garbage
// collector first, because new memory pages cost system time, which a process that has run for a
// while no longer spends.
func perCallOver(atLeast time.Duration, f func()) float64 {
	runtime.GC()
	f()
	for n := 1; ; n *= 4 {
		start := cputime.Process()
		for range n {
			f()
		}
		if took := cputime.Process() - start; took >= atLeast {
			return float64(took) / float64(n)
		}
	}
}

// allocated returns the bytes and allocations of a call of f.
func allocated(f func()) (bytes, allocs float64) {
	const n = 10
	f()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		f()
	}
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc-before.TotalAlloc) / n, float64(after.Mallocs-before.Mallocs) / n
}

// withoutCollector calls f with the garbage collector disabled, because otherwise its cost would be
// added to random turns. The cost is estimated with collectorTime instead.
func withoutCollector(f func()) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	f()
}

// collectorTime returns the garbage collector's time per allocated byte, in nanoseconds. A cycle
// visits all live memory, and runs whenever the same amount has been allocated.
func collectorTime() float64 {
	runtime.GC()
	start := cputime.Process()
	runtime.GC()
	took := cputime.Process() - start
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(took) / float64(stats.HeapAlloc)
}

package main

import (
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

// turnTime is how long a turn takes at least.
const turnTime = 2 * time.Millisecond

// perCall is the processor's time for one call, in nanoseconds.
func perCall(f func()) float64 { return perCallOver(turnTime, f) }

// perCallOver collects memory first, as a process that has run for a while has
// it: fresh pages cost the system's time, most where most is allocated.
func perCallOver(atLeast time.Duration, f func()) float64 {
	runtime.GC()
	f()
	for n := 1; ; n *= 4 {
		start := processorTime()
		for range n {
			f()
		}
		if took := processorTime() - start; took >= atLeast {
			return float64(took) / float64(n)
		}
	}
}

// processorTime is what this process has used so far, in all its threads.
func processorTime() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		panic(err) // there is no such error
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// allocated is what one call allocates.
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

// withoutCollector keeps the garbage collector from running into a turn, where
// chance would say who pays for it. What it costs is added instead: see
// collectorTime.
func withoutCollector(f func()) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	f()
}

// collectorTime is what the collector takes for each byte that is allocated: a
// cycle goes through all that is live, and comes whenever as much was allocated
// anew.
func collectorTime() float64 {
	runtime.GC()
	start := processorTime()
	runtime.GC()
	took := processorTime() - start
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(took) / float64(stats.HeapAlloc)
}

package main

import (
	"syscall"
	"time"
)

// turnTime is how long a turn takes at least: enough for the garbage collector
// to have its share, and for the clock.
const turnTime = 2 * time.Millisecond

// perCall is the processor's time for one call, in nanoseconds.
func perCall(f func()) float64 { return perCallOver(turnTime, f) }

func perCallOver(atLeast time.Duration, f func()) float64 {
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

// processorTime is what this process has used so far, its collector included.
func processorTime() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		panic(err) // there is no such error
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

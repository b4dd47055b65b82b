//go:build unix

package celexprs

import (
	"runtime"
	"syscall"
	"time"
)

// Spent is what turns of some work took of the processor and of memory.
type Spent struct {
	turns  int
	time   time.Duration
	allocs uint64
}

// Add is one turn.
func (s *Spent) Add(work func()) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begin := processorTime()
	work()
	s.time += processorTime() - begin
	runtime.ReadMemStats(&after)
	s.allocs += after.Mallocs - before.Mallocs
	s.turns++
}

// Per is what one of n that each turn worked on took, in nanoseconds, and its
// allocations.
func (s *Spent) Per(n int) (ns, allocs float64) {
	n *= s.turns
	return float64(s.time) / float64(n), float64(s.allocs) / float64(n)
}

// processorTime is what this process has used so far, in all its threads.
func processorTime() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		panic(err) // there is no such error
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

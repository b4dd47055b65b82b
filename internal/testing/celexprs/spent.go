//go:build unix

package celexprs

import (
	"runtime"
	"syscall"
	"time"
)

// Spent measures the processor time and allocations of repeated work.
type Spent struct {
	turns  int
	time   time.Duration
	allocs uint64
}

// Add runs work once and adds its time and allocations.
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

// Per returns the time in nanoseconds and the number of allocations per item, where each call of
// Add processed n items.
func (s *Spent) Per(n int) (ns, allocs float64) {
	n *= s.turns
	return float64(s.time) / float64(n), float64(s.allocs) / float64(n)
}

// processorTime returns the processor time of all threads of this process.
func processorTime() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		panic(err) // does not happen
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

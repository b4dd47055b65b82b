package celexprs

import (
	"runtime"
	"time"

	"github.com/celadon-cel/celadon/internal/testing/cputime"
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
	begin := cputime.Process()
	work()
	s.time += cputime.Process() - begin
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

package gctuning

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// percentage returns the current percentage, which can only be read by setting it.
func percentage() int {
	p := debug.SetGCPercent(defaultPercent)
	debug.SetGCPercent(p)
	return p
}

// collected runs the garbage collector and waits until a new sentinel's cleanup has run.
func collected() {
	runtime.GC()
	done := make(chan struct{})
	runtime.AddCleanup(new(sentinel), func(done chan struct{}) { close(done) }, done)
	for {
		runtime.GC()
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

func TestSeldom(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	limit := debug.SetMemoryLimit(-1)
	undo := CollectSeldom(400, 1<<30)
	if got := percentage(); got != run {
		t.Errorf("before a collection: got %d %%, want %d", got, run)
	}
	collected()
	if got := percentage(); got != 400 {
		t.Errorf("after it: got %d %%, want 400", got)
	}
	undo()
	if got := debug.SetMemoryLimit(-1); got != limit || percentage() != defaultPercent {
		t.Errorf("undone: got %d %% and a limit of %d, want %d and %d", percentage(), got, defaultPercent, limit)
	}
	CollectSeldom(400, math.MaxInt64)
	CollectOften()
	collected()
	if got := percentage(); got != defaultPercent/2 {
		t.Errorf("often: got %d %% after a collection, want %d", got, defaultPercent/2)
	}
	setPercent(defaultPercent)
}

func TestGiven(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "1GiB")
	before := percentage()
	undo := CollectSeldom(400, 1<<30)
	CollectOften()
	undo()
	if got := percentage(); got != before {
		t.Errorf("got %d %%, want %d as before", got, before)
	}
}

// Package gctuning adjusts the garbage collector for short-lived commands. By default, Go first
// collects at a heap of 4 MB, which the imported packages' tables nearly fill, and then whenever the
// heap has doubled. Most short runs need no collection at all.
//
// The package does nothing if GOGC or GOMEMLIMIT is set.
package gctuning

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// With these percentages, Go first collects at a heap of 16 MB and of 24 MB.
const (
	start = 400
	run   = 600
)

const defaultPercent = 100

// calls counts the calls that set a percentage, so that a delayed change does not undo a later call.
var calls struct {
	sync.Mutex
	times int
}

func init() {
	if !setByUser() {
		setUntilCollection(start, defaultPercent)
	}
}

func setByUser() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }

// CollectSeldom sets the garbage percentage, and a memory limit in bytes near which Go collects more often. A
// percentage above 100 only applies after the next collection, which is delayed. The returned function restores the
// memory limit and sets the default percentage.
func CollectSeldom(percent int, limit int64) (undo func()) {
	if setByUser() {
		return func() {}
	}
	before := debug.SetMemoryLimit(limit)
	if percent > defaultPercent {
		setUntilCollection(run, percent)
	} else {
		setPercent(percent)
	}
	return func() {
		setPercent(defaultPercent)
		debug.SetMemoryLimit(before)
	}
}

// CollectOften limits garbage to half of the live heap. Use it if the live heap is large.
func CollectOften() {
	if !setByUser() {
		setPercent(defaultPercent / 2)
	}
}

func setPercent(percent int) (times int) {
	calls.Lock()
	defer calls.Unlock()
	debug.SetGCPercent(percent)
	calls.times++
	return calls.times
}

func setUntilCollection(first, then int) {
	times := setPercent(first)
	runtime.AddCleanup(new(sentinel), func(then int) {
		calls.Lock()
		defer calls.Unlock()
		if calls.times == times {
			debug.SetGCPercent(then)
		}
	}, then)
}

// sentinel is allocated only to be freed by the next collection. It contains a pointer because the
// allocator may put pointer-free objects into a block with live objects.
type sentinel struct{ _ *sentinel }

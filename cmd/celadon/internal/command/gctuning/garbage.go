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

// With these percentages, Go first collects at a heap of 16 MB and of 64 MB.
const (
	start = 400
	run   = 1600
)

// usual is Go's default percentage.
const usual = 100

// said counts the calls that set a percentage, so that a delayed change does not undo a later call.
var said struct {
	sync.Mutex
	times int
}

func init() {
	if !given() {
		until(start, usual)
	}
}

func given() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }

// Seldom sets the garbage percentage, and a memory limit in bytes near which Go collects more often. A
// percentage above 100 only applies after a first collection at a heap of 64 MB. The returned function
// restores the memory limit and sets the default percentage.
func Seldom(percent int, limit int64) (undo func()) {
	if given() {
		return func() {}
	}
	before := debug.SetMemoryLimit(limit)
	if percent > usual {
		until(run, percent)
	} else {
		setPercent(percent)
	}
	return func() {
		setPercent(usual)
		debug.SetMemoryLimit(before)
	}
}

// Often limits garbage to half of the live heap. Use it if the live heap is large.
func Often() {
	if !given() {
		setPercent(usual / 2)
	}
}

func setPercent(percent int) (times int) {
	said.Lock()
	defer said.Unlock()
	debug.SetGCPercent(percent)
	said.times++
	return said.times
}

// until sets the percentage first until the next collection, and then from that collection on.
func until(first, then int) {
	times := setPercent(first)
	runtime.AddCleanup(new(sentinel), func(then int) {
		said.Lock()
		defer said.Unlock()
		if said.times == times {
			debug.SetGCPercent(then)
		}
	}, then)
}

// sentinel is allocated only to be freed by the next collection. It contains a pointer because the
// allocator may place pointer-free objects in a block with live objects.
type sentinel struct{ _ *sentinel }

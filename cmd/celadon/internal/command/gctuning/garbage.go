// Package gctuning says how much of it may lie about. Go collects for the first time
// at 4 MB, which the tables of what a program imports nearly are, and then at twice
// what lives, which of a short run is little: most of those need no collection.
//
// Whoever sets GOGC or GOMEMLIMIT is obeyed.
package gctuning

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// The percentages at which Go collects at 16 and at 64 MB for the first time.
const (
	start = 400
	run   = 1600
)

// usual is Go's own.
const usual = 100

// said counts what was set: what comes due later must not undo it.
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

// Seldom collects when garbage is a percentage of what lives, or memory nears a limit
// in bytes; of more than 100 %, at first only at 64 MB. It returns what undoes it.
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

// Often keeps garbage at half of what lives: where that is much.
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

// until sets a percentage for the time before the first collection from now on, and
// another behind it.
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

// sentinel is found dead by the first collection. It has a pointer: without one it
// might share a block with what lives on.
type sentinel struct{ _ *sentinel }

// Package cputime measures processor time. A test that limits processor time instead of elapsed
// time does not fail when other processes use the machine. On systems other than Unix, Process and
// Call return 0.
package cputime

import (
	"os"
	"runtime"
	"time"
)

// Process returns the processor time of this process so far, including tests that run in parallel.
func Process() time.Duration { return process() }

// Exited returns the processor time of a process that has exited, and of the children it waited for.
func Exited(state *os.ProcessState) time.Duration { return state.UserTime() + state.SystemTime() }

// Call calls f and returns the processor time that it used. On Linux, that is the time of its
// goroutine; elsewhere, it includes all that runs in parallel.
func Call(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begun := thread()
	f()
	return thread() - begun
}

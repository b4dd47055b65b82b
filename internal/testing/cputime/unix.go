//go:build unix

package cputime

import (
	"runtime"
	"syscall"
	"time"
)

// rusageThread is RUSAGE_THREAD of Linux, which package syscall does not define.
const rusageThread = 1

func process() time.Duration { return usage(syscall.RUSAGE_SELF) }

func thread() time.Duration {
	if runtime.GOOS == "linux" {
		return usage(rusageThread)
	}
	return process()
}

func usage(who int) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(who, &used); err != nil {
		panic(err) // happens only if who is invalid
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

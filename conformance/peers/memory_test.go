package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// The returned function stops the reading of the process's peak memory, and returns the last value in
// bytes. The peak in the resource usage of a process is at least the memory of the process that started
// it, so it is not used.
func watchMemory(pid int) func() int64 {
	var peak int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			if data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
				peak = max(peak, peakMemory(string(data)))
			}
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(stop)
		<-done
		return peak
	}
}

// status is the content of /proc/PID/status. The result is in bytes, or 0 if it is unknown.
func peakMemory(status string) int64 {
	_, after, _ := strings.Cut(status, "VmHWM:")
	var kib int64
	_, _ = fmt.Sscanf(after, "%d kB", &kib) // a process that has ended has none
	return kib << 10
}

func TestPeakMemory(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]int64{
		"Name:\tx\nVmPeak:\t 9 kB\nVmHWM:\t    2048 kB\nVmRSS:\t 5 kB\n": 2 << 20,
		"Name:\tx\nState:\tZ (zombie)\n":                                 0,
		"":                                                               0,
	} {
		if got := peakMemory(status); got != want {
			t.Errorf("%q: got %d, want %d", status, got, want)
		}
	}
}

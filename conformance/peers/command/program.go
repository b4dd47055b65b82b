// Package command measures programs as whole processes: their processor time, run time, and peak
// memory. Programs that are compared take turns, so that a busy machine affects all of them.
package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Program is a command line to measure.
type Program struct {
	Name string
	Args []string // the first is the path of the program
	Env  []string // in addition to the environment of this process
	// Turns limits the number of turns; 0 means no limit.
	Turns int
	// Repeat is the number of runs in a turn; 0 means 1. The usage of a turn is their average.
	Repeat int
	// MaxExit is the highest exit code that is not an error; 0 means 1, the code for findings.
	MaxExit int
}

// Usage holds the measurements of a run, or their medians.
type Usage struct {
	CPU, Wall time.Duration
	// Memory is the peak resident memory in bytes.
	Memory int64
}

func (p *Program) run() (Usage, error) {
	cmd := exec.Command(p.Args[0], p.Args[1:]...)
	cmd.Env = append(append(os.Environ(), "KUBECONFIG="+os.DevNull), p.Env...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return Usage{}, err
	}
	peak := watchMemory(cmd.Process.Pid)
	err := cmd.Wait()
	wall := time.Since(start)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 && exit.ExitCode() <= max(p.MaxExit, 1) {
		err = nil
	}
	if err != nil {
		return Usage{}, fmt.Errorf("%s: %w\n%s", strings.Join(p.Args, " "), err, stderr.Bytes()[:min(stderr.Len(), 2000)])
	}
	state := cmd.ProcessState
	return Usage{CPU: state.UserTime() + state.SystemTime(), Wall: wall, Memory: peak()}, nil
}

// watchMemory reads the peak memory of a process until it ends. The returned function stops that, and
// returns the last value in bytes. The peak in the resource usage of a process is at least the memory
// of the process that started it, so it is not used.
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

// peakMemory returns the peak memory in bytes of a process, from its status in /proc, or 0.
func peakMemory(status string) int64 {
	_, after, _ := strings.Cut(status, "VmHWM:")
	var kib int64
	_, _ = fmt.Sscanf(after, "%d kB", &kib) // a process that has ended has none
	return kib << 10
}

// turn runs p Repeat times and returns the average.
func (p *Program) turn() (Usage, error) {
	var sum Usage
	n := max(p.Repeat, 1)
	for range n {
		u, err := p.run()
		if err != nil {
			return Usage{}, err
		}
		sum.CPU += u.CPU
		sum.Wall += u.Wall
		sum.Memory = max(sum.Memory, u.Memory)
	}
	return Usage{sum.CPU / time.Duration(n), sum.Wall / time.Duration(n), sum.Memory}, nil
}

// Measure runs the programs in turns and returns the median usage of each.
func Measure(programs []Program, turns int) ([]Usage, error) {
	all := make([][]Usage, len(programs))
	for turn := range turns {
		for i := range programs {
			p := &programs[i]
			if p.Turns > 0 && turn >= p.Turns {
				continue
			}
			u, err := p.turn()
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], u)
		}
	}
	out := make([]Usage, len(programs))
	for i, of := range all {
		out[i] = Usage{
			CPU:    Median(of, func(u Usage) time.Duration { return u.CPU }),
			Wall:   Median(of, func(u Usage) time.Duration { return u.Wall }),
			Memory: Median(of, func(u Usage) int64 { return u.Memory }),
		}
	}
	return out, nil
}

// Median returns the median of a number of each item. For an even number of items, it is the upper one.
func Median[T any, N int64 | float64 | time.Duration](items []T, number func(T) N) N {
	numbers := make([]N, len(items))
	for i, item := range items {
		numbers[i] = number(item)
	}
	slices.Sort(numbers)
	return numbers[len(numbers)/2]
}

// Build builds a package in the module at dir, as releases are built, with more flags.
func Build(to, dir, pkg string, flags ...string) error {
	args := append([]string{"build", "-trimpath", "-o", to}, flags...)
	return goTool(dir, append(args, pkg)...)
}

// BuildTest builds the test binary of a package in the module at dir.
func BuildTest(to, dir, pkg string) error {
	return goTool(dir, "test", "-vet=off", "-c", "-o", to, pkg)
}

func goTool(dir string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), filepath.Base(dir), err, out)
	}
	return nil
}

// ModuleDir returns the folder of a module of the workspace.
func ModuleDir(module string) (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w", module, err)
	}
	return strings.TrimSpace(string(out)), nil
}

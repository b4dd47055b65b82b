package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"
)

// program is a measured command, with the number of runs and their times.
type program struct {
	name  string
	args  []string
	turns int
	times []time.Duration
}

// measure runs the programs in turns, so that a busy machine affects all of them. Building them and
// comparing the verdicts has already warmed up the caches.
func measure(programs []*program, cores int) error {
	turns := 0
	for _, p := range programs {
		p.times = nil
		turns = max(turns, p.turns)
	}
	for turn := range turns {
		for _, p := range programs {
			if turn >= p.turns {
				continue
			}
			took, err := p.run(cores)
			if err != nil {
				return err
			}
			p.times = append(p.times, took)
		}
	}
	return nil
}

// run returns the wall time of a process. Exit code 1 means that objects were rejected and is not
// an error.
func (p *program) run(cores int) (time.Duration, error) {
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Env = environment(cores)
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", p.name, err)
	}
	return took, nil
}

func (p *program) median() time.Duration {
	sorted := slices.Sorted(slices.Values(p.times))
	return sorted[len(sorted)/2]
}

// print prints the median times, and the first program's time relative to those of the others.
func print(out io.Writer, programs []*program, cores int) {
	ours := programs[0].median()
	fmt.Fprintf(out, "GOMAXPROCS=%d\n", cores)
	for i, p := range programs {
		fmt.Fprintf(out, "  %-20s %9.3f s", p.name, p.median().Seconds())
		if i > 0 {
			fmt.Fprintf(out, "   celadon takes %s", times(ours.Seconds()/p.median().Seconds()))
		}
		fmt.Fprintln(out)
	}
}

// times formats a ratio, for example as "1/300 of it" or "1.20 times it".
func times(ratio float64) string {
	if ratio < 0.1 {
		return fmt.Sprintf("1/%.0f of it", 1/ratio)
	}
	return fmt.Sprintf("%.2f times it", ratio)
}

package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/benchmark/parse"

	"github.com/celadon-cel/celadon/conformance/peers/command"
)

// A row holds the figures of both commits, one for each turn. Lower figures are better.
type row struct {
	name, unit string
	base, head []float64
}

// change returns the median of head divided by that of base.
func (r *row) change() float64 { return median(r.head) / median(r.base) }

func median(figures []float64) float64 {
	return command.Median(figures, func(f float64) float64 { return f })
}

// lost reports whether the row lost more than the permitted share.
func (r *row) lost(permitted float64) bool { return r.change() > 1+permitted }

// print prints the row's medians and the change.
func (r *row) print(out io.Writer, permitted float64) {
	note := ""
	if r.lost(permitted) {
		note = "  LOST"
	}
	fmt.Fprintf(out, "%-58s %+6.1f %%  %12.4g %12.4g %s%s\n", r.name, 100*(r.change()-1), median(r.base), median(r.head), r.unit, note)
}

// A measurer measures the rows of one turn with the programs of a commit. It calls add for each.
type measurer func(c *commit, add func(name, unit string, figure float64)) error

// measureRows measures the rows of both commits in turns. The commit that comes first alternates.
func measureRows(base, head *commit, turns int, measure measurer) ([]*row, error) {
	var rows []*row
	at := func(name, unit string) *row {
		if i := slices.IndexFunc(rows, func(r *row) bool { return r.name == name }); i >= 0 {
			return rows[i]
		}
		rows = append(rows, &row{name: name, unit: unit})
		return rows[len(rows)-1]
	}
	for turn := range turns {
		sides := []*commit{base, head}
		if turn%2 == 1 {
			slices.Reverse(sides)
		}
		for _, side := range sides {
			err := measure(side, func(name, unit string, figure float64) {
				if r := at(name, unit); side == base {
					r.base = append(r.base, figure)
				} else {
					r.head = append(r.head, figure)
				}
			})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", side.name, err)
			}
		}
	}
	// A benchmark that only one commit has cannot be compared.
	return slices.DeleteFunc(rows, func(r *row) bool { return len(r.base) == 0 || len(r.head) == 0 }), nil
}

// ofCommand returns the measurer of a row of celadon.
func ofCommand(r command.Row) measurer {
	return func(c *commit, add func(name, unit string, figure float64)) error {
		used, err := command.Measure([]command.Program{r.Program(c.celadon)}, 1)
		if err == nil {
			add(r.Name, r.Unit, r.Figure(used[0]))
		}
		return err
	}
}

// A benchmark runs benchCount times in a turn, for benchTime each. Its figure is the lowest time, which
// other processes affect least.
const (
	benchCount = "3"
	benchTime  = "0.1s"
)

// ofBenchmarks returns the measurer of the benchmarks of a package that are selected by a pattern.
func ofBenchmarks(pkg, pattern string) measurer {
	return func(c *commit, add func(name, unit string, figure float64)) error {
		if c.tests[pkg] == "" {
			return nil
		}
		cmd := exec.Command(c.tests[pkg], "-test.run=^$", "-test.bench="+pattern, "-test.benchtime="+benchTime, "-test.count="+benchCount)
		cmd.Dir = c.packageDir(pkg)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("benchmarks of %s: %w\n%s", pkg, err, out)
		}
		times, err := benchmarkTimes(out)
		for _, t := range times {
			add(pkg+" "+t.Name, "ns", t.NsPerOp)
		}
		return err
	}
}

// processors matches the number of processors at the end of a benchmark's name.
var processors = regexp.MustCompile(`-[0-9]+$`)

// benchmarkTimes parses the output of benchmarks and returns the lowest time of each, in order. It leaves
// out those that measure upstream.
func benchmarkTimes(out []byte) ([]*parse.Benchmark, error) {
	set, err := parse.ParseSet(bytes.NewReader(out))
	if err != nil {
		return nil, err
	}
	var times []*parse.Benchmark
	for _, list := range set {
		for _, t := range list {
			t.Name = processors.ReplaceAllString(strings.TrimPrefix(t.Name, "Benchmark"), "")
			if t.Measured&parse.NsPerOp == 0 || strings.Contains(strings.ToLower(t.Name), "upstream") {
				continue
			}
			if i := slices.IndexFunc(times, func(o *parse.Benchmark) bool { return o.Name == t.Name }); i < 0 {
				times = append(times, t)
			} else if t.NsPerOp < times[i].NsPerOp {
				times[i] = t
			}
		}
	}
	slices.SortFunc(times, func(a, b *parse.Benchmark) int { return a.Ord - b.Ord })
	return times, nil
}

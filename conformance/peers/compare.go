package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// permittedLoss is the share of its median that a benchmark may lose.
const permittedLoss = 0.10

var errLost = errors.New("slower than before")

// In peersFolder, only benchmarks of celadon are compared.
var benchmarks = []struct{ folder, pattern string }{
	{peersFolder, "^Benchmark(Start|Check|Find)$/././^celadon$"},
	{"engine", "^Benchmark(Validate|Rules|Compile)$"},
	{"engine/vet", "^BenchmarkVerdict$"},
	{"engine/x/schema", "^Benchmark(Validate|ValidateUpdate|Refused|Prepare|ListTypes)$"},
	{"x/analysis", "^BenchmarkAsk$"},
}

func runCompare(out io.Writer, base string, turns int) error {
	if base == "" {
		text, err := exec.Command("git", "describe", "--tags", "--abbrev=0").Output()
		if err != nil {
			fmt.Fprintln(out, "there is no tag to compare with")
			return nil
		}
		base = strings.TrimSpace(string(text))
	}
	dir, err := os.MkdirTemp("", "celadon-compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	after, err := thisTree()
	if err != nil {
		return err
	}
	before, remove, err := checkout(after.root, filepath.Join(dir, "base"), base)
	if err != nil {
		return err
	}
	defer remove()
	var folders []string
	for _, b := range benchmarks[1:] {
		folders = append(folders, b.folder)
	}
	for _, t := range []*tree{before, after} {
		if err := t.build(filepath.Join(dir, "bin-"+filepath.Base(t.root)), folders...); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	// Both commits run the benchmarks of whole runs from this tree.
	before.tests[peersFolder] = after.tests[peersFolder]
	fmt.Fprintf(out, "%-72s %8s  %12s %12s\n", "benchmark", "change", base, after.name)
	var measurers []measurer
	for _, b := range benchmarks {
		measurers = append(measurers, func(t *tree) ([]figure, error) { return t.figures(b.folder, b.pattern, dir) })
	}
	return compareAll(out, before, after, turns, measurers)
}

// A measurer returns the figures of one turn of a tree.
type measurer func(t *tree) ([]figure, error)

// Benchmarks of the library run three times, and the lowest figure counts, because other processes affect
// it least.
func (t *tree) figures(folder, pattern, dir string) ([]figure, error) {
	run := &benchRun{program: t.tests[folder], dir: t.folder(folder), pattern: pattern, time: "0.1s", count: "3"}
	if folder == peersFolder {
		run = t.ofFolder(pattern)
		run.dir, run.env = dir, append(run.env, "CELADON_PEERS="+dir, "CELADON_PEERS_LINES=20000")
	}
	if run.program == "" {
		return nil, nil // the commit has no such folder
	}
	out, err := run.output()
	if err != nil {
		return nil, err
	}
	return lowest(parseFigures(out)), nil
}

// lowest leaves out the benchmarks of upstream.
func lowest(figures []figure) (all []figure) {
	for _, f := range figures {
		if f.unit != "ns/op" && f.unit != "MiB" || strings.Contains(strings.ToLower(f.name), "upstream") {
			continue
		}
		same := func(o figure) bool { return o.name == f.name && o.unit == f.unit }
		if i := slices.IndexFunc(all, same); i < 0 {
			all = append(all, f)
		} else {
			all[i].value = min(all[i].value, f.value)
		}
	}
	return all
}

type change struct {
	name, unit    string
	before, after []float64
}

func (c *change) ratio() float64 { return median(c.after) / median(c.before) }

func (c *change) lost() bool { return c.ratio() > 1+permittedLoss }

func (c *change) print(out io.Writer) {
	note := ""
	if c.lost() {
		note = "  LOST"
	}
	fmt.Fprintf(out, "%-72s %+6.1f %%  %12.4g %12.4g %s%s\n",
		c.name, 100*(c.ratio()-1), median(c.before), median(c.after), c.unit, note)
}

// If a benchmark is slower than permitted, a second measurement with more turns replaces the first.
func compareAll(out io.Writer, before, after *tree, turns int, measurers []measurer) error {
	var lost []string
	for _, m := range measurers {
		changes, err := measureBoth(before, after, turns, m)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(changes, (*change).lost) {
			if changes, err = measureBoth(before, after, 2*turns+1, m); err != nil {
				return err
			}
		}
		for _, c := range changes {
			c.print(out)
			if c.lost() {
				lost = append(lost, c.name)
			}
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("%w by more than %.0f %%: %s", errLost, 100*permittedLoss, strings.Join(lost, "; "))
	}
	return nil
}

// Every second turn starts with the other tree.
func measureBoth(before, after *tree, turns int, measure measurer) ([]*change, error) {
	var all []*change
	of := func(f figure) *change {
		for _, c := range all {
			if c.name == f.name && c.unit == f.unit {
				return c
			}
		}
		all = append(all, &change{name: f.name, unit: f.unit})
		return all[len(all)-1]
	}
	for turn := range turns {
		sides := []*tree{before, after}
		if turn%2 == 1 {
			slices.Reverse(sides)
		}
		for _, side := range sides {
			figures, err := measure(side)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", side.name, err)
			}
			for _, f := range figures {
				if c := of(f); side == before {
					c.before = append(c.before, f.value)
				} else {
					c.after = append(c.after, f.value)
				}
			}
		}
	}
	// A benchmark that only one commit has cannot be compared.
	return slices.DeleteFunc(all, func(c *change) bool { return len(c.before) == 0 || len(c.after) == 0 }), nil
}

func checkout(root, dir, name string) (t *tree, remove func(), err error) {
	git := func(args ...string) error {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	if err := git("worktree", "add", "--detach", dir, name); err != nil {
		return nil, nil, err
	}
	return &tree{name: name, root: dir}, func() { _ = git("worktree", "remove", "--force", dir) }, nil
}

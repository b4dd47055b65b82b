// Command compare compares the speed of two commits of Celadon, which it builds and measures in the same
// run. It exits with code 1 if the median of any row lost more than a tenth.
//
//	CELADON_CORPUS=../corpus go run ./peers/compare -base v0.9.0
//
// The rows are the processor time or peak memory of whole runs of the command (package peers/command),
// and the times of benchmarks. The commits take turns, so that a busy machine affects both. A row that
// lost is measured again, with more turns, before it fails the run.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/celadon-cel/celadon/conformance/peers/command"
)

// permittedLoss is the share of its median that a row may lose.
const permittedLoss = 0.10

func main() {
	base := flag.String("base", "", "the commit to compare with; by default, the last tag, and nothing is compared if there is none")
	turns := flag.Int("turns", 5, "how often each row is measured")
	lines := flag.Int("lines", 20_000, "how many objects are checked")
	flag.Parse()
	err := run(os.Stdout, *base, *turns, *lines)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
	}
	switch {
	case errors.Is(err, errLost):
		os.Exit(1)
	case err != nil:
		os.Exit(2)
	}
}

// errLost is returned if a row lost more than permitted.
var errLost = errors.New("slower than before")

func run(out io.Writer, base string, turns, lines int) error {
	if base == "" {
		if base = lastTag(); base == "" {
			fmt.Fprintln(out, "there is no tag to compare with")
			return nil
		}
	}
	dir, err := os.MkdirTemp("", "celadon-compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	root, err := command.ModuleDir("github.com/celadon-cel/celadon")
	if err != nil {
		return err
	}
	before, remove, err := checkout(root, filepath.Join(dir, "base"), base)
	if err != nil {
		return err
	}
	defer remove()
	head := &commit{name: "this tree", root: root}
	for _, c := range []*commit{before, head} {
		if err := c.build(filepath.Join(dir, "bin-"+filepath.Base(c.root))); err != nil {
			return err
		}
	}
	in, err := command.NewInput(dir, filepath.SplitList(os.Getenv("CELADON_CORPUS")))
	if err != nil {
		return err
	}
	measurers, err := allMeasurers(in, lines)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-58s %8s  %12s %12s\n", "row", "change", base, "this tree")
	return compareAll(out, before, head, turns, measurers)
}

// compareAll measures all rows, prints them, and returns errLost if any row lost.
func compareAll(out io.Writer, base, head *commit, turns int, measurers []measurer) error {
	var lost []string
	for _, m := range measurers {
		rows, err := measureRows(base, head, turns, m)
		if err != nil {
			return err
		}
		if anyLost(rows) {
			if rows, err = measureRows(base, head, 2*turns+1, m); err != nil {
				return err
			}
		}
		for _, r := range rows {
			r.print(out, permittedLoss)
			if r.lost(permittedLoss) {
				lost = append(lost, r.name)
			}
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("%w by more than %.0f %%: %s", errLost, 100*permittedLoss, strings.Join(lost, "; "))
	}
	return nil
}

func anyLost(rows []*row) bool {
	for _, r := range rows {
		if r.lost(permittedLoss) {
			return true
		}
	}
	return false
}

// benchmarks lists packages of the library with the benchmarks that are compared.
var benchmarks = []struct{ pkg, pattern string }{
	{"engine", "^Benchmark(Validate|Rules|Compile)$"},
	{"engine/vet", "^BenchmarkVerdict$"},
	{"engine/x/schema", "^Benchmark(Validate|ValidateUpdate|Refused|Prepare|ListTypes)$"},
	{"internal/jsonvalue", "^BenchmarkObject$"},
	{"x/analysis", "^BenchmarkAsk$"},
}

func allMeasurers(in *command.Input, lines int) ([]measurer, error) {
	start, err := in.StartRows()
	if err != nil {
		return nil, err
	}
	check, err := in.CheckRows(command.Sizes{Lines: lines, Files: 1000, Memory: lines})
	if err != nil {
		return nil, err
	}
	rows := append(start, check...)
	rows = append(rows, command.FindRow("find in the CRD with the most rules", in.MostRules), command.VetRow("vet of the CRD with the most rules", in.MostRules))
	var all []measurer
	for _, r := range rows {
		all = append(all, ofCommand(r))
	}
	for _, b := range benchmarks {
		all = append(all, ofBenchmarks(b.pkg, b.pattern))
	}
	return all, nil
}

// A commit is a tree of Celadon with the programs that were built from it.
type commit struct {
	name, root, celadon string
	tests               map[string]string // test binaries by package
}

func (c *commit) packageDir(pkg string) string { return filepath.Join(c.root, filepath.FromSlash(pkg)) }

func (c *commit) build(bin string) error {
	c.celadon, c.tests = filepath.Join(bin, "celadon"), map[string]string{}
	if err := command.Build(c.celadon, filepath.Join(c.root, "cmd", "celadon"), "."); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	for _, b := range benchmarks {
		c.tests[b.pkg] = filepath.Join(bin, strings.ReplaceAll(b.pkg, "/", "-")+".test")
		if _, err := os.Stat(c.packageDir(b.pkg)); err != nil {
			c.tests[b.pkg] = "" // the commit has no such package
			continue
		}
		if err := command.BuildTest(c.tests[b.pkg], c.packageDir(b.pkg), "."); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// lastTag returns the last tag before the current commit, or "".
func lastTag() string {
	out, err := exec.Command("git", "describe", "--tags", "--abbrev=0").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// checkout makes a worktree of a commit in dir. remove removes it.
func checkout(root, dir, name string) (c *commit, remove func(), err error) {
	git := func(args ...string) error {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	if err := git("worktree", "add", "--detach", dir, name); err != nil {
		return nil, nil, err
	}
	return &commit{name: name, root: dir}, func() { _ = git("worktree", "remove", "--force", dir) }, nil
}

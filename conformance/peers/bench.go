package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A tree is a checkout of Celadon with the programs that were built from it.
type tree struct {
	name, root, celadon string
	tests               map[string]string // test binaries by folder
}

const peersFolder = "conformance/peers"

func thisTree() (*tree, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/celadon-cel/celadon").Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %w", err)
	}
	return &tree{name: "this tree", root: strings.TrimSpace(string(out))}, nil
}

// build builds the stripped command into the folder bin, and the benchmarks of peersFolder and
// of other folders. It leaves out folders that the tree does not have.
func (t *tree) build(bin string, folders ...string) error {
	t.celadon, t.tests = filepath.Join(bin, "celadon"), map[string]string{}
	if err := goTool(t.folder("cmd/celadon"), "build", "-trimpath", "-ldflags=-s -w", "-o", t.celadon, "."); err != nil {
		return err
	}
	for _, folder := range append([]string{peersFolder}, folders...) {
		if _, err := os.Stat(t.folder(folder)); err != nil {
			continue
		}
		t.tests[folder] = filepath.Join(bin, strings.ReplaceAll(folder, "/", "-")+".test")
		if err := goTool(t.folder(folder), "test", "-vet=off", "-c", "-o", t.tests[folder], "."); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) folder(path string) string { return filepath.Join(t.root, filepath.FromSlash(path)) }

func goTool(dir string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), dir, err, out)
	}
	return nil
}

type benchRun struct {
	program, dir, pattern, skip string
	time, count                 string
	env                         []string
}

func (t *tree) ofFolder(pattern string) *benchRun {
	return &benchRun{
		program: t.tests[peersFolder], dir: t.folder(peersFolder), pattern: pattern, time: "20ms", count: "1",
		env: []string{"CELADON_COMMAND=" + t.celadon},
	}
}

func (r *benchRun) output() ([]byte, error) {
	cmd := exec.Command(r.program, "-test.run=^$", "-test.timeout=0",
		"-test.bench="+r.pattern, "-test.benchtime="+r.time, "-test.count="+r.count)
	if r.skip != "" {
		cmd.Args = append(cmd.Args, "-test.skip="+r.skip)
	}
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), r.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("benchmarks of %s: %w\n%s", r.dir, err, out)
	}
	return out, nil
}

type figure struct {
	name, unit string
	value      float64
}

var processors = regexp.MustCompile(`-[0-9]+$`)

func parseFigures(out []byte) (all []figure) {
	for line := range bytes.Lines(out) {
		words := strings.Fields(string(line))
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(words[0], "Benchmark"), "")
		for pair := range slices.Chunk(words[2:], 2) {
			if value, err := strconv.ParseFloat(pair[0], 64); err == nil && len(pair) == 2 {
				all = append(all, figure{name, pair[1], value})
			}
		}
	}
	return all
}

// For an even number of values, the median is the upper one.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

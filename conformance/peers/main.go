// Command peers compares the speed of Celadon with other programs and with the code inside the API
// server, or with another commit of Celadon. It runs the benchmarks of this folder, and for another
// commit also the benchmarks of the library.
//
//	CELADON_CORPUS=../corpus go run ./peers -write
//	CELADON_CORPUS=../corpus go run ./peers -compare -base v0.9.0
//
// Each turn runs all benchmarks once, Celadon and its peers directly after each other, so that other
// processes on the machine affect both. Figures are medians over the turns, of processor time.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	compare := flag.Bool("compare", false, "compare this tree with the commit of -base, and exit with 1 if it is slower")
	base := flag.String("base", "", "the commit to compare with; by default, the last tag, or nothing if there is none")
	turns := flag.Int("turns", 5, "how often each benchmark runs")
	bench := flag.String("bench", ".", "run only benchmarks that match this regular expression")
	write := flag.Bool("write", false, "write the tables to "+pageFile)
	flag.Parse()
	var err error
	if *compare {
		err = runCompare(os.Stdout, *base, *turns)
	} else {
		err = runPeers(os.Stdout, *bench, *turns, *write)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
	}
	switch {
	case errors.Is(err, errLost):
		os.Exit(1)
	case err != nil:
		os.Exit(2)
	}
}

// onceName starts the names of benchmarks that take minutes, which run only in the first turn.
const onceName = "BenchmarkOnce"

func runPeers(out io.Writer, pattern string, turns int, write bool) error {
	dir, err := os.MkdirTemp("", "celadon-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tree, err := thisTree()
	if err != nil {
		return err
	}
	if err := tree.build(dir); err != nil {
		return err
	}
	run := tree.ofFolder(pattern)
	run.env = append(run.env, "CELADON_PEERS="+dir)
	var all results
	for turn := range turns {
		if turn > 0 {
			run.skip = onceName
		}
		text, err := run.output()
		if err != nil {
			return err
		}
		all.add(text)
	}
	for _, t := range all.tables() {
		day := time.Now().UTC().Format(time.DateOnly)
		text := t.String() + fmt.Sprintf("(%s, %d cores, %s, %s)\n", all.cpu, runtime.NumCPU(), runtime.Version(), day)
		fmt.Fprintf(out, "%s\n%s\n", t.section, text)
		if !write {
			continue
		}
		if err := writeSection(filepath.Join(tree.root, pageFile), t.section, text); err != nil {
			return err
		}
	}
	return nil
}

const pageFile = "docs/speed.md"

func writeSection(page, section, text string) error {
	data, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	changed, err := withSection(string(data), section, text)
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(changed), 0o644)
}

// A section is the block of text after a comment with its name.
func withSection(page, section, text string) (string, error) {
	const end = "```\n"
	start := fmt.Sprintf("<!-- results: %s -->\n```text\n", section)
	before, rest, found := strings.Cut(page, start)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed || strings.Contains(after, start) {
		return "", fmt.Errorf("want one block of text after %q", strings.TrimSpace(start))
	}
	return before + start + text + end + after, nil
}

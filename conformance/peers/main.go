// Command peers compares the speed of Celadon with that of the code inside the API server, on the
// same objects in the same run. It prints ratios: how many times as fast Celadon is.
//
//	CELADON_CORPUS=../corpus go run ./peers
//
// Both sides take turns, one object at a time on one core, and a ratio is the median of all turns.
// It measures processor time, so that other processes on the machine have little effect, and adds
// the garbage collector's share in proportion to the allocated bytes.
//
// Library functions (regexp, quantity, url, format, …) cost the same on both sides. Their calls are
// recorded and timed separately for each object. The time of the API server's code divided by that
// time is the upper bound of the ratio.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"

	"k8s.io/klog/v2"

	"github.com/celadon-cel/celadon/conformance"
)

// subjects lists the CRDs whose cases are measured, as prefixes of their file names.
var subjects = []string{
	"httproutes.gateway.networking.k8s.io",
	"gateways.gateway.networking.k8s.io",
	"infrastructures.config.openshift.io",
	"nodepools.karpenter.sh",
	"hostedclusters.hypershift.openshift.io",
}

func main() {
	objects := flag.Int("objects", 60, "how many objects of a CRD file are measured; 0 means all")
	turns := flag.Int("turns", 5, "how often each is measured")
	crds := flag.String("crds", "", "measure only CRDs with this in their name")
	works := flag.String("works", "", "measure only work with this in its name, as \"rules, create\"")
	vetted := flag.Int("vetted", 5, "how many CRDs are vetted, the largest ones; 0 means all")
	profile := flag.String("profile", "", "write a profile of our side to this file, measuring nothing")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if err := run(*crds, *works, *objects, *turns, *vetted, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(crds, works string, objects, turns, vetted int, profile string) error {
	all, err := read()
	if err != nil {
		return err
	}
	all = append(all, nested())
	all = slices.DeleteFunc(all, func(s *subject) bool { return !strings.Contains(s.name, crds) })
	if profile != "" {
		return profileOurs(all, works, objects, profile)
	}
	var t table
	var scalings []scaling
	for _, s := range all {
		s.cases = spread(s.cases, objects)
		m, err := newMeasure(s.crd, works, turns)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		todo := m.allWorks(s.cases)
		rows := m.rows(s.name, todo)
		t.add(rows)
		printRows(os.Stdout, s.name, rows)
		if s := m.scaling(todo); s.spin > 0 {
			s.print(os.Stdout)
			scalings = append(scalings, s)
		}
		fmt.Println()
	}
	t.summarize(os.Stdout)
	fmt.Println()
	t.printTargets(os.Stdout)
	if len(scalings) > 0 {
		printScaling(os.Stdout, scalings)
	}
	return printCompiled(os.Stdout, all, works, turns, vetted)
}

// profileOurs runs only Celadon's side, with a CPU profile.
func profileOurs(all []*subject, works string, objects int, file string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	var runs []func()
	for _, s := range all {
		m, err := newMeasure(s.crd, works, 1)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for _, w := range m.allWorks(spread(s.cases, objects)) {
			if strings.Contains(w.name, works) {
				runs = append(runs, w.ours)
			}
		}
	}
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for _, run := range runs {
		perCallOver(10*turnTime, run)
	}
	return nil
}

// subject is a CRD file with its cases.
type subject struct {
	name  string
	crd   *conformance.CRD
	cases []*conformance.Case
}

func read() ([]*subject, error) {
	byPath := map[string]*subject{}
	for _, dir := range filepath.SplitList(os.Getenv("CELADON_CORPUS")) {
		corpus, err := conformance.ReadCorpus(dir)
		if err != nil {
			return nil, err
		}
		for _, c := range corpus.Cases {
			name := strings.TrimSuffix(filepath.Base(c.CRD.Path), ".yaml")
			if c.Variant || !measured(name) {
				continue
			}
			if byPath[c.CRD.Path] == nil {
				byPath[c.CRD.Path] = &subject{name: name, crd: c.CRD}
			}
			byPath[c.CRD.Path].cases = append(byPath[c.CRD.Path].cases, c)
		}
	}
	if len(byPath) == 0 {
		return nil, fmt.Errorf("CELADON_CORPUS names no corpus with cases of %s", strings.Join(subjects, ", "))
	}
	var out []*subject
	for _, s := range byPath {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *subject) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

func measured(name string) bool {
	return slices.ContainsFunc(subjects, func(s string) bool { return strings.HasPrefix(name, s) })
}

// spread returns n of the cases, evenly spaced; 0 means all.
func spread(cases []*conformance.Case, n int) []*conformance.Case {
	if n == 0 || len(cases) <= n {
		return cases
	}
	out := make([]*conformance.Case, n)
	for i := range out {
		out[i] = cases[i*len(cases)/n]
	}
	return out
}

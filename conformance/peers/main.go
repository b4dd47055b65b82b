// Command peers compares the speed of Celadon with that of other programs, and of the code inside the
// API server, on the same objects in the same run. It prints ratios.
//
//	CELADON_CORPUS=../corpus go run ./peers -write
//
// The sections start, check, and find measure whole processes (package command). Without a corpus, they
// use made-up CRDs. In the other sections, a ratio is how many times as fast Celadon is. Both sides take
// turns, one object at a time on one core, and a ratio is the median of all turns. They measure processor
// time, so that other processes on the machine have little effect, and add the garbage collector's
// share in proportion to the allocated bytes.
//
// Library functions (regexp, quantity, url, format, …) cost the same on both sides. Their calls are
// recorded and timed separately for each object. The time of the API server's code divided by that
// time is the upper bound of the ratio.
package main

import (
	"errors"
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

// options are the flags.
type options struct {
	sections, crds, works, profile, peer string
	objects, turns, vetted               int
	million, write                       bool
}

func main() {
	var o options
	flag.StringVar(&o.sections, "sections", "", "measure only these sections, as \"check,find\": "+strings.Join(sectionNames(), ", "))
	flag.IntVar(&o.objects, "objects", 60, "how many objects of a CRD file are measured; 0 means all")
	flag.IntVar(&o.turns, "turns", 5, "how often each is measured")
	flag.StringVar(&o.crds, "crds", "", "measure only CRDs with this in their name")
	flag.StringVar(&o.works, "works", "", "of the section rules, measure only work with this in its name, as \"rules, create\"")
	flag.IntVar(&o.vetted, "vetted", 0, "how many CRDs are vetted, the largest ones; 0 means all")
	flag.BoolVar(&o.million, "million", false, "check 1,000,000 objects instead of extrapolating their run time")
	flag.StringVar(&o.peer, "kubectl-validate", "", "the program; by default that of PATH or of Go's bin folder")
	flag.StringVar(&o.profile, "profile", "", "write a profile of our side to this file, measuring nothing")
	flag.BoolVar(&o.write, "write", false, "write the results to "+resultsFile+" and "+pageFile)
	flag.Parse()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// A section is a part of the results.
type section struct {
	name string
	// processes is set if whole processes of celadon are measured.
	processes bool
	measure   func(p *processes, all []*subject, o options, out report) error
}

// A report receives measurements: kept those that results keep, and detail all others.
type report struct{ kept, detail io.Writer }

// sections are in the order of the run.
var sections = []section{
	{"start", true, func(p *processes, _ []*subject, _ options, out report) error { return p.printStart(out.kept) }},
	{"check", true, func(p *processes, _ []*subject, _ options, out report) error { return p.printCheck(out.kept) }},
	{"find", true, func(p *processes, all []*subject, _ options, out report) error { return p.printFind(out.kept, all) }},
	{"rules", false, func(_ *processes, all []*subject, o options, out report) error { return printRules(out, all, o) }},
	{"compile", false, func(_ *processes, all []*subject, o options, out report) error {
		return errors.Join(printCompile(out, all, o.turns), printHeap(out, all))
	}},
	{"vet", false, func(_ *processes, _ []*subject, o options, out report) error {
		return printVet(out, min(o.turns, maxVetTurns), o.vetted)
	}},
}

func sectionNames() []string {
	var names []string
	for _, s := range sections {
		names = append(names, s.name)
	}
	return names
}

func run(o options) error {
	chosen, err := chosenSections(o.sections)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "celadon-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var p *processes
	var all []*subject
	for _, s := range chosen {
		if s.processes && p == nil {
			if p, err = newProcesses(dir, o); err != nil {
				return err
			}
		}
		if all == nil && (!s.processes || s.name == "find") {
			if all, err = readSubjects(o.crds); err != nil {
				return err
			}
			if o.profile != "" {
				return profileOurs(all, o.works, o.objects, o.profile)
			}
		}
		var kept strings.Builder
		if err := s.measure(p, all, o, report{io.MultiWriter(os.Stdout, &kept), os.Stdout}); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Println()
		if o.write {
			if err := writeSection(s.name, trimmedLines(kept.String())); err != nil {
				return err
			}
		}
	}
	return nil
}

// chosenSections returns the sections of a list of names, or all for an empty list.
func chosenSections(list string) ([]section, error) {
	if list == "" {
		return sections, nil
	}
	var out []section
	for _, name := range strings.Split(list, ",") {
		i := slices.IndexFunc(sections, func(s section) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("section %q: want %s", name, strings.Join(sectionNames(), ", "))
		}
		out = append(out, sections[i])
	}
	return out, nil
}

// trimmedLines removes spaces at the ends of lines.
func trimmedLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// readSubjects returns the CRDs of the corpus and a made-up CRD, if their names contain crds.
func readSubjects(crds string) ([]*subject, error) {
	all, err := read()
	if err != nil {
		return nil, err
	}
	all = append(all, nested())
	return slices.DeleteFunc(all, func(s *subject) bool { return !strings.Contains(s.name, crds) }), nil
}

// printRules measures rules and writes of the subjects.
func printRules(out report, all []*subject, o options) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var t table
	var scalings []scaling
	for _, s := range all {
		cases := spread(s.cases, o.objects)
		m, err := newMeasure(s.crd, o.works, o.turns)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		todo := m.allWorks(cases)
		rows := m.rows(s.name, todo)
		t.add(rows)
		fmt.Fprintln(out.detail, s.name)
		printRows(out.detail, rows)
		if s := m.scaling(todo); s.spin > 0 {
			s.print(out.detail)
			scalings = append(scalings, s)
		}
		fmt.Fprintln(out.detail)
	}
	t.summarize(out)
	t.printTargets(out.detail)
	if len(scalings) > 0 {
		printScaling(out.kept, scalings)
	}
	return nil
}

// profileOurs runs only Celadon's side, with a CPU profile.
func profileOurs(all []*subject, works string, objects int, file string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	var runs []func()
	runtime.GOMAXPROCS(1)
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

// read returns the subjects of the corpus, if there is one.
func read() ([]*subject, error) {
	byPath := map[string]*subject{}
	if os.Getenv("CELADON_CORPUS") == "" {
		return nil, nil
	}
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

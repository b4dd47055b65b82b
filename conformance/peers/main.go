// Command peers measures Celadon against the code inside the API server, on the
// same objects in one run, as ratios: how many times as fast Celadon is.
//
//	CELADON_CORPUS=../corpus go run ./peers
//
// Work is timed in turns, theirs and ours, one object at a time on one core,
// and a ratio is the median of the turns. Absolute times are not printed:
// machines are noisy.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"k8s.io/klog/v2"

	"github.com/celadon-cel/celadon/conformance"
)

// subjects are the CRDs whose cases are measured: the start of their files'
// names.
var subjects = []string{
	"httproutes.gateway.networking.k8s.io",
	"gateways.gateway.networking.k8s.io",
	"infrastructures.config.openshift.io",
	"nodepools.karpenter.sh",
	"hostedclusters.hypershift.openshift.io",
}

func main() {
	perCRD := flag.Int("objects", 60, "how many objects of a CRD file are measured")
	turns := flag.Int("turns", 5, "how often each is measured")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if err := run(*perCRD, *turns); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(perCRD, turns int) error {
	crds, err := read()
	if err != nil {
		return err
	}
	crds = append(crds, nested())
	var all []row
	for _, c := range crds {
		m, err := newMeasure(c.crd, turns)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		rows := m.rows(c.name, spread(c.cases, perCRD))
		all = append(all, rows...)
		print(os.Stdout, rows)
	}
	fmt.Println()
	summarize(os.Stdout, all)
	return nil
}

// subject is one CRD file with its cases.
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
			if c.Variant || !wanted(name) {
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

func wanted(name string) bool {
	return slices.ContainsFunc(subjects, func(s string) bool { return strings.HasPrefix(name, s) })
}

// spread takes n of the cases, evenly.
func spread(cases []*conformance.Case, n int) []*conformance.Case {
	if len(cases) <= n {
		return cases
	}
	out := make([]*conformance.Case, n)
	for i := range out {
		out[i] = cases[i*len(cases)/n]
	}
	return out
}

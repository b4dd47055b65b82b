package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/celadon-cel/celadon/conformance/peers/command"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/cputime"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

// printFind measures celadon find on the CRD with the most rules and on all CRDs, each once, and :find of the shell.
func (p *processes) printFind(out io.Writer, subjects []*subject) error {
	printRowHeading(out, "celadon find --want refused")
	vet := command.VetRow("celadon vet", p.in.MostRules)
	if _, err := p.printRow(out, command.FindRow("the CRD with the most rules, CPU", p.in.MostRules), vet.Program(p.celadon)); err != nil {
		return err
	}
	var find, vetted time.Duration
	for _, crd := range p.in.CRDs {
		row, vet := command.FindRow("", crd), command.VetRow("", crd)
		used, err := command.Measure([]command.Program{row.Program(p.celadon), vet.Program(p.celadon)}, 1)
		if err != nil {
			return err
		}
		find, vetted = find+used[0].CPU, vetted+used[1].CPU
	}
	fmt.Fprintf(out, rowFormat, fmt.Sprintf("all %d CRDs, each once, CPU", len(p.in.CRDs)), ratio(float64(find)/float64(vetted)), "celadon vet",
		figure(find.Seconds(), "s"), figure(vetted.Seconds(), "s"))
	rules, took, err := shellFind(subjects, p.turns)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, rowFormat, fmt.Sprintf(":find in the shell, median of %d rules, CPU", rules), "", "", figure(took*1000, "ms"), "")
	return nil
}

// shellFind measures a search for a write that only one rule rejects, as :find of the shell runs it. It
// returns the number of rules, and the median of their processor times in seconds.
func shellFind(subjects []*subject, turns int) (rules int, seconds float64, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as in the shell
	var all []float64
	for _, s := range subjects {
		def := s.crd.Definition
		e, err := engine.Compile(def, engine.Config{})
		if e == nil {
			return 0, 0, fmt.Errorf("%s: %w", s.name, err)
		}
		version := storageVersion(s)
		a, err := analysis.New(def, e, version, analysis.Config{})
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %w", s.name, err)
		}
		for _, rule := range a.Rules() {
			var times []float64
			for range turns {
				start := cputime.Process()
				a, err := analysis.New(def, e, version, analysis.Config{})
				if err != nil {
					return 0, 0, fmt.Errorf("%s: %w", s.name, err)
				}
				if _, err := a.Ask(context.Background(), rule, search.Refused); err != nil {
					return 0, 0, fmt.Errorf("%s: %w", s.name, err)
				}
				times = append(times, (cputime.Process() - start).Seconds())
			}
			all = append(all, median(times))
		}
	}
	return len(all), median(all), nil
}

func storageVersion(s *subject) string {
	for _, v := range s.crd.Definition.Spec.Versions {
		if v.Storage {
			return v.Name
		}
	}
	return ""
}

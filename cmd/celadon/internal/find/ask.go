package find

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/prove"
	"github.com/celadon-cel/celadon/engine/search"
)

// nothing is the error where no rule is meant.
func (o *Options) nothing() error {
	switch {
	case o.one:
		return fmt.Errorf("no rule %d at %q: see celadon vet --all for the rules of a CRD", o.Rule, o.At)
	case o.at:
		return fmt.Errorf("no rule at %q: see celadon vet --all for the rules of a CRD", o.At)
	case o.Version != "":
		return fmt.Errorf("no version %q with rules in the CRDs", o.Version)
	}
	return errors.New("no CRD has rules: with --minimal or --full there is a sample all the same")
}

// ask asks of all versions of one CRD.
func ask(ctx context.Context, o *Options, crd *definition, sum *Summary, step func()) (*CRDPart, error) {
	part := &CRDPart{File: crd.file, Name: crd.crd.Name, Versions: []*VersionPart{}}
	e, err := engine.Compile(crd.crd, engine.Config{})
	if e == nil {
		return nil, err
	}
	for _, version := range e.Versions() {
		if o.Version != "" && version != o.Version {
			continue
		}
		v := &asking{ctx: ctx, o: o, crd: crd, engine: e, name: version, step: step}
		found, err := v.ask()
		if err != nil {
			return nil, err
		}
		if found == nil {
			continue
		}
		sum.sample(found.Accepted)
		for _, r := range found.Rules {
			sum.count(r)
		}
		part.Versions = append(part.Versions, found)
		if ctx.Err() != nil {
			break
		}
	}
	return part, nil
}

// asking is the work on one version.
type asking struct {
	ctx    context.Context
	o      *Options
	crd    *definition
	engine *engine.Engine
	name   string
	step   func()
}

func (v *asking) search() (*search.Search, error) {
	return search.New(v.crd.crd, v.engine, v.name, search.Config{Steps: v.o.Steps, Seed: v.o.Seed})
}

// ask is nil where nothing is asked of the version.
func (v *asking) ask() (*VersionPart, error) {
	s, err := v.search()
	if err != nil {
		return nil, err
	}
	part := &VersionPart{Name: v.name, Rules: []*RulePart{}}
	if v.o.samples() || v.o.Want == "all" {
		a, err := s.Sample(v.ctx, v.o.Full)
		if err == nil {
			part.Accepted = v.sample(s, a)
			v.step()
		} else if v.ctx.Err() == nil {
			return nil, err
		}
	}
	if v.o.samples() {
		return part, nil
	}
	for _, ref := range s.Rules() {
		if v.o.selects(ref) {
			part.Rules = append(part.Rules, &RulePart{Path: ref.Path, Index: ref.Index, Rule: ref.Rule, ref: ref})
		}
	}
	if len(part.Rules) == 0 && part.Accepted == nil {
		return nil, nil
	}
	return part, v.askRules(part)
}

// askRules shares the rules out among the cores, those of one place to one: an
// answer does not depend on what else is asked.
func (v *asking) askRules(part *VersionPart) error {
	places := map[string][]*RulePart{}
	var order []string
	for _, r := range part.Rules {
		if places[r.Path] == nil {
			order = append(order, r.Path)
		}
		places[r.Path] = append(places[r.Path], r)
	}
	queue := make(chan []*RulePart, len(order))
	for _, path := range order {
		queue <- places[path]
	}
	close(queue)
	workers := min(runtime.GOMAXPROCS(0), len(order))
	errs := make([]error, workers)
	var all sync.WaitGroup
	for i := range workers {
		all.Add(1)
		go func() {
			defer all.Done()
			errs[i] = v.work(queue)
		}()
	}
	all.Wait()
	part.Rules = slices.DeleteFunc(part.Rules, func(r *RulePart) bool { return len(r.answers()) == 0 }) // interrupted
	return errors.Join(errs...)
}

func (v *asking) work(queue <-chan []*RulePart) error {
	s, err := v.search()
	if err != nil {
		return err
	}
	p := v.prover()
	for rules := range queue {
		for _, r := range rules {
			for _, want := range v.o.wants() {
				f, err := v.find(s, p, r.ref, want)
				if v.ctx.Err() != nil {
					return nil // what is known is told
				}
				if err != nil {
					return err
				}
				r.set(want, f)
				v.step()
			}
		}
	}
	return nil
}

// find asks for a proof first: that takes milliseconds, and no search can end
// sooner than with all its steps where there is nothing to find.
func (v *asking) find(s *search.Search, p *prove.Prover, ref engine.RuleRef, want search.Want) (*Finding, error) {
	outcome, provable := map[search.Want]prove.Outcome{search.Refused: prove.Refused, search.Errs: prove.Failed}[want]
	if p != nil && provable {
		// What cannot be analysed, the search will say.
		if proof, _ := p.Never(ref, outcome); proof != nil {
			return &Finding{Status: never, Proof: proof.String()}, nil
		}
	}
	a, err := s.Find(v.ctx, ref, want)
	if err != nil {
		return nil, err
	}
	return finding(s, want, &ref, a), nil
}

// prover is nil for a version of which no object can be written.
func (v *asking) prover() *prove.Prover {
	for i := range v.crd.crd.Spec.Versions {
		if of := &v.crd.crd.Spec.Versions[i]; of.Name == v.name && of.Served {
			p, _ := prove.New(of, prove.Config{}) // the engine has compiled it
			return p
		}
	}
	return nil
}

// sample is what a version accepts, or the proof that that is nothing.
func (v *asking) sample(s *search.Search, a *search.Answer) *Finding {
	f := finding(s, search.Accepted, nil, a)
	if p := v.prover(); p != nil && f.Status == search.Unknown {
		if proof, _ := p.AcceptsNothing(""); proof != nil {
			f.Status, f.Proof = never, proof.String()
		}
	}
	return f
}

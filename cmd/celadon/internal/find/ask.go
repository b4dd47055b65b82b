package find

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/prove"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// answered is what became of one CRD; the part is nil where an interrupt came
// first.
type answered struct {
	part *CRDPart
	err  error
}

// askAll asks of CRDs on all cores, and takes their answers in order. Of one CRD
// more is asked at a time, too: there may be no other.
func askAll(ctx context.Context, o *Options, crds []*definition, step func(), take func(*definition, answered) error) error {
	var workers sync.WaitGroup
	defer workers.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	answers := make([]chan answered, len(crds))
	queue := make(chan int, len(crds))
	for i := range crds {
		answers[i] = make(chan answered, 1)
		queue <- i
	}
	close(queue)
	for range min(runtime.GOMAXPROCS(0), len(crds)) {
		workers.Go(func() {
			for i := range queue {
				var a answered
				if ctx.Err() == nil {
					a.part, a.err = ask(ctx, o, crds[i], step)
				}
				answers[i] <- a
			}
		})
	}
	for i, crd := range crds {
		if err := take(crd, <-answers[i]); err != nil {
			return err
		}
	}
	return nil
}

// ask asks of all versions of one CRD.
func ask(ctx context.Context, o *Options, crd *definition, step func()) (*CRDPart, error) {
	part := &CRDPart{File: crd.file, Name: crd.crd.Name, Versions: []*VersionPart{}}
	e, err := engine.Compile(crd.crd, engine.Config{})
	if e == nil {
		return nil, err
	}
	costs := sync.OnceValues(func() (*estimates, error) { return estimate(ctx, crd.crd) })
	for _, version := range e.Versions() {
		part.known.versions = append(part.known.versions, version)
		if o.Version != "" && version != o.Version {
			continue
		}
		v := &asking{ctx: ctx, o: o, crd: crd, engine: e, name: version, known: &part.known, step: step, costs: costs}
		found, err := v.ask()
		if err != nil {
			return nil, err
		}
		if found != nil {
			part.Versions = append(part.Versions, found)
		}
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
	known  *known
	step   func()
	costs  func() (*estimates, error)
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
	for _, ref := range s.Rules() {
		v.known.rules = append(v.known.rules, ref)
		if v.o.selects(ref) {
			part.Rules = append(part.Rules, &RulePart{Path: ref.Path, Index: ref.Index, Rule: ref.Rule, ref: ref})
		}
	}
	lanes := work.Split(len(part.Rules)*len(v.o.wants()), crdcopy.Nodes(v.crd.crd))
	if v.o.samples() || v.o.whole() {
		s.Charge(lanes[0])
		a, err := s.Sample(v.ctx, v.o.Full)
		switch {
		case err == nil:
			part.Accepted = v.sample(s, a, lanes[0])
			if err := v.outside(part.Accepted, search.Accepted, nil); err != nil {
				return nil, err
			}
			v.step()
		case v.ctx.Err() == nil:
			return nil, err
		}
	}
	if len(part.Rules) == 0 && part.Accepted == nil {
		return nil, nil
	}
	return part, v.askRules(part, lanes)
}

// askRules divides the rules among the lanes, those of one path to one lane, and runs
// the lanes on all cores. Except for the budget of its lane, an answer does not depend
// on other questions.
func (v *asking) askRules(part *VersionPart, meters [work.Lanes]*work.Meter) error {
	places := map[string][]*RulePart{}
	var order []string
	for _, r := range part.Rules {
		if places[r.Path] == nil {
			order = append(order, r.Path)
		}
		places[r.Path] = append(places[r.Path], r)
	}
	var lanes [work.Lanes][]*RulePart
	for i, path := range order {
		lanes[i%work.Lanes] = append(lanes[i%work.Lanes], places[path]...)
	}
	err := work.InLanes(func(i int) error { return v.askLane(lanes[i], meters[i]) })
	part.Rules = slices.DeleteFunc(part.Rules, func(r *RulePart) bool { return len(r.answers()) == 0 }) // interrupted
	return err
}

// askLane asks about rules, one after another. If the context is done, the report has
// the answers until then.
func (v *asking) askLane(rules []*RulePart, m *work.Meter) error {
	if len(rules) == 0 {
		return nil
	}
	s, err := v.search()
	if err != nil {
		return err
	}
	s.Charge(m)
	p := v.prover(m)
	for _, r := range rules {
		for _, want := range v.o.wants() {
			before := m.Spent()
			f := &Finding{Status: search.Unknown, Reason: m.Reason(), limited: m.Empty()}
			if !f.limited {
				f, err = v.find(s, p, r.ref, want)
			}
			if v.ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			if f.Status == search.Unknown && want != search.OverBudget { // whose objects are large
				m.Unanswered(m.Spent() - before)
			}
			r.set(want, f)
			v.step()
		}
	}
	return nil
}

// find asks for a proof first: that takes milliseconds, and no search can end
// sooner than with all its steps where there is nothing to find.
func (v *asking) find(s *search.Search, p *prove.Prover, ref engine.RuleRef, want search.Want) (*Finding, error) {
	if want == search.OverBudget && p != nil {
		costs, err := v.costs()
		if err != nil {
			return nil, err
		}
		if proof := costs.never(ref); proof != "" {
			return &Finding{Status: never, Proof: proof}, nil
		}
	}
	outcome, one := provable[want]
	if p != nil && one {
		// What cannot be analysed, the search will say.
		if proof, _ := p.Never(ref, outcome); proof != nil {
			return &Finding{Status: never, Proof: proof.String()}, nil
		}
	}
	a, err := s.Find(v.ctx, ref, want)
	if err != nil {
		return nil, err
	}
	f := finding(s, want, &ref, a)
	if want == search.Accepted {
		f.neverAccepted(p, ref.Path)
	}
	return f, v.outside(f, want, &ref)
}

// prover is nil for a version of which no object can be written.
func (v *asking) prover(m *work.Meter) *prove.Prover {
	p := v.proverWith(prove.Config{})
	if p != nil {
		p.Charge(m)
	}
	return p
}

func (v *asking) proverWith(cfg prove.Config) *prove.Prover {
	for i := range v.crd.crd.Spec.Versions {
		if of := &v.crd.crd.Spec.Versions[i]; of.Name == v.name && of.Served {
			p, _ := prove.New(of, cfg) // the engine has compiled it
			return p
		}
	}
	return nil
}

// sample is what a version accepts, or the proof that that is nothing.
func (v *asking) sample(s *search.Search, a *search.Answer, m *work.Meter) *Finding {
	f := finding(s, search.Accepted, nil, a)
	f.neverAccepted(v.prover(m), "")
	return f
}

// neverAccepted asks for a proof where no object was found that is accepted and
// has a value at a path: often a field is there for a rule that forbids it, or
// one above it is. Such an object mostly exists, so the search goes first.
func (f *Finding) neverAccepted(p *prove.Prover, path string) {
	if p == nil || f.Status != search.Unknown {
		return
	}
	steps, err := engine.ParsePath(path)
	if err != nil {
		return
	}
	for n := range len(steps) + 1 {
		above := engine.FormatPath(steps[:n])
		if proof, _ := p.AcceptsNothing(above); proof != nil {
			f.Status, f.Place, f.Proof = never, above, proof.String()
			return
		}
	}
}

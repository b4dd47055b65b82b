package find

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/gctuning"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/parallel"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/budget"
	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/crdcopy"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

type definition struct {
	file string
	crd  *apiextensionsv1.CustomResourceDefinition
	// builtins is set if the CRD describes built-in kinds, and holds them by version.
	builtins map[string]*policyrequest.Builtin
	// subresource is set if the CRD describes the objects of a subresource.
	subresource *policyrequest.Subresource
}

// A search creates much garbage next to a small live heap. The garbage may grow to a multiple of the live heap, up
// to enoughMemory in bytes.
const (
	garbagePercent = 400
	enoughMemory   = 384 << 20
)

// Run implements celadon find. If ctx is done, the report has the results so far.
func Run(ctx context.Context, s command.Streams, o *Options) error {
	defer gctuning.CollectSeldom(garbagePercent, enoughMemory)()
	crds, broken, err := read(ctx, s, o)
	if err != nil {
		return err
	}
	p, invalid, err := readPolicies(ctx, s, o)
	if err != nil {
		return err
	}
	broken = broken || invalid
	all := p.withOwn(crds)
	if crds, err = p.asked(o.Server, all); err != nil {
		return err
	}
	if err := p.assume(ctx, s, o, slices.Concat(all, crds), crds); err != nil {
		return err
	}
	bar := newTicker(s)
	sum, err := report(ctx, s, o, p, crds, bar, bar.tick)
	bar.bar.Done()
	switch {
	case err != nil:
		return err
	case sum.Interrupted:
		return &command.ExitError{Code: command.Interrupted, Err: errors.New("interrupted: the report is incomplete")}
	case sum.Undecided > 0:
		return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("%s unanswered: the work budget is used up: select fewer rules with --at and --rule", phrase.Count(sum.Undecided, "question"))}
	case broken || sum.Unreadable > 0:
		return &command.ExitError{Code: command.Usage}
	case !sum.settled():
		return &command.ExitError{Code: command.Findings}
	}
	return nil
}

func read(ctx context.Context, s command.Streams, o *Options) (crds []*definition, broken bool, err error) {
	if len(o.CRDs) == 0 {
		return nil, false, nil
	}
	return resource.All(ctx, s, o.CRDs, func(doc *input.Document) (*definition, error) {
		crd, err := resource.DecodeCompact(doc)
		if crd == nil || err != nil {
			return nil, err
		}
		return &definition{file: doc.File, crd: crd.ForEngine()}, nil
	})
}

func report(ctx context.Context, s command.Streams, o *Options, policies *bothPolicies, crds []*definition, out io.Writer, step func()) (*Summary, error) {
	all := &Report{Kind: "FindReport", APIVersion: "celadon/v1", Seed: o.Seed, CRDs: []*CRDPart{}}
	p := newPrinter(untrusted.NewWriter(out), s.Stdout, o)
	if len(o.OldPolicies) > 0 {
		all.Summary.Policies = &PolicySummary{}
	}
	if policies != nil {
		all.Assumed = policies.assumed
	}
	var known selectable
	selected := false
	if policies != nil {
		policies.crds = len(crds)
	}
	type answered struct {
		part *CRDPart // nil if the run was interrupted before the CRD's turn
		err  error
	}
	// The questions about a CRD also run in parallel, because there may be only one CRD. After an interruption, the
	// report has the results so far.
	asked, stop := context.WithCancel(ctx)
	defer stop()
	ask := func(crd *definition) (a answered) {
		if asked.Err() == nil {
			a.part, a.err = answerCRD(asked, o, policies, crd, step)
		}
		return a
	}
	err := parallel.Each(context.WithoutCancel(ctx), crds, ask, func(a answered) error {
		switch {
		case a.err != nil:
			s.Complain(fmt.Errorf("%s: %s: %w", a.part.File, a.part.Name, a.err))
			all.Summary.Unreadable++
			return nil
		case a.part == nil:
			return nil
		}
		known.versions, known.rules = append(known.versions, a.part.known.versions...), append(known.rules, a.part.known.rules...)
		selected = selected || len(a.part.Versions) > 0
		all.CRDs = append(all.CRDs, a.part)
		all.Summary.add(a.part)
		return p.crd(a.part)
	})
	if err != nil {
		return nil, err
	}
	all.Summary.Interrupted = ctx.Err() != nil
	if !selected && !all.Summary.Interrupted && all.Summary.Unreadable == 0 {
		if policies != nil {
			return nil, errNoPolicyMatches
		}
		return nil, o.nothing(&known)
	}
	if policies != nil && all.Summary.Policies != nil && !all.Summary.Interrupted {
		all.addUnmatched(policies)
	}
	return &all.Summary, p.end(all)
}

// A ticker serializes writes to the report and the bar, which may share a terminal.
type ticker struct {
	mu  sync.Mutex
	bar *progress.Bar
	out io.Writer
}

func newTicker(s command.Streams) *ticker {
	t := &ticker{bar: progress.On(s.Stderr, "finding", "answers")}
	t.out, _ = t.bar.ReportWriter(s.Stdout) // the report of a CRD is a single write
	return t
}

func (t *ticker) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bar.Add(1)
}

func (t *ticker) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.Write(text)
}

// answerCRD answers the questions about the selected versions of a CRD. p is nil for questions about its rules.
// With an error, the result identifies the CRD. If ctx is done, the result has the answers so far.
func answerCRD(ctx context.Context, o *Options, p *bothPolicies, crd *definition, step func()) (*CRDPart, error) {
	part := &CRDPart{File: crd.file, Name: crd.crd.Name, Versions: []*VersionPart{}}
	e, err := engine.Compile(crd.crd, engine.Config{KubeVersion: o.KubeVersion})
	if e == nil {
		return part, err
	}
	var meter *work.Meter
	if p != nil {
		meter = requests.NewMeter(p.crds)
	}
	costs := budget.Proofs(crd.crd, o.KubeVersion, cost.Limits{})
	for _, version := range e.Info().Versions {
		part.known.versions = append(part.known.versions, version)
		if o.Version != "" && version != o.Version || crd.builtins != nil && crd.builtins[version] == nil {
			continue
		}
		v := &versionSearch{ctx: ctx, o: o, definition: crd, engine: e, name: version, known: &part.known, step: step, costs: costs}
		run := v.run
		if p != nil {
			v.work = meter
			run = func() (*VersionPart, error) { return v.runPolicies(p) }
		}
		found, err := run()
		if err != nil && ctx.Err() == nil {
			return part, err
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

type versionSearch struct {
	*definition
	ctx    context.Context
	o      *Options
	engine *engine.Engine
	name   string
	known  *selectable
	step   func()
	costs  func(context.Context, engine.RuleRef) (string, error)
	work   *work.Meter // of questions about policies
}

func (v *versionSearch) run() (*VersionPart, error) {
	a, err := analysis.New(v.crd, v.engine, v.name, analysis.Config{Steps: v.o.Steps, Seed: v.o.Seed, CostProof: v.costs})
	if err != nil {
		return nil, err
	}
	part := &VersionPart{Name: v.name, Rules: []*RulePart{}}
	var rules []engine.RuleRef
	for _, ref := range a.Rules() {
		v.known.rules = append(v.known.rules, ref)
		if v.o.selects(ref) {
			rules = append(rules, ref)
			part.Rules = append(part.Rules, &RulePart{Path: ref.Path, Index: ref.Index, Rule: ref.Rule})
		}
	}
	meters := work.Split(len(rules)*v.o.questions(), crdcopy.Nodes(v.crd))
	if v.o.samples() || v.o.whole() {
		a.Charge(meters[0])
		sample, err := a.Sample(v.ctx, v.o.Full)
		if err != nil {
			return nil, err
		}
		part.Accepted = finding(search.Accepted, nil, sample)
		v.step()
	}
	if len(rules) == 0 && part.Accepted == nil {
		return nil, nil
	}
	err = a.InLanes(rules, meters, func(lane *analysis.Analyzer, i int) error { return v.answerRule(lane, rules[i], part.Rules[i]) })
	part.Rules = slices.DeleteFunc(part.Rules, func(r *RulePart) bool { return len(r.answers()) == 0 }) // interrupted
	return part, err
}

func (v *versionSearch) answerRule(a *analysis.Analyzer, ref engine.RuleRef, part *RulePart) error {
	for _, want := range v.o.wants() {
		answer, err := a.Ask(v.ctx, ref, want)
		if err != nil || v.ctx.Err() != nil {
			return err
		}
		part.set(want, finding(want, &ref, answer))
		v.step()
	}
	return nil
}

// MutationPart holds the results for a mutation of a policy.
type MutationPart struct {
	Policy     string         `json:"policy"`
	Mutation   int            `json:"mutation"`
	Expression string         `json:"expression"`
	Location   string         `json:"location,omitempty"`
	Changed    *PolicyFinding `json:"changed,omitempty"`
	// Invalid is about all mutations of the policy. It is set for the first only.
	Invalid *PolicyFinding `json:"invalid,omitempty"`
	Error   *PolicyFinding `json:"error,omitempty"`
}

func (v *versionSearch) mutations(p *policies.Policies, f *requests.Finder, part *VersionPart) error {
	for _, m := range f.Mutations() {
		at := p.Locate("MutatingAdmissionPolicy", m.Policy, fmt.Sprintf("spec.mutations[%d]", m.Index))
		one := &MutationPart{Policy: m.Policy, Mutation: m.Index, Expression: m.Expression, Location: at}
		wants := []requests.Want{requests.Changed}
		if m.Index == 0 { // all mutations of a policy together can make an object invalid, so this is tested once
			wants = append(wants, requests.Breaks)
		}
		for _, want := range v.o.policyWants(wants) {
			answer, err := f.Find(v.ctx, m, want)
			if err != nil {
				return err
			}
			one.set(want, policyFinding(answer))
			v.step()
		}
		part.Mutations = append(part.Mutations, one)
	}
	return nil
}

func (m *MutationPart) set(want requests.Want, f *PolicyFinding) {
	*map[requests.Want]**PolicyFinding{requests.Changed: &m.Changed, requests.Breaks: &m.Invalid, requests.Fails: &m.Error}[want] = f
}

func (s *Summary) countMutation(m *MutationPart) {
	n := s.policies()
	n.Mutations++
	countFound(map[*int]*PolicyFinding{&n.Changed: m.Changed, &n.Invalid: m.Invalid, &n.Errors: m.Error})
	if m.Changed.unknown() || m.Error.unknown() || m.Invalid.undecided() {
		n.Unknown++
	}
}

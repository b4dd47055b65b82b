package search

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

// Config is how long and from where is searched. The same configuration and the
// same CRD always give the same bytes.
type Config struct {
	// Steps is how many writes the engine may be asked about for one question;
	// 0 is DefaultSteps.
	Steps int
	// Seed chooses among witnesses.
	Seed uint64
	// Beside is a search in another form of the same CRD version, as an older one
	// or one with a changed rule: what is found is a write that that form admits
	// and prunes nothing from. nil asks for nothing more.
	Beside *Search
}

// cheapSteps are enough to look for what a cheap rule will hardly do: each object is
// large, and so is dear.
const cheapSteps = 50

// DefaultSteps is a matter of a second for most CRDs.
const DefaultSteps = 2000

// Want is an outcome that is looked for.
type Want string

// The outcomes.
const (
	// Refused: the rule is false, and nothing else is wrong with the write.
	Refused Want = "refused"
	// Accepted: the write is accepted, and the rule ran.
	Accepted Want = "accepted"
	// Errs: the rule fails to evaluate, and nothing else is wrong.
	Errs Want = "error"
	// OverBudget: the rule, or all rules together, cost more than they may.
	OverBudget Want = "budget"
)

// StatusWord is whether a witness was found.
type StatusWord string

// The words for that. Unknown says no more than that none was found.
const (
	Found       StatusWord = "found"
	Unknown     StatusWord = "unknown"
	Unserved    StatusWord = "unserved"
	NotAnalysed StatusWord = "notAnalysed"
)

// Answer is what became of one question.
type Answer struct {
	Status StatusWord
	// Witness is there when the status is Found.
	Witness *Witness
	// Searched is how many writes the engine was asked about.
	Searched int
	// Lists is how many items the longest list in them had.
	Lists int
	// Limited is set if the work budget is used up; Reason then says which one.
	Limited bool
	// Reason says why nothing was found or analysed; "" where there is no more
	// to say.
	Reason string
}

// Witness is a write that shows what was asked for. The engine has decided it.
type Witness struct {
	Operation Operation
	Object    map[string]any
	// Old is what the write replaces; nil on create.
	Old map[string]any
	// Alone: nothing else is wrong with the write than what was asked for. With
	// Config.Beside that form admits the write in any case.
	Alone bool
	// Result is the engine's verdict.
	Result *engine.Result
}

// Request is the write, as the engine takes it.
func (w *Witness) Request() engine.Request {
	req := engine.Request{Object: w.Object, OldObject: w.Old}
	if w.Operation == Status {
		req.Subresource = "status"
	}
	return req
}

// Search looks for witnesses in one version of a CRD. It is not safe for
// concurrent use.
type Search struct {
	engine     *engine.Engine
	cfg        Config
	version    string
	apiVersion string
	kind       string
	served     bool
	split      bool // a status subresource
	root       node
	rules      []*rule
	byRef      map[engine.RuleRef]*rule
	texts      *texts
	pools      map[string][]*candidate // admitted objects, by the place where rules ran
	work       *work.Meter             // of the run; nil if it has no limit
}

// New prepares a search in a version of a CRD that the engine was compiled from;
// "" is the storage version. The CRD must not change afterwards.
func New(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, version string, cfg Config) (*Search, error) {
	if cfg.Steps == 0 {
		cfg.Steps = DefaultSteps
	}
	at, err := e.At(version, "")
	if err != nil {
		return nil, err
	}
	s := &Search{engine: e, cfg: cfg, version: at.Version(), kind: crd.Spec.Names.Kind, texts: newTexts(), pools: map[string][]*candidate{}, byRef: map[engine.RuleRef]*rule{}}
	s.apiVersion = crd.Spec.Group + "/" + s.version
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if v.Name != s.version {
			continue
		}
		s.served = v.Served
		s.split = v.Subresources != nil && v.Subresources.Status != nil
		if _, s.root.s, err = structural.Of(v.Schema); err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Name, err)
		}
	}
	s.root.d = at.Decl()
	s.rules = rulesOf(s.version, s.root.s)
	for _, r := range s.rules {
		s.byRef[r.ref] = r
	}
	if b := cfg.Beside; b != nil && (b.apiVersion != s.apiVersion || b.kind != s.kind) {
		return nil, fmt.Errorf("search beside another kind (got %s %s, want %s %s)", b.apiVersion, b.kind, s.apiVersion, s.kind)
	}
	return s, nil
}

// Charge lets the questions that follow charge a meter, too. A question that uses it
// up, or that takes more than work.QuestionLimit, is answered with Unknown.
func (s *Search) Charge(m *work.Meter) { s.work = m }

// Rules are the version's rules, by place.
func (s *Search) Rules() []engine.RuleRef {
	refs := make([]engine.RuleRef, len(s.rules))
	for i, r := range s.rules {
		refs[i] = r.ref
	}
	return refs
}

// Find looks for a write by which a rule does what is wanted. The error is for a
// cancelled context, a rule that the version does not have, or a bug of ours.
func (s *Search) Find(ctx context.Context, ref engine.RuleRef, want Want) (*Answer, error) {
	r := s.byRef[ref]
	if r == nil {
		return nil, fmt.Errorf("%s: no such rule in version %s: %q", ref.Path, s.version, ref.Rule)
	}
	if !s.served {
		return s.unserved(), nil
	}
	if len(r.steps) > work.MaxDepth {
		return &Answer{Status: Unknown, Limited: true, Reason: work.TooDeep(len(r.steps))}, nil
	}
	if err := r.compile(s.engine); err != nil {
		return &Answer{Status: NotAnalysed, Reason: unanalysed(err)}, nil
	}
	steps := s.cfg.Steps
	if want == OverBudget && r.program.cheap() {
		steps = min(steps, cheapSteps)
	}
	h := s.newSolver(ctx, string(want)+" "+ref.Path+" "+ref.Rule, steps)
	h.rule, h.want = r, want
	return h.run()
}

// Sample looks for an object that the version accepts: one with as many fields as
// can stand together if full, else one with as few.
func (s *Search) Sample(ctx context.Context, full bool) (*Answer, error) {
	if !s.served {
		return s.unserved(), nil
	}
	h := s.newSolver(ctx, "sample", s.cfg.Steps)
	h.want, h.full, h.maker.plain = Accepted, full, full
	return h.run()
}

func (s *Search) unserved() *Answer {
	return &Answer{Status: Unserved, Reason: "version " + s.version + " is not served"}
}

// newSolver begins the work on one question, by a lot of its own: the answer does not
// depend on what else is asked.
func (s *Search) newSolver(ctx context.Context, question string, steps int) *solver {
	sum := fnv.New64a()
	sum.Write([]byte(question))
	rng := rand.New(rand.NewPCG(s.cfg.Seed, sum.Sum64()))
	meter := s.work.Within(work.QuestionLimit)
	h := &solver{Search: s, other: s.cfg.Beside, ctx: ctx, work: meter, maker: &maker{rng: rng, work: meter, texts: s.texts.forQuestion(meter)}, known: map[string]textWant{}}
	h.oracle = h.newOracle(steps)
	return h
}

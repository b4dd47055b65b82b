package search

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

// Config determines the effort and the random choices of searches.
type Config struct {
	// Steps limits the work of a search, in validated writes; 0 is DefaultSteps. Shrinking a witness has its own
	// limit.
	Steps int
	// Seed selects among possible witnesses.
	Seed uint64
	// OtherForm, if not nil, is a search in another form of the same CRD version, such as an older form or a form
	// with a changed rule. Witnesses are then limited to writes that the other form admits.
	OtherForm *Search
}

// cheapSteps limits searches for OverBudget on rules with a low cost estimate. A result is
// unlikely, and the objects are large and therefore slow to validate.
const cheapSteps = 50

// DefaultSteps is the default of Config.Steps.
const DefaultSteps = 2000

// Want is a wanted outcome.
type Want string

// The outcomes.
const (
	// Rejected: the rule is false. It is the only reason for rejection if Witness.Alone is set.
	Rejected Want = "refused"
	// Accepted: the write is accepted, and the rule ran.
	Accepted Want = "accepted"
	// Errs: the rule fails to evaluate, and neither another rule nor the schema causes the rejection.
	Errs Want = "error"
	// OverBudget: an evaluation of the rule exceeds its cost limit. Writes that only exceed the budget of all rules
	// together are not found.
	OverBudget Want = "budget"
)

// StatusWord is the status of a result.
type StatusWord string

// The statuses. Unknown only means that no witness was found. NotAnalyzed means that the rule could
// not be compiled.
const (
	Found       StatusWord = "found"
	Unknown     StatusWord = "unknown"
	Unserved    StatusWord = "unserved"
	NotAnalyzed StatusWord = "notAnalysed"
)

// An Answer is the result of a question.
type Answer struct {
	Status StatusWord
	// Witness is set if the status is Found.
	Witness *Witness
	// Searched counts the tried writes, without those that shrink the witness or collect objects to start with.
	Searched int
	// Lists is the length of the longest list in these writes.
	Lists int
	// Limited is set if the search ended because the work budget was used up or the rule is nested too deeply.
	Limited bool
	// Reason explains why no witness was found or the rule was not analyzed. It may be empty.
	Reason string
}

// A Witness is a write that demonstrates the wanted outcome. The engine has validated it.
type Witness struct {
	Operation Operation
	Object    map[string]any
	// Old is the object that the write replaces; nil on create.
	Old map[string]any
	// Alone is set if the write has no cause other than the wanted one.
	Alone bool
	// Result is the engine's verdict.
	Result *engine.Result
}

// Request returns the write as a request to the engine.
func (w *Witness) Request() engine.Request {
	req := engine.Request{Object: w.Object, OldObject: w.Old}
	if w.Operation == Status {
		req.Subresource = "status"
	}
	return req
}

// A Search looks for witnesses in a version of a CRD. It is not safe for concurrent use.
type Search struct {
	engine        *engine.Engine
	compilers     map[string]*expr.Compiler // by path of the rules
	cfg           Config
	version       string
	apiVersion    string
	kind          string
	served        bool
	split         bool // the version has a status subresource
	root          node
	largeDefaults int
	defaults      *structural.Defaulter
	rules         []*rule
	byRef         map[engine.RuleRef]*rule
	texts         *texts
	pools         map[string][]*candidate // admitted objects, by the key of poolOf
	work          *work.Meter             // of the run; nil if unlimited
}

// New returns a Search in a version of a CRD; "" is the storage version. The engine must have been
// compiled from the CRD, which must not change afterwards.
func New(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, version string, cfg Config) (*Search, error) {
	if cfg.Steps == 0 {
		cfg.Steps = DefaultSteps
	}
	at, err := e.At(version, "")
	if err != nil {
		return nil, err
	}
	s := &Search{engine: e, compilers: map[string]*expr.Compiler{}, cfg: cfg, version: at.Version, kind: crd.Spec.Names.Kind, texts: newTexts(), pools: map[string][]*candidate{}, byRef: map[engine.RuleRef]*rule{}}
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
	s.root.d, s.largeDefaults, s.defaults = at.Decl, largeDefaults(s.root.s), structural.NewDefaulter(s.root.s)
	s.rules = rulesOf(s.version, s.root.s)
	for _, r := range s.rules {
		s.byRef[r.ref] = r
	}
	if b := cfg.OtherForm; b != nil && (b.apiVersion != s.apiVersion || b.kind != s.kind) {
		return nil, fmt.Errorf("search relative to another kind (got %s %s, want %s %s)", b.apiVersion, b.kind, s.apiVersion, s.kind)
	}
	return s, nil
}

// Charge makes the following questions also charge m. A question that exhausts m or takes more than
// work.QuestionLimit ends, usually with the status Unknown.
func (s *Search) Charge(m *work.Meter) { s.work = m }

// Rules returns the version's rules.
func (s *Search) Rules() []engine.RuleRef {
	refs := make([]engine.RuleRef, len(s.rules))
	for i, r := range s.rules {
		refs[i] = r.ref
	}
	return refs
}

// Find searches for a write with which a rule has the wanted outcome. It returns an error, for example, if the
// version does not have the rule.
func (s *Search) Find(ctx context.Context, ref engine.RuleRef, want Want) (*Answer, error) {
	q, err := s.Question(ctx, ref, want)
	if err != nil {
		return nil, err
	}
	return q.Find()
}

// A Question is a search for a write with which a rule has a wanted outcome.
type Question struct {
	solver *solver // nil if no search is needed; answer is then set
	answer *Answer
}

// Question prepares the search of Find. It returns an error if the version does not have the rule.
func (s *Search) Question(ctx context.Context, ref engine.RuleRef, want Want) (*Question, error) {
	r := s.byRef[ref]
	if r == nil {
		return nil, fmt.Errorf("%s: no such rule in version %s: %q", ref.Path, s.version, ref.Rule)
	}
	if !s.served {
		return &Question{answer: s.unserved()}, nil
	}
	if len(r.steps) > work.MaxDepth {
		return &Question{answer: &Answer{Status: Unknown, Limited: true, Reason: work.TooDeep(len(r.steps))}}, nil
	}
	if err := r.compile(s); err != nil {
		return &Question{answer: &Answer{Status: NotAnalyzed, Reason: unanalyzed(err)}}, nil
	}
	steps := s.cfg.Steps
	if want == OverBudget && r.program.cheap() {
		steps = min(steps, cheapSteps)
	}
	h := s.newSolver(ctx, string(want)+" "+ref.Path+" "+ref.Rule, steps)
	h.rule, h.want = r, want
	return &Question{solver: h}, nil
}

// Try starts with one object only, which suffices for most rules. It returns nil if the search is not finished.
func (q *Question) Try() (*Answer, error) { return q.start(1) }

// Find returns the result. It continues after a Try without a result.
func (q *Question) Find() (*Answer, error) { return q.start(math.MaxInt) }

func (q *Question) start(attempts int) (answer *Answer, err error) {
	if q.answer == nil {
		q.answer, err = q.solver.try(attempts)
	}
	return q.answer, err
}

// Sample searches for an object that the version accepts, with many fields if full is set, else with few.
func (s *Search) Sample(ctx context.Context, full bool) (*Answer, error) {
	if !s.served {
		return s.unserved(), nil
	}
	h := s.newSolver(ctx, "sample", s.cfg.Steps)
	h.want, h.full, h.maker.plain = Accepted, full, full
	return h.try(math.MaxInt)
}

func (s *Search) unserved() *Answer {
	return &Answer{Status: Unserved, Reason: "version " + s.version + " is not served"}
}

// newSolver returns a solver with its own random source, so its random choices do not depend on other questions.
func (s *Search) newSolver(ctx context.Context, question string, steps int) *solver {
	sum := fnv.New64a()
	sum.Write([]byte(question))
	rng := rand.New(rand.NewPCG(s.cfg.Seed, sum.Sum64()))
	meter := s.work.Within(work.QuestionLimit)
	m := &maker{rng: rng, work: meter, texts: s.texts.forQuestion(meter)}
	h := &solver{Search: s, other: s.cfg.OtherForm, ctx: ctx, work: meter, maker: m}
	h.oracle = h.newOracle(steps)
	return h
}

// Form returns a search in another form of the same CRD version, without Config.OtherForm. Its schema is the same, but
// its engine may have other rules, for example from an engine.Rewriter. It shares the schema and compiled rules with s,
// which makes Form much faster than New.
func (s *Search) Form(e *engine.Engine) *Search {
	form := *s
	form.engine, form.compilers, form.cfg.OtherForm = e, map[string]*expr.Compiler{}, nil
	form.pools = map[string][]*candidate{}
	form.rules, form.byRef = nil, map[engine.RuleRef]*rule{}
	for _, ref := range e.Rules(s.version) {
		r := s.byRef[*ref]
		if r == nil {
			steps, err := engine.ParsePath(ref.Path)
			if err != nil {
				continue
			}
			r = &rule{ref: *ref, steps: steps}
		}
		form.rules = append(form.rules, r)
		form.byRef[r.ref] = r
	}
	return &form
}

package requests

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// Config determines the policies, the requests, and the effort.
type Config struct {
	// Set is compiled from Documents.
	Set       *policy.Set
	Documents []map[string]any
	// User sends the requests, unless only another user has the wanted effect.
	User policy.User
	// Steps is roughly the number of requests that may be evaluated for a question; 0 is search.DefaultSteps.
	Steps int
	Seed  uint64
	// Work is charged for all questions, in the units of policy.Result.Work. If it is nil, the Finder has a meter of
	// its own, from NewMeter(1).
	Work *work.Meter
	// Builtin validates the objects if the CRD describes a built-in kind. It is nil for other CRDs.
	Builtin *policyrequest.Builtin
	// Subresource is the subresource of requests if the CRD describes its objects, or nil.
	Subresource *policyrequest.Subresource
	// Now is the time of requests.
	Now time.Time
}

// The limits on the work of all questions, and of a question.
const (
	runWork      = 60_000_000_000
	questionWork = runWork / 8
	requestWork  = 50_000 // of making a request
)

// NewMeter returns a meter for the questions about one of several CRDs, which share the work of a run. With more than
// 16, each has as much as if there were 16, because most policies match few CRDs.
func NewMeter(crds int) *work.Meter { return work.NewMeter(runWork / int64(min(max(crds, 1), 16))) }

// Want is a wanted outcome.
type Want string

// The outcomes.
const (
	// Denied: the validation is false.
	Denied Want = "denied"
	// Fails: the validation or mutation cannot be evaluated.
	Fails Want = "error"
	// Accepted: the validation is evaluated, and no policy has an objection.
	Accepted Want = "accepted"
	// Changed: the mutation changes the object.
	Changed Want = "changed"
	// Breaks: the mutations of the policy change the object, and the CRD then rejects it.
	Breaks Want = "invalid"
)

// A Validation is a validation, or a mutation, of a policy that matches the CRD's resource.
type Validation struct {
	Policy string
	// Index is the index in spec.validations, or in spec.mutations.
	Index      int
	Expression string
	IsMutation bool
}

// An Answer is the result of a question.
type Answer struct {
	// Request is nil if nothing was found.
	Request *policy.Request
	// Binding, Actions, and Message are from the decision.
	Binding string
	Actions []policy.Action
	Message string
	// Tried is the number of requests that were evaluated and of objects that searches for a rule validated.
	Tried int
	// Reason is why the search ended early, or why a request that was tried is undecided, or "".
	Reason string
}

// FailsInstead is the Reason if nothing was denied, and requests with the outcome Fails were tried.
const FailsInstead = "on some of them, the policy fails"

// A Finder finds requests for the objects of a version of a CRD. It is not safe for concurrent use.
type Finder struct {
	cfg      Config
	crd      *apiextensionsv1.CustomResourceDefinition
	engine   *engine.Engine
	decider  decider
	builtin  *builtinDecider // decider for a built-in kind, or nil
	version  string
	search   *search.Search
	policies []*document
	objects  []map[string]any // that the CRD accepts
	random   *rand.Rand
	tried    int
	work     *work.Meter // of the current question
	custom   *policyrequest.Custom
}

const pool = 60

// New returns a Finder for a version of a CRD. e must be compiled from the CRD.
func New(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, version string, cfg Config) (*Finder, error) {
	if cfg.Steps == 0 {
		cfg.Steps = search.DefaultSteps
	}
	if cfg.Work == nil {
		cfg.Work = NewMeter(1)
	}
	s, err := search.New(crd, e, version, search.Config{Seed: cfg.Seed})
	if err != nil {
		return nil, err
	}
	f := &Finder{cfg: cfg, crd: crd, engine: e, decider: e, version: version, search: s, custom: policyrequest.NewCustom(crd, e), random: rand.New(rand.NewPCG(cfg.Seed, 0))}
	if cfg.Builtin != nil {
		if f.builtin, err = newBuiltinDecider(cfg.Builtin); err != nil {
			return nil, err
		}
		f.decider = f.builtin
	}
	if cfg.Subresource != nil {
		f.decider = subresourceDecider{e, cfg.Subresource}
	}
	f.usePolicies()
	if len(f.policies) == 0 {
		return f, nil
	}
	return f, f.sample(ctx)
}

func (f *Finder) sample(ctx context.Context) error {
	add := func(object map[string]any) {
		if f.builtin != nil {
			object, _ = f.builtin.repaired(ctx, engine.Request{Object: object})
		}
		if object != nil {
			f.objects = append(f.objects, object)
		}
	}
	if f.builtin != nil {
		add(f.builtin.example)
	}
	for _, full := range []bool{false, true} {
		a, err := f.search.Sample(ctx, full)
		if err != nil {
			return err
		}
		if a.Witness != nil {
			add(a.Witness.Object)
		}
	}
	return f.search.Samples(ctx, pool, func(obj map[string]any) bool {
		add(obj)
		return ctx.Err() == nil
	})
}

// Validations returns the validations of the policies that match the CRD's resource and have a binding, in the order
// of the documents.
func (f *Finder) Validations() (all []Validation) { return f.expressions(false) }

// Mutations is like Validations, but returns mutations.
func (f *Finder) Mutations() (all []Validation) { return f.expressions(true) }

func (f *Finder) expressions(areMutations bool) (all []Validation) {
	for _, d := range f.policies {
		for i, expression := range d.asked(areMutations) {
			all = append(all, Validation{d.name, i, expression, areMutations})
		}
	}
	return all
}

func (d *document) asked(areMutations bool) []string {
	if areMutations {
		return d.mutations
	}
	return d.validations
}

// Find searches for a request with a wanted outcome: Denied, Fails, or Accepted for a validation, and Changed, Fails,
// or Breaks for a mutation. Find returns an error if f does not have v, if ctx is done, or on an internal error.
func (f *Finder) Find(ctx context.Context, v Validation, want Want) (*Answer, error) {
	d, err := f.document(v)
	if err != nil {
		return nil, err
	}
	return f.answer(ctx, &question{Finder: f, document: d, index: v.Index, want: want})
}

func (f *Finder) document(v Validation) (*document, error) {
	i := slices.IndexFunc(f.policies, func(d *document) bool { return d.name == v.Policy && v.Index < len(d.asked(v.IsMutation)) })
	if i < 0 || v.Index < 0 {
		return nil, fmt.Errorf("policy %s has no validation or mutation %d that matches the resource", v.Policy, v.Index)
	}
	return f.policies[i], nil
}

func (f *Finder) answer(ctx context.Context, q *question) (*Answer, error) {
	a, err := f.ask(ctx, q)
	if err != nil || a.Request == nil {
		return a, err
	}
	if len(q.document.mutations) > 0 {
		a.Binding, a.Message, err = q.mutates(ctx, q.stored)
		return a, err
	}
	res, err := q.evaluate(ctx, f, q.stored)
	if err != nil {
		return nil, err
	}
	a.Binding, a.Actions, a.Message = q.decision(res)
	return a, nil
}

func (f *Finder) ask(ctx context.Context, q *question) (*Answer, error) {
	f.tried, f.work = 0, f.cfg.Work.Within(questionWork)
	req, err := q.find(ctx)
	if err != nil {
		return nil, err
	}
	a := &Answer{Request: req, Tried: f.tried}
	if req == nil {
		a.Reason = cmp.Or(f.work.Reason(), q.undecided)
		if a.Reason == "" && q.fails {
			a.Reason = FailsInstead
		}
	}
	return a, nil
}

type question struct {
	*Finder
	document *document
	index    int
	want     Want
	other    *Finder // for FindAgainst
	// namespace is the namespace of objects in requests; "" is the default. subresource is the subresource of
	// requests.
	namespace, subresource string
	// undecided is the reason why a request that was tried could have the wanted outcome in a cluster, or "".
	undecided string
	// stored is the request that was found, with the objects that the server stores.
	stored *policy.Request
	fails  bool  // set if the validation fails on a request but should deny one
	err    error // of a source
	// deniedByBoth is set if the other policies deny the last request as well.
	deniedByBoth bool
}

// note records why the results of a policy for a request are not known. name is "" for any policy. Requests in other
// namespaces than that of the question do not count, because these Namespaces do not exist.
func (q *question) note(req *policy.Request, all []policy.Undecided, name string) {
	exists := req.Namespace == "" || req.Namespace == cmp.Or(q.namespace, metav1.NamespaceDefault)
	for _, u := range all {
		if exists && (name == "" || u.Policy == name) {
			q.undecided = cmp.Or(q.undecided, u.String())
		}
	}
}

// A source passes candidates to yield until it returns false. An error is in question.err.
type source func(ctx context.Context, operation policy.Operation, yield func(*policy.Request) (more bool))

func (q *question) find(ctx context.Context) (*policy.Request, error) {
	forms := q.forms(q.document)
	if err := q.place(ctx, forms[0]); err != nil {
		return nil, err
	}
	if q.want == Accepted { // a create is the simplest example
		slices.SortStableFunc(forms, func(a, b form) int { return strings.Compare(string(a.operation), string(b.operation)) })
	}
	left, steps := maxTransfers, q.cfg.Steps
	for i, candidates := range []source{q.plain, q.translated, q.guessed, q.paired, q.varied} {
		for _, one := range forms {
			if q.work.Empty() {
				return nil, nil
			}
			var found *policy.Request
			q.subresource = one.subresource
			try := func(req *policy.Request) (more bool) {
				ok := false
				if ok, q.err = q.holds(ctx, req); ok {
					found = req
				}
				return !ok && q.err == nil && !q.work.Empty()
			}
			candidates(ctx, one.operation, func(req *policy.Request) bool {
				more := try(req)
				if isTranslated := i == 1; more && left > 0 && (isTranslated || q.deniedByBoth) {
					left--
					tried := q.tried
					more = q.transfers(ctx, req, try)
					steps += q.tried - tried
				}
				return more && q.tried < steps
			})
			if q.err == nil && found != nil {
				found, q.stored, q.err = q.shrink(ctx, found)
			}
			if q.err != nil || found != nil {
				return found, q.err
			}
		}
	}
	return nil, nil
}

func (q *question) holds(ctx context.Context, req *policy.Request) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	q.tried++
	q.work.Spend(requestWork)
	if q.other != nil {
		return q.differs(ctx, req)
	}
	if len(q.document.mutations) > 0 {
		binding, _, err := q.mutates(ctx, req)
		return binding != "", err
	}
	res, err := q.evaluate(ctx, q.Finder, req)
	if err != nil {
		return false, err
	}
	q.note(req, res.Undecided, q.document.name)
	binding, _, _ := q.decision(res)
	return binding != "", nil
}

// evaluate returns an empty result if validating policies do not run.
func (q *question) evaluate(ctx context.Context, f *Finder, req *policy.Request) (*policy.Result, error) {
	r, err := f.Review(ctx, req)
	if err != nil {
		return nil, err
	}
	if q.work.Spend(int(r.Work)); r.Evaluated == nil { // mutating policies or webhooks end the request
		q.undecided = cmp.Or(q.undecided, r.Undecided)
		return &policy.Result{}, nil
	}
	return r.Evaluated, nil
}

// decision returns "" if no decision has the wanted outcome.
func (q *question) decision(res *policy.Result) (binding string, actions []policy.Action, message string) {
	if q.want == Accepted {
		return q.acceptedBy(res), nil, ""
	}
	for _, e := range res.Evaluations {
		if e.Policy != q.document.name {
			continue
		}
		for _, d := range e.Decisions {
			if d.Validation != q.index && (d.Validation >= 0 || q.index != 0) {
				continue
			}
			if d.Failed == (q.want == Fails) {
				return e.Binding, d.Actions, d.Message
			}
			q.fails = d.Failed
		}
	}
	return "", nil, ""
}

func (q *question) acceptedBy(res *policy.Result) (binding string) {
	if len(res.Undecided) > 0 {
		return ""
	}
	for _, e := range res.Evaluations {
		switch {
		case len(e.Decisions) > 0:
			return ""
		case binding == "" && e.Policy == q.document.name && !e.Excluded:
			binding = e.Binding
		}
	}
	return binding
}

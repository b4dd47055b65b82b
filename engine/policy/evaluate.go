package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Evaluate evaluates the policies that match a request and returns the server's response. A denied
// request is not an error: see Result.Allowed and Result.Failure. Evaluate returns an error if ctx is
// done, if req is malformed, or on an internal error.
func (s *Set) Evaluate(ctx context.Context, req Request) (res *Result, err error) {
	at := ""
	defer recovered(&at, &res, &err)
	if err := req.check(); err != nil {
		return nil, err
	}
	if isVirtual(&req) || isPolicy(&req) {
		return &Result{Allowed: true}, nil
	}
	e := s.evaluations.Get().(*evaluation)
	e.start(ctx, s, &req)
	for _, p := range s.policies {
		at = p.name
		if err := e.policy(p); err != nil {
			return nil, err
		}
		if e.ended {
			break
		}
	}
	e.finish()
	res = e.result
	res.Work = int64(maxWork - e.workLeft)
	e.reset()
	s.evaluations.Put(e)
	return res, nil
}

// An evaluation is the evaluation of all policies for a request. It is reused if it succeeds.
type evaluation struct {
	situation
	response
	request  Request
	ctx      context.Context
	workLeft uint64
	// kept counts the evaluations and decisions so far, and texts the bytes of their messages and audit annotations.
	kept, texts int
	ended       bool // by a limit
}

// A firstResult is a Result with memory for its first Evaluation, because most requests have one.
type firstResult struct {
	Result
	first [1]Evaluation
}

func (e *evaluation) start(ctx context.Context, set *Set, req *Request) {
	res := &firstResult{Result: Result{Allowed: true}}
	res.Evaluations = res.first[:0]
	e.ctx, e.workLeft, e.result, e.request = ctx, maxWork, &res.Result, *req
	e.situation.set, e.situation.req = set, &e.request
}

// reset drops everything about the request.
func (e *evaluation) reset() {
	clear(e.converted)
	converted := e.converted[:0]
	*e = evaluation{situation: situation{converted: converted}}
}

// virtual lists the resources that are not stored and for which the server does not evaluate policies.
var virtual = map[string][]string{
	"authentication.k8s.io": {"selfsubjectreviews", "tokenreviews"},
	"authorization.k8s.io":  {"localsubjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews"},
}

func isVirtual(req *Request) bool {
	return slices.Contains(virtual[req.Resource.Group], req.Resource.Resource)
}

// isPolicy reports whether a request is for a policy or a binding. Policies do not apply to them.
func isPolicy(req *Request) bool {
	kind := req.Kind.Kind
	return req.Kind.Group == registration &&
		(strings.HasPrefix(kind, "ValidatingAdmissionPolicy") || strings.HasPrefix(kind, "MutatingAdmissionPolicy"))
}

// proceed adds work for the next step of a policy with a binding. At a limit, it ends the evaluation of the request
// as undecided, and returns false.
func (e *evaluation) proceed(p *compiledPolicy, b *compiledBinding, units int) bool {
	reason := ""
	switch {
	case e.workLeft < uint64(units):
		reason = errWork.reason
	case e.kept >= maxKept:
		reason = errMany.reason
	case e.texts > maxTexts:
		reason = errTexts.reason
	default:
		e.workLeft -= uint64(units)
		return true
	}
	e.ended = true
	e.undecide(p, b, reason)
	return false
}

var (
	errMany  = &undecidedError{fmt.Sprintf("the policies, bindings, and params objects that match have over %d decisions", maxKept)}
	errTexts = &undecidedError{fmt.Sprintf("the messages of the policies have over %d MiB", maxTexts>>20)}
)

func (e *evaluation) keep(of Evaluation) {
	e.kept += 1 + len(of.Decisions)
	for i := range of.Decisions {
		e.texts += len(of.Decisions[i].Message)
	}
	e.result.Evaluations = append(e.result.Evaluations, of)
}

func (e *evaluation) policy(p *compiledPolicy) error {
	if len(p.bindings) == 0 {
		return nil
	}
	to, ok, err := p.constraints.matches(&e.situation)
	switch {
	case err != nil:
		e.undecide(p, nil, err.Error())
		return nil
	case !ok:
		return nil
	}
	if p.paramKind != nil && !e.set.serves(p.paramKind) {
		e.configurationFails(p, nil, fmt.Sprintf("failed to find resource referenced by paramKind: '%v'", schema.FromAPIVersionAndKind(p.paramKind.APIVersion, p.paramKind.Kind)))
		return nil
	}
	var all annotations
	if len(p.annotationKeys) > 0 {
		all = annotations{}
	}
	for _, b := range p.bindings {
		if err := e.binding(p, b, to, all); err != nil || e.ended {
			return err
		}
	}
	e.publish(p, all)
	return nil
}

func (e *evaluation) binding(p *compiledPolicy, b *compiledBinding, to target, all annotations) error {
	if b.constraints != nil {
		_, ok, err := b.constraints.matches(&e.situation)
		switch {
		case err != nil:
			e.undecide(p, b, err.Error())
			return nil
		case !ok:
			return nil
		}
	}
	if !e.proceed(p, b, candidateWork*e.set.candidates(p, b)) {
		return nil
	}
	params, missing := e.set.paramsOf(p, b, e.req)
	switch {
	case missing != nil && missing.undecided != "":
		e.undecide(p, b, missing.undecided)
		return nil
	case missing != nil:
		e.configurationFails(p, b, missing.failure)
		return nil
	case len(params) == 0:
		return nil
	}
	objects := e.to(to)
	if objects.err != nil {
		e.configurationFails(p, b, "failed to convert object version: "+objects.err.Error())
		return nil
	}
	for _, object := range params {
		if !e.proceed(p, b, evaluationWork) {
			return nil
		}
		if err := e.run(p, b, objects, object, all); err != nil {
			return err
		}
	}
	return nil
}

func (e *evaluation) run(p *compiledPolicy, b *compiledBinding, objects *converted, params map[string]any, all annotations) error {
	r := p.runs.Get().(*run)
	r.start(e.ctx, e.workLeft)
	r.authority.decide = e.set.authorize
	v := r.validate(&e.situation, p, objects, params)
	e.workLeft = r.workLeft
	undecided, bug := r.whyUndecided(), r.bug
	r.finish()
	p.runs.Put(r)
	if bug != nil {
		return internal(p.name, bug)
	}
	if err := e.ctx.Err(); err != nil {
		return context.Cause(e.ctx)
	}
	if undecided != "" {
		e.undecide(p, b, undecided)
		if !slices.ContainsFunc(v.decisions, func(d decision) bool { return d.deny }) {
			return nil
		}
	}
	for i := range v.annotations {
		e.texts += len(v.annotations[i].value)
	}
	e.keep(Evaluation{
		Policy: p.name, Binding: b.name, of: p, to: objects.target, params: params,
		Params: paramsName(params), Excluded: v.isExcluded, Condition: v.excluded, Cost: v.cost, MatchCost: v.matchCost,
		Decisions: append(e.decide(e.req, p, b, &v), e.annotate(e.req, p, b, &v, all)...),
	})
	return nil
}

// whyUndecided returns the reason why the result of the run is not known, or "".
func (r *run) whyUndecided() string { return cmp.Or(r.undecided, r.firstDoubt) }

// configurationFails denies the request because a binding, or the policy if b is nil, cannot be used,
// unless failurePolicy is Ignore.
func (e *evaluation) configurationFails(p *compiledPolicy, b *compiledBinding, failure string) {
	what, binding := "policy", ""
	if b != nil {
		what, binding = "binding", b.name
	}
	d := p.failed("failed to configure " + what + ": " + failure)
	one := Decision{Validation: -1, Message: d.message, Failed: true}
	if d.deny {
		one.Actions = []Action{ActionDeny}
		e.deny(e.req, p, b, "", d.message)
	}
	e.keep(Evaluation{Policy: p.name, Binding: binding, Decisions: []Decision{one}})
}

func (e *evaluation) undecide(p *compiledPolicy, b *compiledBinding, reason string) {
	e.result.Undecided = append(e.result.Undecided, newUndecided(p, b, reason))
}

// newUndecided returns the reason why the result of a policy is not known. b may be nil.
func newUndecided(p *compiledPolicy, b *compiledBinding, reason string) Undecided {
	u := Undecided{Policy: p.name, Reason: reason}
	if b != nil {
		u.Binding = b.name
	}
	return u
}

func paramsName(params map[string]any) string {
	meta, _ := params["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	if namespace, _ := meta["namespace"].(string); namespace != "" {
		return namespace + "/" + name
	}
	return name
}

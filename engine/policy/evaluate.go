package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Evaluate evaluates the policies that match a request and returns the server's response. A denied request is not an
// error: see Result.Allowed and Result.Failure. The error is the cause of ctx, or reports a malformed req or an
// internal error.
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
	res.Work, res.Undecided = int64(maxWork-e.workLeft), e.undecided
	e.reset()
	s.evaluations.Put(e)
	return res, nil
}

// An evaluation is reused unless it fails.
type evaluation struct {
	situation
	response
	request Request
}

// A firstResult is a Result with memory for its first Evaluation, because most requests have one.
type firstResult struct {
	Result
	first [1]Evaluation
}

func (e *evaluation) start(ctx context.Context, set *Set, req *Request) {
	res := &firstResult{Result: Result{Allowed: true}}
	res.Evaluations = res.first[:0]
	e.result, e.request = &res.Result, *req
	e.ctx, e.set, e.req, e.workLeft = ctx, set, &e.request, maxWork
}

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

var (
	errMany  = &undecidedError{fmt.Sprintf("the policies, bindings, and params objects that match have over %d decisions", maxKept)}
	errTexts = &undecidedError{fmt.Sprintf("the messages of the policies have over %d MiB", maxTexts>>20)}
)

func (e *evaluation) policy(p *compiledPolicy) error {
	if len(p.bindings) == 0 {
		return nil
	}
	to, ok := e.matches(p, nil, p.constraints)
	if !ok {
		return nil
	}
	if p.paramKind != nil && !e.set.serves(p.paramKind) {
		e.configurationFails(p, nil, fmt.Sprintf("failed to find resource referenced by paramKind: '%v'", p.paramKind.gvk()))
		return nil
	}
	var all annotations
	if len(p.program.parts[partAnnotation]) > 0 {
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

func (e *evaluation) binding(p *compiledPolicy, b *compiledBinding, to *Equivalent, all annotations) error {
	if _, ok := e.matches(p, b, b.constraints); !ok {
		return nil
	}
	params, failure := e.paramsOf(p, b)
	if failure != "" {
		e.configurationFails(p, b, failure)
	}
	if len(params) == 0 {
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
	list := append(e.result.Evaluations, Evaluation{Policy: p.name, Binding: b.name, of: p, to: objects.equivalent, params: params, Params: paramsName(params)})
	one := &list[len(list)-1]
	r := p.runs.Get().(*run)
	audited := r.validate(&e.situation, p, objects, one, b.actions)
	undecided, err := e.end(r, p.name)
	r.finish()
	p.runs.Put(r)
	if err != nil {
		return err
	}
	if undecided != "" {
		e.undecide(p, b, undecided)
		if !slices.ContainsFunc(one.Decisions, func(d Decision) bool { return len(d.Actions) > 0 }) {
			return nil
		}
	}
	for i := range one.Decisions {
		e.act(e.req, p, b, &one.Decisions[i])
	}
	for _, a := range audited {
		e.texts += len(a.value)
	}
	one.Decisions = append(one.Decisions, e.annotate(e.req, p, b, audited, all)...)
	e.keep(list)
	return nil
}

// keep makes list the evaluations of the result, and counts its last item toward the limits.
func (e *evaluation) keep(list []Evaluation) {
	decisions := list[len(list)-1].Decisions
	e.kept += 1 + len(decisions)
	for i := range decisions {
		e.texts += len(decisions[i].Message)
	}
	e.result.Evaluations = list
}

// configurationFails records an evaluation that cannot begin. b is nil if the policy itself cannot be used.
func (e *evaluation) configurationFails(p *compiledPolicy, b *compiledBinding, failure string) {
	what, binding := "policy", ""
	if b != nil {
		what, binding = "binding", b.name
	}
	d := p.failed(-1, "failed to configure "+what+": "+failure, []Action{ActionDeny})
	if !p.ignore {
		e.deny(e.req, p, b, "", d.Message)
	}
	e.keep(append(e.result.Evaluations, Evaluation{Policy: p.name, Binding: binding, Decisions: []Decision{d}}))
}

func paramsName(params map[string]any) string {
	meta, _ := params["metadata"].(map[string]any)
	return strings.TrimPrefix(textOf(meta, "namespace")+"/"+textOf(meta, "name"), "/")
}

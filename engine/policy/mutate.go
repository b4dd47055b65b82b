package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// How it works: a pass finds the policies, bindings, and params that match the object at its beginning, and
// then runs their mutations in order, each on the result of the previous one. If a mutation succeeds, a second
// pass runs the policies with reinvocationPolicy IfNeeded again. Failures are collected, so that all
// mutations run before the request is denied.

// Mutate evaluates the MutatingAdmissionPolicies that match a request and returns the changed object. Policies run in
// the order of their names, then bindings, then params; the order of a server is not defined. A denied request is not
// an error: see MutationResult.Allowed and MutationResult.Failure. The error is the cause of ctx, or reports a
// malformed req or an internal error.
//
// Mutate does not validate the object. In particular, a policy can change metadata that the server rejects when
// it validates the object afterwards.
func (s *Set) Mutate(ctx context.Context, req Request) (res *MutationResult, err error) {
	m := &mutator{request: req}
	m.ctx, m.set, m.req, m.workLeft = ctx, s, &m.request, maxWork
	defer recovered(&m.at, &res, &err)
	if err := req.check(); err != nil {
		return nil, err
	}
	m.result = &MutationResult{Allowed: true, Object: req.Object}
	if req.Operation == OperationDelete || isVirtual(&req) || isPolicy(&req) {
		return m.result, nil
	}
	for m.again = range 2 {
		m.pass()
		if m.err != nil {
			return nil, m.err
		}
		if m.result.Undecided = m.undecided; len(m.undecided) > 0 {
			m.deny() // by failures so far, whatever the undecided result is
		}
		if !m.result.Allowed || len(m.undecided) > 0 {
			m.result.Object, m.result.Work = nil, int64(maxWork-m.workLeft)
			return m.result, nil
		}
		if !m.mutated {
			break
		}
		if m.again == 0 && req.Between != nil {
			object, ok := req.Between(m.req.Object)
			if !ok {
				return &MutationResult{Evaluations: m.result.Evaluations, Work: int64(maxWork - m.workLeft)}, nil
			}
			if object != nil {
				m.req.Object = object
				m.requireReinvocation()
			}
		}
	}
	m.result.Work = int64(maxWork - m.workLeft)
	m.result.Object, m.result.Changed = m.req.Object, !sameJSON(req.Object, m.req.Object)
	if !m.result.Changed {
		m.result.Object = req.Object
	}
	return m.result, nil
}

type mutator struct {
	situation
	request Request // with the current object
	at      string  // the policy in evaluation, for internal errors
	result  *MutationResult
	err     error // ends the evaluation

	again int // 1 in the second pass
	// mutated is set if the server runs a second pass.
	mutated bool
	// previous holds the policies with reinvocationPolicy IfNeeded that ran since the last change, and
	// reinvoked the policies that run in the second pass.
	previous, reinvoked map[invocationKey]bool
	failures            []policyFailure
}

type invocationKey struct{ policy, binding, params string }

type policyFailure struct {
	text   string
	reason metav1.StatusReason
}

type invocation struct {
	policy  *compiledPolicy
	binding *compiledBinding
	params  map[string]any // nil without params
	objects *versionedObject
	to      *Equivalent // see constraints.matches
}

// A versionedObject is the object in a version, which all policies that match the version share.
type versionedObject struct {
	converted
	dirty bool // a mutation succeeded
}

func (v *invocation) key() invocationKey {
	return invocationKey{v.policy.name, v.binding.name, paramsName(v.params)}
}

func (m *mutator) stopped() bool {
	return m.err != nil || m.result.Failure != nil || len(m.undecided) > 0
}

func (m *mutator) pass() {
	m.failures = nil
	m.converted = nil // of the previous object
	invocations := m.match()
	var last *versionedObject
	for i := range invocations {
		if m.stopped() {
			return
		}
		if objects := m.invoke(&invocations[i]); objects != nil {
			last = objects
		}
	}
	if m.stopped() {
		return
	}
	if last != nil && last.dirty {
		m.requireReinvocation()
		if err := m.store(last); err != nil {
			m.crash(apierrors.NewInternalError(fmt.Errorf("failed to convert object: %w", err)))
			return
		}
	}
	m.deny()
}

func (m *mutator) requireReinvocation() {
	m.mutated = true
	if m.reinvoked == nil {
		m.reinvoked = map[invocationKey]bool{}
	}
	for key := range m.previous {
		m.reinvoked[key] = true
	}
	clear(m.previous)
}

func (m *mutator) match() (list []invocation) {
	var objects []*versionedObject
	for _, p := range m.set.mutating {
		m.at = p.name
		if len(p.bindings) == 0 {
			continue
		}
		to, ok := m.matches(p, nil, p.constraints)
		for _, b := range p.bindings {
			if !ok || len(m.undecided) > 0 {
				break
			}
			if list = append(list, m.matchBinding(p, b, to, &objects)...); len(list) > maxKept {
				m.undecide(p, b, errMany.reason)
			}
		}
		if len(m.undecided) > 0 {
			return nil
		}
	}
	return list
}

func (m *mutator) matchBinding(p *compiledPolicy, b *compiledBinding, to *Equivalent, objects *[]*versionedObject) (list []invocation) {
	if _, ok := m.matches(p, b, b.constraints); !ok {
		return nil
	}
	object := m.versioned(to, objects)
	if object.err != nil {
		m.configurationFails(p, nil, "failed to configure policy: "+object.err.Error())
		return nil
	}
	params, failure := m.paramsOf(p, b)
	if failure != "" {
		m.configurationFails(p, b, "failed to configure binding: "+failure)
	}
	for _, one := range params {
		list = append(list, invocation{p, b, one, object, to})
	}
	return list
}

func (m *mutator) versioned(to *Equivalent, objects *[]*versionedObject) *versionedObject {
	for _, o := range *objects {
		if o.kind == m.req.version(to).Kind {
			return o
		}
	}
	o := &versionedObject{converted: *m.to(to)}
	*objects = append(*objects, o)
	return o
}

func (m *mutator) configurationFails(p *compiledPolicy, b *compiledBinding, text string) {
	e := MutationEvaluation{Policy: p.name, Failure: text, Ignored: p.ignore, Reinvoked: m.again > 0}
	if b != nil {
		e.Binding = b.name
	}
	m.result.Evaluations = append(m.result.Evaluations, e)
	m.fail(p, b, text, "")
}

// fail records a failure, which denies the request unless it is ignored. b is nil if the policy itself cannot be
// used.
func (m *mutator) fail(p *compiledPolicy, b *compiledBinding, text string, reason metav1.StatusReason) {
	m.texts += len(text)
	switch {
	case p.ignore:
		return
	case b == nil:
		text = fmt.Sprintf("policy %q denied request: %s", p.name, text)
	default:
		text = fmt.Sprintf("policy '%s' with binding '%s' denied request: %s", p.name, b.name, text)
	}
	m.failures = append(m.failures, policyFailure{text, reason})
}

// crash ends the evaluation with a Status that no failurePolicy ignores.
func (m *mutator) crash(status *apierrors.StatusError) {
	m.result.Allowed, m.result.Failure = false, &status.ErrStatus
}

func (m *mutator) store(last *versionedObject) error {
	object := last.object
	version := schema.FromAPIVersionAndKind(textOf(object, "apiVersion"), textOf(object, "kind")).GroupVersion()
	own := m.req.Kind.GroupVersion()
	if version.Group != own.Group {
		kind := version.WithKind(textOf(object, "kind"))
		return fmt.Errorf("%v is unstructured and is not suitable for converting to %q", kind, own)
	}
	if version != own {
		i := slices.IndexFunc(m.req.Equivalents, func(e Equivalent) bool { return e.Kind.GroupVersion() == version })
		if i < 0 {
			return fmt.Errorf("request to convert CR from an invalid group/version: %s", version)
		}
		var err error
		if object, err = convert(object, m.req.Equivalents[i].Revert, m.req.Kind); err != nil {
			return err
		}
	}
	m.req.Object = object
	return nil
}

func (m *mutator) deny() {
	for _, f := range m.failures {
		if m.result.Failure == nil {
			status := apierrors.NewForbidden(m.req.Resource.GroupResource(), m.req.shownName(), errors.New(f.text)).ErrStatus
			status.Message, status.Reason = f.text, cmp.Or(f.reason, status.Reason)
			m.result.Failure, m.result.Allowed = &status, false
		}
		m.result.Failure.Details.Causes = append(m.result.Failure.Details.Causes, metav1.StatusCause{Message: f.text})
	}
}

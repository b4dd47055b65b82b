package policy

import (
	"errors"
	"fmt"

	"github.com/google/cel-go/common/types/ref"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
)

// invoke returns the object on which the mutations ran, or nil.
func (m *mutator) invoke(v *invocation) (ran *versionedObject) {
	p := v.policy
	m.at = p.name
	r := p.runs.Get().(*run)
	defer p.runs.Put(r)
	defer r.finish()
	if m.kept += 1 + len(r.program.parts[partMutation]); !m.proceed(p, v.binding, evaluationWork) {
		return nil
	}
	e := MutationEvaluation{Policy: p.name, Binding: v.binding.name, Params: paramsName(v.params), Reinvoked: m.again > 0, Ignored: p.ignore}
	runs := m.conditionsHold(r, v, &e)
	if !m.settle(r, v) {
		return nil
	}
	if m.again > 0 && !m.reinvoked[v.key()] {
		if e.Failure != "" {
			m.result.Evaluations = append(m.result.Evaluations, e)
		}
		return nil
	}
	if runs {
		ran = m.mutations(r, v, &e)
	}
	m.result.Evaluations = append(m.result.Evaluations, e)
	return ran
}

// settle reports whether the results of r are known. If not, it ends the evaluation.
func (m *mutator) settle(r *run, v *invocation) bool {
	undecided, err := m.end(r, v.policy.name)
	if m.err = err; undecided != "" {
		m.undecide(v.policy, v.binding, undecided)
	}
	return err == nil && undecided == ""
}

func (m *mutator) conditionsHold(r *run, v *invocation, e *MutationEvaluation) bool {
	to := &v.objects.converted
	m.begin(r, to, v.params)
	name, failure, excluded, cost := r.conditions(&m.situation, to)
	e.MatchCost = cost
	m.result.MatchCost = addCost(m.result.MatchCost, uint64(cost))
	switch {
	case excluded:
		e.Excluded, e.Condition = true, name
	case failure != "" && v.policy.ignore:
		e.Excluded = true
	case failure != "":
		e.Failure, e.Condition = failure, name
		m.failing(v, e, -1)
		m.fail(v.policy, v.binding, failure, metav1.StatusReasonInvalid)
	default:
		return true
	}
	return false
}

// mutations returns nil if the evaluation ended.
func (m *mutator) mutations(r *run, v *invocation, e *MutationEvaluation) (ran *versionedObject) {
	before := v.objects.object
	r.bindMutations(&m.situation, m.req.version(v.to).Resource, &v.objects.converted)
	for _, x := range r.program.parts[partMutation] {
		ran = v.objects
		if ran.object == nil {
			continue // the request has no object
		}
		out := MutationOutcome{PatchType: x.patch}
		err := m.mutate(r, v, x, &out)
		if !m.settle(r, v) {
			return nil
		}
		var status *apierrors.StatusError
		var undecided *undecidedError
		switch {
		case errors.As(err, &undecided):
			m.undecide(v.policy, v.binding, undecided.reason)
			return nil
		case errors.As(err, &status):
			out.Failure = status.Error()
			m.failing(v, e, len(e.Mutations))
			e.add(out)
			m.crash(status)
			return nil
		case err != nil:
			out.Failure = err.Error()
			m.failing(v, e, len(e.Mutations))
			m.fail(v.policy, v.binding, out.Failure, metav1.StatusReasonInvalid)
			if m.texts > maxTexts {
				m.undecide(v.policy, v.binding, errTexts.reason)
				return nil
			}
		}
		e.add(out)
	}
	if !sameJSON(before, v.objects.object) {
		e.Changed = true
		m.requireReinvocation()
	}
	if v.policy.body.reinvoke {
		if m.previous == nil {
			m.previous = map[invocationKey]bool{}
		}
		m.previous[v.key()] = true
	}
	return ran
}

func (e *MutationEvaluation) add(out MutationOutcome) {
	e.Mutations = append(e.Mutations, out)
	e.Cost = addCost(e.Cost, uint64(out.Cost))
}

// failing records the result of Failing for the first error of e.
func (m *mutator) failing(v *invocation, e *MutationEvaluation, index int) {
	if e.failing != nil {
		return
	}
	f := &failing{request: m.request, index: index}
	f.request.Object, f.request.OldObject = v.objects.object, v.objects.oldObject
	f.evaluation = Evaluation{Policy: e.Policy, of: v.policy, params: v.params}
	f.evaluation.Decisions = []Decision{{Validation: index, Condition: e.Condition}}
	if v.to != nil { // the objects are converted
		to := *v.to
		to.Convert = func(object map[string]any) (map[string]any, error) { return object, nil }
		f.evaluation.to = &to
	}
	e.failing = f
}

// mutate returns a StatusError for a failure that no failurePolicy ignores.
func (m *mutator) mutate(r *run, v *invocation, x *expression, out *MutationOutcome) error {
	if x.program == nil {
		return errors.New(x.failure)
	}
	r.bindUsed(objectRoot, v.objects.object)
	budget := m.set.settings.Limits.PerObject
	results, remaining, failure := r.group([]*expression{x}, budget)
	if failure != "" {
		out.Cost = budget
		return errors.New(failure)
	}
	out.Cost = budget - remaining
	if results[0].failure != "" {
		return errors.New(results[0].failure)
	}
	patched, err := m.patch(r, v, out, results[0].value)
	if err != nil {
		return err
	}
	if def := m.req.version(v.to).Default; def != nil {
		def(patched)
	}
	out.Changed = !sameJSON(v.objects.object, patched)
	v.objects.object, v.objects.dirty = patched, true
	return nil
}

// patch returns the object with a patch applied. It shares no memory with the previous object.
func (m *mutator) patch(r *run, v *invocation, out *MutationOutcome, value ref.Val) (patched map[string]any, err error) {
	if !eval.SizeAtMost(value, maxMutated) {
		return nil, &undecidedError{fmt.Sprintf("the patch has over %d MiB", maxMutated>>20)}
	}
	defer func() {
		if p := recover(); p != nil {
			patched, err = nil, &undecidedError{fmt.Sprintf("an API server crashes on the patch: %v", p)}
		}
	}()
	var result map[string]any
	if out.PatchType == PatchJSON {
		patch, err := patchOf(value)
		if err == nil {
			patched, err = applyPatch(v.objects.object, patch, r.spend)
		}
		if err == nil {
			err = m.req.version(v.to).Schema.checkFields(patched)
		}
		if !errors.Is(err, jsonpatch.ErrTestFailed) {
			return patched, err
		}
		out.TestFailed, result = true, v.objects.object
	} else if result, err = m.applyConfiguration(r, v, value); err != nil {
		return nil, err
	}
	return r.copy(result)
}

func (m *mutator) applyConfiguration(r *run, v *invocation, value ref.Val) (map[string]any, error) {
	version := m.req.version(v.to)
	if version.Schema == nil {
		return nil, &undecidedError{fmt.Sprintf("ApplyConfiguration needs the schema of %v: set Request.Schema", version.Kind)}
	}
	object, ok := value.(*celenv.ObjectValue)
	if !ok {
		return nil, fmt.Errorf("unsupported return type from ApplyConfiguration expression: %v", value.Type())
	}
	return version.Schema.apply(v.objects.object, object, version.Kind, m.set.settings.version.Minor, r.spend)
}

// A MutationResult is the effect of the MutatingAdmissionPolicies on a request.
type MutationResult struct {
	// Allowed is set if no policy denies the request, and Request.Between does not end Mutate.
	Allowed bool
	// Failure is the Status that the server returns if a policy denies the request.
	Failure *metav1.Status
	// Object is the object after all mutations, in the version of the request. It is the object of the request if
	// Changed is not set, and a copy otherwise. It is nil if the request has no object, is denied, or is undecided,
	// or if Request.Between ends Mutate.
	Object map[string]any
	// Changed is set if Object differs from the object of the request.
	Changed bool
	// Evaluations holds the evaluations of policies, bindings, and params objects that match the request, including
	// evaluations that matchConditions exclude. A policy that runs again has two.
	Evaluations []MutationEvaluation
	// MatchCost is the cost of all matchConditions in CEL cost units. It includes matchConditions that the server
	// evaluates again for policies that do not run again.
	MatchCost int64
	// Undecided holds the evaluation whose result is not known. Later evaluations depend on it, so they do not run.
	// If Failure is also set, an earlier policy denies the request in any case.
	Undecided []Undecided
	// Work is the work of the mutations, in units of about a nanosecond. It does not depend on the machine.
	Work int64
}

// A MutationEvaluation is the evaluation of a policy with a binding and a params object.
type MutationEvaluation struct {
	Policy, Binding string
	// Params is the namespace and name, or the name, of the params object. It is "" without params.
	Params string
	// Reinvoked is set in the second pass, in which policies run again after a mutation.
	Reinvoked bool
	// Excluded and Condition are as in Evaluation. If Failure is about matchConditions, Condition is the first that
	// fails.
	Excluded  bool
	Condition string
	// MatchCost is the cost of matchConditions in CEL cost units, and Cost the cost of all mutations.
	// The budget limits each mutation.
	Cost, MatchCost int64
	// Mutations holds the results of the mutations that ran.
	Mutations []MutationOutcome
	// Changed is set if the mutations changed the object.
	Changed bool
	// Failure is the server's error about the policy, the binding, or matchConditions, or "".
	Failure string
	// Ignored is set if failurePolicy is Ignore.
	Ignored bool

	failing *failing
}

type failing struct {
	request    Request
	evaluation Evaluation
	index      int
}

// Failing returns the arguments with which Set.Explain explains the first error of e. index is -1 for
// matchConditions. ok is false if no expression or patch failed.
func (e *MutationEvaluation) Failing() (req Request, of *Evaluation, index int, ok bool) {
	if f := e.failing; f != nil {
		return f.request, &f.evaluation, f.index, true
	}
	return Request{}, nil, -1, false
}

// A MutationOutcome is the result of a mutation.
type MutationOutcome struct {
	PatchType PatchType
	// Changed is set if the mutation changed the object.
	Changed bool
	// TestFailed is set if a test operation of a JSON patch failed. The patch then has no effect.
	TestFailed bool
	// Failure is the server's error if the mutation failed.
	Failure string
	// Cost is in CEL cost units.
	Cost int64
}

package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/types/known/structpb"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	strictjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
)

// invoke runs the mutations of a policy. It returns the object if mutations ran.
func (m *mutator) invoke(s *situation, v *invocation) (ran *versionedObject) {
	p := v.policy
	m.at = p.name
	r := p.runs.Get().(*run)
	defer p.runs.Put(r)
	defer r.finish()
	r.start(m.ctx, m.workLeft)
	r.authority.decide = m.set.authorize
	m.kept += 1 + len(r.program.mutations)
	if err := m.limit(r); err != nil {
		m.undecide(p, v.binding, err.reason)
		return nil
	}
	e := MutationEvaluation{Policy: p.name, Binding: v.binding.name, Params: paramsName(v.params), Reinvoked: m.again > 0, Ignored: p.ignore}
	runs := m.conditionsHold(s, r, v, &e)
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
		ran = m.mutations(s, r, v, &e)
	}
	m.result.Evaluations = append(m.result.Evaluations, e)
	return ran
}

// limit adds the work of an evaluation. It returns the reason if a limit is reached.
func (m *mutator) limit(r *run) *undecidedError {
	switch {
	case r.spend(evaluationWork) != nil:
		return errWork
	case m.kept > maxKept:
		return errMany
	case m.texts > maxTexts:
		return errTexts
	}
	return nil
}

// settle ends the evaluation if the results of r are not known, and returns false then.
func (m *mutator) settle(r *run, v *invocation) bool {
	m.workLeft = r.workLeft
	undecided := r.whyUndecided()
	switch {
	case r.bug != nil:
		m.err = internal(v.policy.name, r.bug)
	case m.ctx.Err() != nil:
		m.err = context.Cause(m.ctx)
	case undecided != "":
		m.undecide(v.policy, v.binding, undecided)
	default:
		return true
	}
	return false
}

func (m *mutator) conditionsHold(s *situation, r *run, v *invocation, e *MutationEvaluation) bool {
	to := &v.objects.converted
	r.bindRequest(s, to, v.params)
	if len(r.program.conditions) == 0 {
		return true
	}
	r.bindUsed(namespaceRoot, nil)
	r.bindRequestValue(s, s.req.Resource, to)
	name, failure, excluded, cost := r.conditions(m.set.settings.matchBudget)
	e.MatchCost = cost
	m.result.MatchCost = addCost(m.result.MatchCost, uint64(cost))
	switch {
	case excluded:
		e.Excluded, e.Condition = true, name
	case failure != "" && v.policy.ignore:
		e.Excluded = true
	case failure != "":
		e.Failure = failure
		m.fail(v.policy, v.binding, failure, metav1.StatusReasonInvalid)
	default:
		return true
	}
	return false
}

// mutations runs the mutations of a policy in order. It returns the object, or nil if there is none.
func (m *mutator) mutations(s *situation, r *run, v *invocation, e *MutationEvaluation) (ran *versionedObject) {
	before := v.objects.object
	r.bindNamespace(s, s.fullNamespace)
	r.bindRequestValue(s, v.target.resource, &v.objects.converted)
	for i := range r.program.mutations {
		ran = v.objects
		if ran.object == nil {
			continue // the request has no object
		}
		out := MutationOutcome{PatchType: v.policy.mutations[i]}
		err := m.mutate(r, v, i, &out)
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
			e.add(out)
			m.crash(status)
			return nil
		case err != nil:
			out.Failure = err.Error()
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
	if v.policy.reinvoke {
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

// mutate runs a mutation. The error is an *undecidedError if its result is not known, and a StatusError if no
// failurePolicy ignores it.
func (m *mutator) mutate(r *run, v *invocation, index int, out *MutationOutcome) error {
	x := r.program.mutations[index]
	if x.program == nil {
		return errors.New(x.failure)
	}
	r.bindUsed(objectRoot, v.objects.object)
	budget := m.set.settings.budget
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
	if def := v.defaulter(&m.req); def != nil {
		def(patched)
	}
	out.Changed = !sameJSON(v.objects.object, patched)
	v.objects.object, v.objects.dirty = patched, true
	return nil
}

func (v *invocation) defaulter(req *Request) func(map[string]any) {
	if v.target.equivalent != nil {
		return v.target.equivalent.Default
	}
	return req.Default
}

func (v *invocation) schema(req *Request) *MergeSchema {
	if v.target.equivalent != nil {
		return v.target.equivalent.Schema
	}
	return req.Schema
}

// patch returns the object with a patch applied. It shares no memory with the object before.
func (m *mutator) patch(r *run, v *invocation, out *MutationOutcome, value ref.Val) (patched map[string]any, err error) {
	if !eval.SizeAtMost(value, maxMutated) {
		return nil, &undecidedError{fmt.Sprintf("the patch has over %d MiB", maxMutated>>20)}
	}
	defer func() {
		if p := recover(); p != nil {
			patched, err = nil, &undecidedError{fmt.Sprintf("an API server crashes on the patch: %v", p)}
		}
	}()
	var result any
	integers := out.PatchType == PatchJSON
	if integers {
		result, err = m.patchJSON(r, v.objects.object, value)
		if errors.Is(err, errTestFailed) {
			out.TestFailed, integers = true, false
			result, err = v.objects.object, nil
		}
	} else {
		result, err = m.applyConfiguration(r, v, value)
	}
	if err != nil {
		return nil, err
	}
	copied, err := r.copy(result, integers)
	if err != nil {
		return nil, err
	}
	if integers {
		if patched, err = decoded(copied); err == nil {
			err = v.schema(&m.req).checkFields(patched)
		}
		return patched, err
	}
	patched, _ = copied.(map[string]any)
	return patched, nil
}

func (m *mutator) applyConfiguration(r *run, v *invocation, value ref.Val) (any, error) {
	merge := v.schema(&m.req)
	if merge == nil {
		return nil, &undecidedError{fmt.Sprintf("ApplyConfiguration needs the schema of %v: set Request.Schema", v.target.kind)}
	}
	object, ok := value.(*celenv.ObjectValue)
	if !ok {
		return nil, fmt.Errorf("unsupported return type from ApplyConfiguration expression: %v", value.Type())
	}
	merged, err := merge.apply(v.objects.object, object, v.target.kind, m.set.settings.version.Minor, r.spend)
	return merged, err
}

// patchJSON applies the JSON patch that an expression returned.
func (m *mutator) patchJSON(r *run, object map[string]any, value ref.Val) (any, error) {
	list, ok := value.(traits.Lister)
	if !ok {
		return nil, errors.New("type mismatch: JSONPatchType.expression should evaluate to array")
	}
	var operations []patchOperation
	for it := list.Iterator(); it.HasNext() == celtypes.True; {
		item := it.Next()
		given, ok := item.(*celenv.JSONPatchValue)
		if !ok {
			_, err := item.ConvertToNative(reflect.TypeFor[*celenv.JSONPatchValue]())
			return nil, fmt.Errorf("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch: %w", err)
		}
		o := patchOperation{op: given.Op, path: given.Path, from: given.From}
		if given.Val != nil {
			v, err := patchValue(given.Val)
			if err != nil {
				return nil, err
			}
			o.value = &patchNode{value: v}
		}
		operations = append(operations, o)
	}
	out, err := applyPatch(object, operations, m.set.settings.version.Minor, r.spend)
	var undecided *undecidedError
	var status *apierrors.StatusError
	if err != nil && !errors.As(err, &undecided) && !errors.As(err, &status) {
		err = fmt.Errorf("JSON Patch: %w", err)
	}
	return out, err
}

// patchValue returns the value of an operation as decoded JSON. Like the server, it converts numbers to doubles.
func patchValue(v ref.Val) (out any, err error) {
	if out, ok := plainValue(v); ok {
		return out, nil
	}
	if object, ok := v.(*celenv.ObjectValue); ok {
		if err := object.CheckTypes(); err != nil {
			return nil, fmt.Errorf("type mismatch: %w", err)
		}
	}
	native, err := v.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	var data []byte
	if err == nil {
		data, err = json.Marshal(native)
	}
	if err != nil {
		return nil, fmt.Errorf("JSONPath valueExpression evaluated to a type that could not marshal to JSON: %w", err)
	}
	err = strictjson.UnmarshalCaseSensitivePreserveInts(data, &out)
	return out, err
}

// maxExact is the largest integer for which all smaller ones are doubles.
const maxExact = 1<<53 - 1

// plainValue is patchValue for the most common values. It returns false for others.
func plainValue(v ref.Val) (any, bool) {
	switch v := v.(type) {
	case celtypes.String:
		return string(v), utf8.ValidString(string(v))
	case celtypes.Bool:
		return bool(v), true
	case celtypes.Int:
		return int64(v), -maxExact <= v && v <= maxExact
	case celtypes.Null:
		return nil, true
	}
	return nil, false
}

// decoded checks the result of a JSON patch as the server does when it decodes it.
func decoded(patched any) (map[string]any, error) {
	object, _ := patched.(map[string]any)
	version, hasVersion := object["apiVersion"].(string)
	if kind, ok := object["kind"].(string); ok && hasVersion && kind != "" {
		if _, err := schema.ParseGroupVersion(version); err == nil {
			return object, nil
		}
	}
	header := map[string]any{}
	for _, name := range []string{"apiVersion", "kind"} {
		if v, ok := object[name]; ok {
			header[name] = v
		}
	}
	var checked any = header
	if object == nil {
		checked = patched
	}
	data, err := json.Marshal(checked)
	if err != nil {
		return nil, err
	}
	var typeMeta struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := json.Unmarshal(data, &typeMeta); err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("couldn't get version/kind; json parse error: %w", err))
	}
	if _, err := schema.ParseGroupVersion(typeMeta.APIVersion); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if typeMeta.Kind == "" {
		body, err := json.Marshal(patched)
		if err != nil {
			return nil, err
		}
		return nil, apierrors.NewInternalError(runtime.NewMissingKindErr(string(body)))
	}
	return object, nil
}

// Package mutating implements the names that the tests of the API server's package mutating use.
package mutating

import (
	"context"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"

	"github.com/celadon-cel/celadon/conformance/policies/tables"
)

// PolicyHook is the API server's.
type PolicyHook = upstream.PolicyHook

func compilePolicy(p *admissionregistration.MutatingAdmissionPolicy) (e upstream.PolicyEvaluator) {
	for _, m := range p.Spec.Mutations {
		e.Mutators = append(e.Mutators, &tables.Patcher{Policy: p, Mutation: m})
	}
	return e
}

// A Dispatcher mutates objects with engine/policy.
type Dispatcher struct{}

// NewDispatcher returns a Dispatcher, and ignores its arguments.
func NewDispatcher(_, _, _ any) Dispatcher { return Dispatcher{} }

// Start does nothing.
func (Dispatcher) Start(context.Context) error { return nil }

// Dispatch mutates the object of attributes, which are versioned.
func (Dispatcher) Dispatch(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, hooks []PolicyHook) error {
	var objects []runtime.Object
	for _, h := range hooks {
		objects = append(objects, h.Policy)
		for _, b := range h.Bindings {
			b = b.DeepCopy()
			b.Name += "-" + h.Policy.Name // the tests use a name several times
			objects = append(objects, b)
		}
	}
	if len(hooks) > 0 {
		for _, params := range hooks[0].ParamInformer.Informer().GetStore().List() {
			objects = append(objects, params.(runtime.Object))
		}
	}
	attr := a.(*admission.VersionedAttributes)
	out, err := tables.Mutate(ctx, objects, attr, a.GetResource(), o.GetObjectDefaulter(), map[string]any{"metadata": map[string]any{"name": a.GetNamespace()}})
	if err == nil {
		out.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as after a conversion
		attr.VersionedObject.Set(out)
	}
	return err
}

var _ = compilePolicy // used by the test files of k8s.io/apiserver

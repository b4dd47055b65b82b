// Package tables runs the API server's own table tests of mutating policies with engine/policy. Its packages patch and
// mutating have the names that these tests use, and a test adds the test files of k8s.io/apiserver to them.
package tables

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// A Patcher implements patch.Patcher for a mutation of a policy.
type Patcher struct {
	Policy   *admissionregistration.MutatingAdmissionPolicy
	Mutation admissionregistration.Mutation
}

// Patch implements patch.Patcher.
func (p *Patcher) Patch(ctx context.Context, r patch.Request, _ int64) (runtime.Object, error) {
	alone := p.Policy.DeepCopy()
	alone.Spec.Mutations = []admissionregistration.Mutation{p.Mutation}
	alone.Spec.MatchConstraints = &admissionregistration.MatchResources{ResourceRules: []admissionregistration.NamedRuleWithOperations{{
		RuleWithOperations: admissionregistration.RuleWithOperations{
			Operations: []admissionregistration.OperationType{"*"},
			Rule:       admissionregistration.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}},
		},
	}}}
	binding := &admissionregistration.MutatingAdmissionPolicyBinding{Spec: admissionregistration.MutatingAdmissionPolicyBindingSpec{PolicyName: alone.Name}}
	binding.Name = alone.Name
	objects := []runtime.Object{alone, binding}
	if params := r.OptionalVariables.VersionedParams; params != nil {
		kind := &admissionregistration.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
		given := params.(*corev1.ConfigMap).DeepCopy()
		given.Name, given.Namespace = "params", "ns"
		given.SetGroupVersionKind(schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind))
		allow := admissionregistration.AllowAction
		alone.Spec.ParamKind, binding.Spec.ParamRef = kind, &admissionregistration.ParamRef{Name: given.Name, Namespace: given.Namespace, ParameterNotFoundAction: &allow}
		objects = append(objects, given)
	}
	var namespace map[string]any
	if r.Namespace != nil {
		var err error
		if namespace, err = fields(r.Namespace); err != nil {
			return nil, err
		}
	}
	out, err := Mutate(ctx, objects, r.VersionedAttributes, r.MatchedResource, nil, namespace)
	if err != nil {
		_, text, _ := strings.Cut(err.Error(), "denied request: ")
		if text == "" {
			text = err.Error()
		}
		return nil, errors.New(text)
	}
	return out, nil
}

// Mutate returns the object of attr, which is of a built-in kind, after the mutations of the
// policies among objects.
func Mutate(ctx context.Context, objects []runtime.Object, attr *admission.VersionedAttributes, resource schema.GroupVersionResource, defaulter runtime.ObjectDefaulter, namespace map[string]any) (runtime.Object, error) {
	documents := make([]map[string]any, len(objects))
	for i, o := range objects {
		var err error
		if documents[i], err = fields(complete(o)); err != nil {
			return nil, err
		}
	}
	set, err := policy.Compile(documents, policy.Config{Complete: true, Authorize: func(policy.Access) policy.Authorization { return policy.Authorization{Known: true, Allowed: true} }})
	var invalid *policy.CompileErrors
	if err != nil && !errors.As(err, &invalid) {
		return nil, err
	}
	for _, e := range errorsOf(invalid) {
		if e.Dropped {
			return nil, e
		}
	}
	given := attr.VersionedObject.Object()
	req := policy.Request{Operation: policy.OperationCreate, Resource: resource, Kind: attr.VersionedKind, Name: attr.GetName(), Namespace: attr.GetNamespace(), NamespaceObject: namespace}
	if req.Object, err = fields(given); err != nil {
		return nil, err
	}
	req.Object["apiVersion"], req.Object["kind"] = attr.VersionedKind.GroupVersion().String(), attr.VersionedKind.Kind
	if old := attr.VersionedOldObject.Object(); old != nil {
		req.Operation = policy.OperationUpdate
		if req.OldObject, err = fields(old); err != nil {
			return nil, err
		}
	}
	if namespace != nil && req.Namespace == "" {
		meta, _ := namespace["metadata"].(map[string]any)
		req.Namespace, _ = meta["name"].(string)
	}
	if req.Namespace == "" && len(objects) > 2 {
		req.Namespace = "ns"
	}
	catalog, err := builtin.Newest()
	if err != nil {
		return nil, err
	}
	props, err := catalog.Schema(attr.VersionedKind)
	if err != nil {
		return nil, err
	}
	req.Schema = policyrequest.NewMergeable(props).Schema.Strict()
	if defaulter != nil {
		req.Default = func(object map[string]any) {
			typed := given.DeepCopyObject()
			if convert(object, typed) == nil {
				defaulter.Default(typed)
				if set, err := fields(typed); err == nil {
					set["apiVersion"], set["kind"] = object["apiVersion"], object["kind"]
					clear(object)
					for name, field := range set {
						object[name] = field
					}
				}
			}
		}
	}
	res, err := set.Mutate(ctx, req)
	switch {
	case err != nil:
		return nil, err
	case res.Failure != nil:
		return nil, errors.New(res.Failure.Message)
	case len(res.Undecided) > 0:
		return nil, errors.New("undecided: " + res.Undecided[0].Reason)
	}
	out := given.DeepCopyObject()
	err = convert(res.Object, out)
	out.GetObjectKind().SetGroupVersionKind(given.GetObjectKind().GroupVersionKind())
	return out, err
}

func fields(o runtime.Object) (map[string]any, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return engine.Decode(data)
}

// convert decodes object into out, whose previous fields it clears.
func convert(object map[string]any, out runtime.Object) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	zero := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{}, out)
	return errors.Join(zero, json.Unmarshal(data, out))
}

func complete(o runtime.Object) runtime.Object {
	fail := admissionregistration.Fail
	switch o := o.(type) {
	case *admissionregistration.MutatingAdmissionPolicy:
		o = o.DeepCopy()
		o.TypeMeta = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingAdmissionPolicy"}
		if o.Name == "" {
			o.Name = "p"
		}
		if o.Spec.FailurePolicy == nil {
			o.Spec.FailurePolicy = &fail
		}
		if o.Spec.ReinvocationPolicy == "" {
			o.Spec.ReinvocationPolicy = admissionregistration.NeverReinvocationPolicy
		}
		return o
	case *admissionregistration.MutatingAdmissionPolicyBinding:
		o = o.DeepCopy()
		o.TypeMeta = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingAdmissionPolicyBinding"}
		if o.Name == "" {
			o.Name, o.Spec.PolicyName = "p", "p"
		}
		if ref := o.Spec.ParamRef; ref != nil && ref.ParameterNotFoundAction == nil {
			allow := admissionregistration.AllowAction
			ref.ParameterNotFoundAction = &allow
		}
		return o
	case *corev1.ConfigMap:
		o = o.DeepCopy()
		o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
		return o
	}
	return o
}

func errorsOf(invalid *policy.CompileErrors) []*policy.CompileError {
	if invalid == nil {
		return nil
	}
	return invalid.Errors
}

package ruletest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// How it works: a policyrequest.Review takes the write through admission as check does, with one
// difference: the validating policies are evaluated after the write, so that mutation testing can
// repeat that. Their response is joined with the result, so the expectations about causes and
// warnings hold for all of them.

type admitted struct {
	*policyrequest.Review
	to policyrequest.Subject
	// kind is set for a built-in kind, and sub for a subresource of one.
	kind *policyrequest.Builtin
	sub  *policyrequest.Subresource
}

// If the write cannot be made, review sets t.problem and returns nil.
func (b *own) review(t *trial, req engine.Request) *admitted {
	given := req.Object
	if given == nil {
		given = req.OldObject
	}
	name, namespace := names(given)
	a := &admitted{Review: &policyrequest.Review{User: b.admission.user, Subresource: b.subresource, Name: name, Now: t.cfg.Now, Collection: b.admission.collection}}
	a.Builtins = &policyrequest.Builtins{Server: t.cfg.Server}
	a.Operation = policyrequest.OperationOf(given, req.OldObject)
	if b.admission.operation == opDelete {
		a.Operation = policy.OperationDelete
	}
	var err error
	if a.Set = t.set; t.set != nil && b.admission.isComplete {
		if a.Set, err = t.set.WithParams(b.admission.params, true); err != nil {
			t.problem = err.Error()
			return nil
		}
	}
	gvk := (&unstructured.Unstructured{Object: given}).GroupVersionKind()
	namespaced := false
	if t.on.builtins == nil {
		if !slices.Contains([]string{"", "status", policyrequest.ScaleName}, b.subresource) {
			t.problem = fmt.Sprintf("subresource %s: custom resources have none of that name: want status or scale", b.subresource)
			return nil
		}
		a.to, namespaced = t.on.custom.Subject(t.ctx, gvk.GroupVersion().String(), given, req.OldObject), t.on.custom.Namespaced()
	} else {
		if a.kind, err = t.on.builtins.Kind(gvk, engine.Config{KubeVersion: t.on.kubeVersion}); err != nil {
			t.fail(err)
			return nil
		}
		if a.kind == nil || !a.kind.Exact() { // a Binding has a resource as well
			a.sub = t.on.builtins.Subresource(gvk)
		}
		switch {
		case a.sub != nil:
			a.kind, a.to, namespaced = nil, a.sub.Subject(), a.sub.Of.Namespaced
			a.Operation, a.Subresource = a.sub.Operation(), a.sub.Name
		case a.kind == nil:
			t.problem = fmt.Sprintf("%s %s is not a built-in kind: set crd in the suite", gvk.GroupVersion(), gvk.Kind)
			return nil
		default:
			a.to, namespaced = a.kind.Subject(given, req.OldObject), a.kind.Namespaced
			namespace = a.kind.Namespace(b.namespaceOf(namespace), name)
		}
	}
	if b.admission.operation == opConnect && a.Operation != policy.OperationConnect {
		t.problem = "operation connect: the object is not that of a connection: want an object such as a PodExecOptions"
		return nil
	}
	if a.Namespace = namespace; namespaced {
		a.Namespace = cmp.Or(b.namespaceOf(namespace), metav1.NamespaceDefault)
	}
	var ok bool
	if a.NamespaceObject, ok = b.namespaceObject(t, a.Namespace, namespaced); !ok {
		return nil
	}
	return a
}

// write returns the result of the case's write without validating policies, or nil without a verdict.
func (b *own) write(t *trial, req engine.Request) *engine.Result {
	a := b.review(t, req)
	switch {
	case a == nil:
		return nil
	case a.sub != nil:
		object := a.sub.Object(req.Object)
		changed, ok, err := a.Mutate(t.ctx, &a.to, object, nil)
		if err != nil || !ok {
			return t.ended(a, nil, err)
		}
		if changed != nil {
			object = changed
		}
		return &engine.Result{Allowed: true, Object: object}
	case a.kind != nil:
		return b.writeBuiltin(t, a, req)
	case a.Operation == policy.OperationDelete:
		return &engine.Result{Allowed: true}
	}
	ok, err := a.MutateCustom(t.ctx, &a.to, t.on.engine, &req)
	if err != nil || !ok {
		return t.ended(a, a.Received, err)
	}
	res := t.write(t.on, req)
	if res != nil && len(a.Received) > 0 {
		res.Warnings = append(a.Received, res.Warnings...)
	}
	return res
}

func (b *own) writeBuiltin(t *trial, a *admitted, req engine.Request) *engine.Result {
	if b.subresource != "" && !a.kind.Exact() || b.convert != "" {
		t.problem = fmt.Sprintf("%s is a built-in kind: its subresources and conversions are not supported", a.kind.Kind.Kind)
		return nil
	}
	version, _ := types.ParseVersion(t.on.kubeVersion) // checked before
	w := policyrequest.Write{
		KubeMinor: version.Minor, Object: req.Object, OldObject: req.OldObject, FieldValidation: b.fieldValidation, Name: a.Name,
		Namespace: a.Namespace, Objects: b.pluginObjects(t, a.NamespaceObject), Apply: b.apply,
	}
	if a.Operation == policy.OperationDelete {
		if w.Object = nil; w.OldObject == nil {
			w.OldObject = req.Object
		}
	}
	res, err := a.WriteBuiltin(t.ctx, a.kind, w, true)
	if err != nil || a.Denied != nil || a.Undecided != "" {
		var warnings []string
		if res != nil {
			warnings = res.Warnings
		}
		return t.ended(a, warnings, err)
	}
	t.seen = &a.Request
	return res
}

// ended returns the result of a write that policies deny, or nil without a verdict.
func (t *trial) ended(a *admitted, warnings []string, err error) *engine.Result {
	switch {
	case err != nil:
		t.fail(err)
	case a.Denied != nil:
		denied := &engine.Result{Warnings: warnings}
		t.deny(denied, a.Denied)
		return denied
	default:
		t.problem = a.Undecided
	}
	return nil
}

// admit evaluates the policies for a write that res accepts, and returns the joined result, or nil
// without a verdict.
func (b *own) admit(t *trial, req engine.Request, res *engine.Result) *engine.Result {
	if t.set == nil || !res.Allowed {
		return res
	}
	a := b.review(t, req)
	if a == nil {
		return nil
	}
	object, old := res.Object, req.OldObject
	a.Mutated = a.Operation != policy.OperationDelete
	var err error
	switch {
	case t.seen != nil:
		object, old = t.seen.Object, t.seen.OldObject
	case t.on.engine != nil:
		if a.Operation == policy.OperationDelete {
			if object = nil; old == nil {
				old = req.Object
			}
		}
		if old != nil {
			old, err = t.on.engine.Convert(t.ctx, old, a.to.Kind.Version)
		}
	}
	if err == nil {
		_, err = a.Validate(t.ctx, &a.to, object, old)
	}
	if err != nil {
		t.fail(err)
		return nil
	}
	got := a.Evaluated
	if got == nil {
		return t.ended(a, res.Warnings, nil)
	}
	if t.observePolicies != nil {
		if err := t.observePolicies(t.ctx, a.Set, a.Request, got); err != nil {
			t.fail(err)
			return nil
		}
	}
	t.evaluations = got.Evaluations
	t.describePolicies = func(ctx context.Context, explain bool) (err error) {
		describer := policyrequest.Describer{Set: a.Set, Validation: t.policies.Validation, Explain: explain}
		t.decisions, err = describer.Decisions(ctx, a.Request, got, a.to.Secrets)
		return err
	}
	if err := t.describePolicies(t.ctx, false); err != nil {
		t.fail(err)
		return nil
	}
	if len(got.Undecided) > 0 {
		t.unknown = got.Undecided[0].String()
	}
	if a.Undecided != "" {
		t.problem = a.Undecided
		return nil
	}
	joined := *res
	joined.Warnings = append(res.Warnings[:len(res.Warnings):len(res.Warnings)], got.Warnings...)
	if a.Denied != nil {
		joined.Object = nil
		t.deny(&joined, a.Denied)
	}
	return &joined
}

func (t *trial) deny(res *engine.Result, failure *metav1.Status) {
	t.denied = true
	res.Allowed, res.Failure, res.Causes = false, failure, nil
	for _, c := range failure.Details.Causes {
		res.Causes = append(res.Causes, engine.Cause{Reason: c.Type, Field: c.Field, Message: c.Message})
	}
}

// pluginObjects returns the objects that admission plugins may read.
func (b *own) pluginObjects(t *trial, namespace map[string]any) (objects []map[string]any) {
	if t.policies != nil {
		objects = append(objects, t.policies.Documents...)
	}
	objects = append(objects, b.admission.params...)
	if namespace != nil {
		namespace = maps.Clone(namespace)
		namespace["apiVersion"], namespace["kind"] = "v1", "Namespace"
		objects = append(objects, namespace)
	}
	return objects
}

func (b *own) namespaceOf(given string) string {
	if given != "" || b.admission.namespace == nil {
		return given
	}
	name, _ := names(b.admission.namespace)
	return name
}

// ok is false, and t.problem is set, if the Namespace does not fit the object.
func (b *own) namespaceObject(t *trial, namespace string, namespaced bool) (object map[string]any, ok bool) {
	if b.admission.namespace == nil {
		return nil, true
	}
	name, _ := names(b.admission.namespace)
	switch {
	case !namespaced:
		t.problem = "namespace: the kind of the object is not namespaced"
		return nil, false
	case name != "" && name != namespace:
		t.problem = fmt.Sprintf("namespace: the Namespace is %s, but the object is in %s", name, namespace)
		return nil, false
	}
	object = maps.Clone(b.admission.namespace)
	meta := metadata(object)
	object["metadata"], meta["name"] = meta, namespace
	return object, true
}

func names(object map[string]any) (name, namespace string) {
	meta, _ := object["metadata"].(map[string]any)
	name, _ = meta["name"].(string)
	namespace, _ = meta["namespace"].(string)
	return name, namespace
}

func (t *trial) fail(err error) {
	var limit *engine.WorkLimitError
	var unchecked *engine.NotCheckedError
	switch {
	case errors.As(err, &limit), errors.As(err, &unchecked):
		t.problem = err.Error()
	case t.ctx.Err() != nil:
		t.problem = "interrupted"
	default:
		t.problem, t.bug = err.Error(), err
	}
}

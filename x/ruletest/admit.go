package ruletest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// How it works: mutating policies change the object first (mutate.go). Then the CRD, or the structure of a
// built-in kind, validates the write. If it accepts the object, the validating policies are evaluated for the
// persisted object, and their response is joined with the result. So the expectations about causes and
// warnings hold for all of them.

// write returns the result of the case's write without validating policies, or nil without a verdict.
func (b *own) write(t *trial, req engine.Request) *engine.Result {
	switch {
	case b.admission.operation == opDelete:
		return &engine.Result{Allowed: true}
	case t.on.builtins == nil:
		warnings, denied := b.mutate(t, &req)
		if denied != nil || t.problem != "" {
			return denied
		}
		res := t.write(t.on, req)
		if res != nil && len(warnings) > 0 {
			res.Warnings = append(warnings, res.Warnings...)
		}
		return res
	}
	kind := b.builtin(t, req.Object)
	if kind == nil {
		return nil
	}
	return b.writeBuiltin(t, kind, req)
}

// writeBuiltin is write for a built-in kind.
func (b *own) writeBuiltin(t *trial, kind *policyrequest.Builtin, req engine.Request) *engine.Result {
	if b.subresource != "" && !kind.Exact() || b.convert != "" {
		t.problem = fmt.Sprintf("%s is a built-in kind: its subresources and conversions are not supported", kind.Kind.Kind)
		return nil
	}
	name, namespace := names(req.Object)
	namespace = kind.Namespace(b.namespaceOf(namespace), name)
	inNamespace, ok := b.namespaceObject(t, namespace, kind.Namespaced)
	if !ok {
		return nil
	}
	mutation := &builtinMutation{own: b, trial: t, kind: kind, req: req}
	version, _ := types.ParseVersion(t.on.kubeVersion) // checked before
	res, err := kind.Write(t.ctx, policyrequest.Write{
		KubeMinor: version.Minor,
		Object:    req.Object, OldObject: req.OldObject, FieldValidation: b.fieldValidation, Name: name,
		Namespace: namespace, Subresource: b.subresource, User: b.admission.user, Objects: b.pluginObjects(t, inNamespace),
		Admission: mutation,
	})
	switch {
	case err != nil:
		t.fail(err)
		return nil
	case t.problem != "":
		return nil
	case mutation.denied != nil:
		mutation.denied.Warnings = res.Warnings
		return mutation.denied
	}
	return res
}

// builtin returns the kind of an object of a suite without a CRD, or nil, which is a problem.
func (b *own) builtin(t *trial, object map[string]any) *policyrequest.Builtin {
	apiVersion, _ := object["apiVersion"].(string)
	name, _ := object["kind"].(string)
	kind, err := t.on.builtins.Kind(schema.FromAPIVersionAndKind(apiVersion, name), engine.Config{KubeVersion: t.on.kubeVersion})
	switch {
	case err != nil:
		t.fail(err)
	case kind == nil:
		t.problem = fmt.Sprintf("%s %s is not a built-in kind: set crd in the suite", apiVersion, name)
	}
	return kind
}

// admit evaluates the policies for a write that res accepts, and returns the joined result, or nil
// without a verdict.
func (b *own) admit(t *trial, req engine.Request, res *engine.Result) *engine.Result {
	if t.set == nil || !res.Allowed {
		return res
	}
	set := b.policySet(t)
	if set == nil {
		return nil
	}
	to, secrets, ok := b.policyRequest(t, req, res)
	if !ok {
		return nil
	}
	got, err := set.Evaluate(t.ctx, to)
	if err != nil {
		t.fail(err)
		return nil
	}
	if t.observePolicies != nil {
		if err := t.observePolicies(t.ctx, set, to, got); err != nil {
			t.fail(err)
			return nil
		}
	}
	t.evaluations = got.Evaluations
	describer := policyrequest.Describer{Set: set, Validation: t.policies.Validation}
	t.decisions, err = describer.Decisions(t.ctx, to, got, secrets)
	if err != nil {
		t.fail(err)
		return nil
	}
	t.explainPolicies = func(ctx context.Context) error {
		describer.Explain = true
		var err error
		t.decisions, err = describer.Decisions(ctx, to, got, secrets)
		return err
	}
	if len(got.Undecided) > 0 && (got.Allowed || b.expect.decided) {
		reasons := make([]string, len(got.Undecided))
		for i, u := range got.Undecided {
			reasons[i] = u.String()
		}
		t.problem = strings.Join(reasons, "; ")
		return nil
	}
	return t.join(res, got)
}

// policySet returns the policies with the params of the case, or nil, which is a problem.
func (b *own) policySet(t *trial) *policy.Set {
	if !b.admission.isComplete {
		return t.set
	}
	set, err := t.set.WithParams(b.admission.params, true)
	if err != nil {
		t.problem = err.Error()
		return nil
	}
	return set
}

// join returns the response to a write that res accepts and that policies decide.
func (t *trial) join(res *engine.Result, got *policy.Result) *engine.Result {
	joined := *res
	joined.Warnings = append(res.Warnings[:len(res.Warnings):len(res.Warnings)], got.Warnings...)
	if got.Allowed {
		return &joined
	}
	joined.Object = nil
	t.deny(&joined, got.Failure)
	return &joined
}

// deny makes res the response to a write that a policy denies.
func (t *trial) deny(res *engine.Result, failure *metav1.Status) {
	t.denied = true
	res.Allowed, res.Failure, res.Causes = false, failure, nil
	for _, c := range failure.Details.Causes {
		res.Causes = append(res.Causes, engine.Cause{Reason: c.Type, Field: c.Field, Message: c.Message})
	}
}

// policyRequest returns the request that policies see, and the passwords of its objects. It reports
// whether there is such a request; otherwise it sets a problem.
func (b *own) policyRequest(t *trial, req engine.Request, res *engine.Result) (to policy.Request, secrets []string, ok bool) {
	object, old, given := res.Object, req.OldObject, req.Object
	operation := policy.OperationCreate
	switch {
	case b.admission.operation == opDelete:
		operation, object = policy.OperationDelete, nil
		if old == nil {
			old = req.Object
		}
		if given == nil {
			given = old
		}
	case old != nil:
		operation = policy.OperationUpdate
	}
	name, namespace := names(given)
	var subject policyrequest.Subject
	var namespaced bool
	if t.on.builtins != nil {
		kind := b.builtin(t, given)
		if kind == nil {
			return to, nil, false
		}
		subject, namespaced, namespace = kind.Subject(given, old), kind.Namespaced, kind.Namespace(b.namespaceOf(namespace), name)
	} else {
		apiVersion, _ := given["apiVersion"].(string)
		subject, namespaced = policyrequest.SubjectOf(t.ctx, t.on.crd, t.on.engine, apiVersion, given, old), t.on.engine.Info().Namespaced
		if namespaced {
			namespace = cmp.Or(b.namespaceOf(namespace), metav1.NamespaceDefault)
		}
		if old, ok = t.stored(old, subject.Kind.Version); !ok {
			return to, nil, false
		}
	}
	to = subject.Request(operation, b.admission.user)
	to.Name, to.Namespace, to.Subresource, to.Object, to.OldObject = name, namespace, b.subresource, object, old
	to.NamespaceObject, ok = b.namespaceObject(t, namespace, namespaced)
	return to, subject.Secrets, ok
}

// stored returns an old object, which can be nil, in a version of the CRD. It reports whether it can be
// converted; otherwise it sets a problem.
func (t *trial) stored(old map[string]any, version string) (map[string]any, bool) {
	if old == nil {
		return nil, true
	}
	old, err := t.on.engine.Convert(t.ctx, old, version)
	if err != nil {
		t.fail(err)
	}
	return old, err == nil
}

// pluginObjects returns the objects that admission plugins may read: those of the suite's policies and of the case.
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

// namespaceOf returns the namespace of an object: the given one, or that of the case.
func (b *own) namespaceOf(given string) string {
	if given != "" || b.admission.namespace == nil {
		return given
	}
	name, _ := names(b.admission.namespace)
	return name
}

// namespaceObject returns the case's Namespace with the fields that a server sets, or nil if the case
// has none. It reports whether the Namespace belongs to the object; otherwise it sets a problem.
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
	if meta == nil {
		meta = map[string]any{}
	}
	given, _ := meta["labels"].(map[string]any)
	labels := maps.Clone(given)
	if labels == nil {
		labels = map[string]any{}
	}
	if labels[nameLabel] == nil {
		labels[nameLabel] = namespace
	}
	object["metadata"], meta["name"], meta["labels"] = meta, namespace, labels
	return object, true
}

// nameLabel is the label that a server adds to each Namespace.
const nameLabel = "kubernetes.io/metadata.name"

// names returns the name and namespace of an object.
func names(object map[string]any) (name, namespace string) {
	meta, _ := object["metadata"].(map[string]any)
	name, _ = meta["name"].(string)
	namespace, _ = meta["namespace"].(string)
	return name, namespace
}

// fail sets the outcome's problem to an error without a verdict.
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

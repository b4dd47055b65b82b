package requests

import (
	"cmp"
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

func (f *Finder) resource() schema.GroupVersionResource {
	if f.cfg.Subresource != nil {
		return f.cfg.Subresource.Subject().Resource
	}
	return schema.GroupVersionResource{Group: f.crd.Spec.Group, Version: f.version, Resource: f.crd.Spec.Names.Plural}
}

// forms returns the forms of requests that a policy matches in any version of the CRD. If the CRD describes a
// subresource, requests to it are the only form.
func (f *Finder) forms(d *document) (found []form) {
	var subresources, versions []string
	for _, v := range f.crd.Spec.Versions {
		versions = append(versions, v.Name)
	}
	if f.builtin != nil {
		subresources = f.builtin.subresources
	} else if sub := f.own().Subresources; sub != nil {
		if sub.Status != nil {
			subresources = append(subresources, string(search.Status))
		}
		if sub.Scale != nil {
			subresources = append(subresources, policyrequest.ScaleName)
		}
	}
	all := []form{{policy.OperationDelete, ""}, {policy.OperationCreate, ""}, {policy.OperationUpdate, ""}}
	for _, name := range subresources {
		all = append(all, form{policy.OperationUpdate, name})
	}
	if sub := f.cfg.Subresource; sub != nil {
		all, versions = []form{{sub.Operation(), sub.Name}}, nil
	}
	for _, one := range all {
		if slices.ContainsFunc(list(object(d.fields, "matchConstraints"), "resourceRules"), func(rule map[string]any) bool {
			return one.matches(rule, f.resource(), versions)
		}) {
			found = append(found, one)
		}
	}
	return found
}

// request returns a request. old is the old object of an update, or the object that is deleted.
func (f *Finder) request(operation policy.Operation, object, old map[string]any) *policy.Request {
	of := object
	if of == nil {
		of = old
	}
	req := &policy.Request{
		Operation: operation, Object: object, OldObject: old, User: f.cfg.User,
		Resource: f.resource(),
		Kind:     schema.GroupVersionKind{Group: f.crd.Spec.Group, Version: f.version, Kind: f.crd.Spec.Names.Kind},
	}
	meta, _ := of["metadata"].(map[string]any)
	req.Name, _ = meta["name"].(string)
	switch {
	case f.builtin != nil:
		namespace, _ := meta["namespace"].(string)
		req.Namespace = f.builtin.kind.Namespace(namespace, req.Name)
	case f.engine.Info().Namespaced:
		if req.Namespace, _ = meta["namespace"].(string); req.Namespace == "" {
			req.Namespace = metav1.NamespaceDefault
		}
	}
	return req
}

const maxNamespaces = 8

// place sets the namespace of requests to a namespace that the policy matches, if it finds one.
func (q *question) place(ctx context.Context, one form) error {
	q.subresource = one.subresource
	names := []string{metav1.NamespaceDefault}
	for _, doc := range q.cfg.Documents {
		if doc["kind"] == "Namespace" {
			names = append(names, text(object(doc, "metadata"), "name"))
		}
	}
	names = append(names, q.document.namespaces...)
	if probe := q.request(one.operation, nil, nil); len(names) == 1 || probe.Namespace == "" || len(q.objects) == 0 {
		return nil
	}
	for i, name := range names[:min(len(names), maxNamespaces)] {
		if name == "" || slices.Contains(names[:i], name) {
			continue
		}
		if q.namespace = name; i == 0 {
			q.namespace = ""
		}
		req, err := q.with(ctx, one.operation, q.objects[0], q.objects[0])
		if err != nil {
			return err
		}
		if req == nil {
			continue
		}
		r, err := q.Review(ctx, req)
		if err != nil {
			return err
		}
		q.work.Spend(int(r.Work))
		if r.Evaluated != nil && slices.ContainsFunc(r.Evaluated.Evaluations, func(e policy.Evaluation) bool { return e.Policy == q.document.name }) ||
			slices.ContainsFunc(r.Mutations, func(e policy.MutationEvaluation) bool { return e.Policy == q.document.name }) {
			return nil
		}
	}
	q.namespace = ""
	return nil
}

func (q *question) placed(obj map[string]any) map[string]any {
	namespace := q.namespace
	if namespace == "" && q.builtin == nil && q.engine.Info().Namespaced {
		namespace = metav1.NamespaceDefault
	}
	if namespace == "" {
		return obj
	}
	return inNamespace(obj, namespace)
}

func (f *Finder) review(req *policy.Request) *policyrequest.Review {
	return &policyrequest.Review{
		Set: f.cfg.Set, User: req.User, Operation: req.Operation, Subresource: req.Subresource, Name: req.Name, Namespace: req.Namespace,
		Now: f.cfg.Now,
	}
}

func (f *Finder) subject(ctx context.Context) policyrequest.Subject {
	switch {
	case f.builtin != nil:
		return f.builtin.kind.Subject()
	case f.cfg.Subresource != nil:
		return f.cfg.Subresource.Subject()
	}
	return f.custom.Subject(ctx, f.crd.Spec.Group+"/"+f.version)
}

// Judge evaluates a write of given objects as the search does. It returns nil if the CRD or the server's code
// rejects it.
func (f *Finder) Judge(
	ctx context.Context, operation policy.Operation, user policy.User, object, old map[string]any,
) (*policyrequest.Review, error) {
	if operation != policy.OperationDelete {
		res, err := f.decider.Validate(ctx, engine.Request{Object: object, OldObject: old})
		if err != nil || !res.Allowed {
			return nil, err
		}
		object = res.Object
	}
	req := f.request(operation, object, old)
	req.User = user
	return f.Review(ctx, req)
}

// Review takes a request with an accepted object through admission. If mutating policies change the object and the
// CRD then rejects it, the validating policies are not evaluated.
func (f *Finder) Review(ctx context.Context, req *policy.Request) (*policyrequest.Review, error) {
	r, to, object := f.review(req), f.subject(ctx), req.Object
	if f.cfg.Subresource != nil {
		return r, r.WriteSubresource(ctx, f.cfg.Subresource, &to, object)
	}
	mutates := f.cfg.Set.Mutates() || f.cfg.Set.Webhooks() > 0
	if f.builtin != nil && (mutates || req.Subresource == policyrequest.ScaleName) {
		_, err := r.WriteBuiltin(ctx, f.builtin.kind, policyrequest.Write{
			Object: object, OldObject: req.OldObject, Name: req.Name, Namespace: req.Namespace, NoObject: true,
		}, false)
		return r, err
	}
	if mutates && object != nil {
		asked := engine.Request{Object: object, OldObject: req.OldObject, Subresource: req.Subresource}
		if ok, err := r.MutateCustom(ctx, &to, f.engine, &asked); !ok || err != nil {
			return r, err
		}
		res, err := f.engine.Validate(ctx, asked)
		if err != nil || !res.Allowed {
			return r, ctx.Err()
		}
		object = res.Object
	}
	_, err := r.Validate(ctx, &to, object, req.OldObject)
	return r, err
}

func (q *question) plain(ctx context.Context, operation policy.Operation, yield func(*policy.Request) bool) {
	all := func(req *policy.Request) bool { return byAll(req, yield) }
	for _, obj := range q.objects[:min(2, len(q.objects))] {
		if !q.try(ctx, operation, obj, obj, all) {
			return
		}
	}
}

func (q *question) try(
	ctx context.Context, operation policy.Operation, object, old map[string]any, yield func(*policy.Request) bool,
) (more bool) {
	var req *policy.Request
	if req, q.err = q.with(ctx, operation, object, old); req == nil {
		return q.err == nil
	}
	return yield(req)
}

var ordinary = policy.User{Name: "jane", Groups: []string{"system:authenticated"}}

func byAll(req *policy.Request, yield func(*policy.Request) bool) bool {
	other := *req
	other.User = ordinary
	return yield(req) && yield(&other)
}

// with returns nil if the CRD rejects the object or the verdict is not known. Old objects have defaults, as the
// server reads them.
func (q *question) with(ctx context.Context, operation policy.Operation, object, old map[string]any) (*policy.Request, error) {
	q.work.Spend(requestWork)
	object, old = q.placed(object), q.placed(old)
	if q.builtin != nil {
		return q.withBuiltin(ctx, operation, object, old)
	}
	asked := engine.Request{Object: object, Subresource: q.subresource}
	switch operation {
	case policy.OperationDelete:
		stored, err := q.decider.Convert(ctx, object, q.version)
		if err != nil {
			return nil, ctx.Err()
		}
		return q.request(operation, nil, stored), nil
	case policy.OperationUpdate:
		var err error
		if asked.OldObject, err = q.decider.Convert(ctx, old, q.version); err != nil {
			return nil, ctx.Err()
		}
	}
	res, err := q.decider.Validate(ctx, asked)
	if err != nil {
		return nil, ctx.Err() // otherwise the object is undecided
	}
	if !res.Allowed {
		return nil, nil
	}
	req := q.request(operation, res.Object, asked.OldObject)
	req.Subresource = q.subresource
	return req, nil
}

// mutates returns "" as the binding if the mutation does not have the wanted outcome. reason is why the mutation
// fails or its result is rejected.
func (q *question) mutates(ctx context.Context, req *policy.Request) (binding, reason string, err error) {
	r, to, object, changed := q.review(req), q.subject(ctx), req.Object, map[string]any(nil)
	if q.cfg.Subresource != nil {
		object = q.cfg.Subresource.Object(object)
	}
	if req.Subresource == policyrequest.ScaleName { // a Scale is mutated
		r, err = q.Review(ctx, req)
	} else {
		changed, _, err = r.Mutate(ctx, &to, object, req.OldObject)
	}
	if q.work.Spend(int(r.Work)); err != nil {
		return "", "", err
	}
	if r.Undecided != "" {
		q.undecided = cmp.Or(q.undecided, r.Undecided)
		return "", "", nil
	}
	for _, e := range r.Mutations {
		if e.Policy != q.document.name {
			continue
		}
		if q.want == Fails && e.Failure != "" {
			return e.Binding, e.Failure, nil
		}
		if q.want == Breaks {
			if why, err := q.rejects(ctx, changed, req); e.Changed && why != "" || err != nil {
				return e.Binding, why, err
			}
			continue
		}
		if q.index >= len(e.Mutations) {
			continue
		}
		switch m := e.Mutations[q.index]; {
		case q.want == Fails && m.Failure != "":
			return e.Binding, m.Failure, nil
		case q.want == Changed && m.Changed:
			return e.Binding, "", nil
		}
	}
	return "", "", nil
}

// rejects returns why the CRD rejects the mutated object of a request, or "". changed is nil if the object was not
// changed.
func (q *question) rejects(ctx context.Context, changed map[string]any, req *policy.Request) (why string, err error) {
	if changed == nil || q.cfg.Subresource != nil {
		return "", nil
	}
	res, err := q.decider.Validate(ctx, engine.Request{Object: changed, OldObject: req.OldObject, Subresource: req.Subresource, Merged: true})
	if err != nil {
		return "", ctx.Err() // otherwise the object is undecided
	}
	if res.Allowed {
		return "", nil
	}
	return res.Failure.Message, nil
}

package requests

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
)

func (f *Finder) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: f.crd.Spec.Group, Version: f.version, Resource: f.crd.Spec.Names.Plural}
}

// request returns the request for an operation on an object. old is the old object of an update, or
// the object that is deleted.
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
			req.Namespace = "default"
		}
	}
	return req
}

// plain yields requests with a small and a large object.
func (q *question) plain(ctx context.Context, operation policy.Operation, yield func(*policy.Request) (stop bool, err error)) error {
	for _, obj := range q.objects[:min(2, len(q.objects))] {
		req, err := q.with(ctx, operation, obj, obj)
		if err != nil || req == nil {
			return err
		}
		if stop, err := q.byAll(req, yield); stop || err != nil {
			return err
		}
	}
	return nil
}

// ordinary is a user without privileges.
var ordinary = policy.User{Name: "jane", Groups: []string{"system:authenticated"}}

// byAll yields a request as sent by the configured user, and by an ordinary one.
func (q *question) byAll(req *policy.Request, yield func(*policy.Request) (stop bool, err error)) (stop bool, err error) {
	if stop, err := yield(req); stop || err != nil {
		return true, err
	}
	other := *req
	other.User = ordinary
	return yield(&other)
}

// with returns a request with an object, and with old for an update, or nil if the CRD rejects it. Old
// objects have defaults, as the server reads them.
func (q *question) with(ctx context.Context, operation policy.Operation, object, old map[string]any) (*policy.Request, error) {
	q.work.Spend(requestWork)
	if q.builtin != nil {
		return q.withBuiltin(ctx, operation, object, old)
	}
	asked := engine.Request{Object: object}
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
	return q.request(operation, res.Object, asked.OldObject), nil
}

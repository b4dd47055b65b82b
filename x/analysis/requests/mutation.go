package requests

import (
	"cmp"
	"context"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
)

// mutates returns the binding for which the mutation has the wanted outcome, or "" if there is none.
// reason is why the mutation fails or its result is rejected.
func (q *question) mutates(ctx context.Context, req *policy.Request) (binding, reason string, err error) {
	r, to, object := q.review(req), q.subject(ctx), req.Object
	if q.cfg.Subresource != nil {
		object = q.cfg.Subresource.Object(object)
	}
	changed, _, err := r.Mutate(ctx, &to, object, req.OldObject)
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

// rejects returns why the CRD rejects the object of a request after its mutation, or "". changed is nil if the object
// was not changed. Objects of subresources are never rejected.
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

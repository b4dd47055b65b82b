package requests

import (
	"context"
	"iter"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/valuediff"
)

const maxReductions = 400

// shrink returns a request with the same outcome and fewer fields, and that request with the objects that the server
// then stores. For a CRD, both have defaults.
func (q *question) shrink(ctx context.Context, req *policy.Request) (given, stored *policy.Request, err error) {
	user := q.cfg.User
	user.Extra = req.User.Extra
	for _, user := range []policy.User{user, q.cfg.User} {
		next := *req
		if next.User = user; reflect.DeepEqual(user, req.User) {
			continue
		}
		switch ok, err := q.holds(ctx, &next); {
		case err != nil:
			return nil, nil, err
		case ok:
			req = &next
		}
	}
	given, stored = req, req
	left := maxReductions
	for changed := true; changed && left > 0 && !q.work.Empty(); {
		changed = false
		for nextGiven, nextStored := range q.smaller(ctx, given, stored) {
			if left <= 0 || q.work.Empty() {
				break
			}
			ok := q.builtin != nil && reflect.DeepEqual(nextStored, stored)
			if !ok {
				left--
				if ok, err = q.holds(ctx, nextStored); err != nil {
					return nil, nil, err
				}
			}
			if ok {
				given, stored, changed = nextGiven, nextStored, true
				break
			}
		}
	}
	return given, stored, nil
}

// smaller yields accepted requests that lack one field or item, or have the usual name, together with the requests
// with the stored objects. Fields of custom resources that get a default stay.
func (q *question) smaller(ctx context.Context, given, stored *policy.Request) iter.Seq2[*policy.Request, *policy.Request] {
	isSmaller := func(one, than map[string]any) bool { return q.builtin != nil || size(one) < size(than) }
	return func(yield func(given, stored *policy.Request) bool) {
		one := func(obj, old, storedOld map[string]any) bool {
			next, after := *given, *stored
			next.Object, next.OldObject, after.OldObject = obj, old, storedOld
			if obj != nil {
				asked := engine.Request{Object: obj, OldObject: storedOld, Subresource: given.Subresource}
				res, err := q.decider.Validate(ctx, asked)
				if err != nil || !res.Allowed || size(obj) < size(given.Object) && !isSmaller(res.Object, stored.Object) {
					return true
				}
				if q.builtin != nil && old != nil { // this is the old object in other commands
					asked.OldObject = old
					if res, err := q.decider.Validate(ctx, asked); err != nil || !res.Allowed {
						return true
					}
				}
				after.Object, next.Name = res.Object, text(object(res.Object, "metadata"), "name")
				after.Name = next.Name
			}
			if q.builtin == nil {
				next = after
			}
			return yield(&next, &after)
		}
		if meta := object(given.Object, "metadata"); given.OldObject == nil && given.Name != requiredText && given.Name != given.Namespace {
			if !one(with(given.Object, "metadata", with(meta, "name", requiredText)), nil, nil) {
				return
			}
		}
		elsewhere := given.Namespace != metav1.NamespaceDefault
		scales := q.builtin != nil && given.Subresource == policyrequest.ScaleName
		for obj := range reducedObjects(given.Object) {
			if scales && object(obj, "spec")["replicas"] == nil || elsewhere && moves(obj, given.Object) {
				continue
			}
			if !one(obj, given.OldObject, stored.OldObject) {
				return
			}
		}
		for old := range reducedObjects(given.OldObject) {
			if (q.builtin == nil || elsewhere) && moves(old, given.OldObject) {
				continue
			}
			if q.builtin == nil && given.Object == nil {
				if res, err := q.decider.Validate(ctx, engine.Request{Object: old}); err != nil || !res.Allowed {
					continue
				}
			}
			after, err := q.decider.Convert(ctx, old, q.version)
			if err == nil && isSmaller(after, stored.OldObject) && !one(given.Object, old, after) {
				return
			}
		}
	}
}

func moves(to, from map[string]any) bool {
	return object(to, "metadata")["namespace"] != object(from, "metadata")["namespace"]
}

// reduced yields copies of a value that each lack one field or item, at any depth.
func reduced(v any) iter.Seq[any] {
	return func(yield func(any) bool) {
		for step, child := range valuediff.Children(v) {
			if !yield(replaced(v, step)) {
				return
			}
			for smaller := range reduced(child) {
				if !yield(replaced(v, step, smaller)) {
					return
				}
			}
		}
	}
}

func replaced(v any, at engine.Step, child ...any) any {
	list, ok := v.([]any)
	if ok {
		return slices.Replace(slices.Clone(list), at.Index, at.Index+1, child...)
	}
	fields := maps.Clone(v.(map[string]any))
	if delete(fields, at.Name); len(child) > 0 {
		fields[at.Name] = child[0]
	}
	return fields
}

func reducedObjects(obj map[string]any) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		for v := range reduced(obj) {
			one := v.(map[string]any)
			if one["apiVersion"] != nil && one["kind"] != nil && object(one, "metadata")["name"] != nil && !yield(one) {
				return
			}
		}
	}
}

func size(v any) (n int) {
	n = 1
	for _, item := range valuediff.Children(v) {
		n += size(item)
	}
	return n
}

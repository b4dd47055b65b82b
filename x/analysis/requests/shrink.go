package requests

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
)

// maxReductions limits the attempts to reduce a request.
const maxReductions = 400

// shrink returns a request with the same outcome and fewer fields.
func (q *question) shrink(ctx context.Context, req *policy.Request) (*policy.Request, error) {
	left := maxReductions
	users := []policy.User{q.cfg.User}
	for _, key := range slices.Sorted(maps.Keys(req.User.Extra)) {
		users = append(users, q.cfg.User, req.User)
		for i := range 2 {
			one := &users[len(users)-1-i]
			one.Extra = map[string][]string{key: req.User.Extra[key]}
		}
	}
	for _, user := range users {
		if reflect.DeepEqual(user, req.User) {
			break
		}
		next := *req
		next.User = user
		if ok, err := q.holds(ctx, &next); err != nil {
			return nil, err
		} else if ok {
			req = &next
			break
		}
	}
	if next := q.renamed(ctx, req); next != nil {
		if ok, err := q.holds(ctx, next); err != nil {
			return nil, err
		} else if ok {
			req = next
		}
	}
	for changed := true; changed && left > 0 && !q.work.Empty(); {
		changed = false
		for _, next := range q.smaller(ctx, req) {
			if left--; left <= 0 || q.work.Empty() {
				break
			}
			ok, err := q.holds(ctx, next)
			if err != nil {
				return nil, err
			}
			if ok {
				req, changed = next, true
				break
			}
		}
	}
	return req, nil
}

// renamed returns the request for a new object with the usual name, or nil if it has that or the object is not new.
func (q *question) renamed(ctx context.Context, req *policy.Request) *policy.Request {
	if req.Object == nil || req.OldObject != nil || req.Name == requiredText {
		return nil
	}
	asked := engine.Request{Object: with(req.Object, "metadata", with(object(req.Object, "metadata"), "name", requiredText)), Subresource: req.Subresource}
	res, err := q.decider.Validate(ctx, asked)
	if err != nil || !res.Allowed {
		return nil
	}
	next := q.request(req.Operation, res.Object, nil)
	next.User, next.Subresource = req.User, req.Subresource
	return next
}

// smaller returns the accepted requests in which one field of the object or of the old object is
// missing.
func (q *question) smaller(ctx context.Context, req *policy.Request) (all []*policy.Request) {
	for obj := range reduced(req.Object, true) {
		asked := engine.Request{Object: obj, OldObject: req.OldObject, Subresource: req.Subresource}
		if res, err := q.decider.Validate(ctx, asked); err == nil && res.Allowed && size(res.Object) < size(req.Object) {
			next := *req
			next.Object = res.Object
			all = append(all, &next)
		}
	}
	for old := range reduced(req.OldObject, true) {
		if object(old, "metadata")["namespace"] != object(req.OldObject, "metadata")["namespace"] {
			continue
		}
		old, err := q.decider.Convert(ctx, old, q.version)
		if err != nil || size(old) >= size(req.OldObject) {
			continue // the field has a default
		}
		asked := engine.Request{Object: old}
		if req.Object != nil {
			asked = engine.Request{Object: req.Object, OldObject: old, Subresource: req.Subresource}
		}
		if res, err := q.decider.Validate(ctx, asked); err == nil && res.Allowed {
			next := *req
			if next.OldObject = old; req.Object != nil {
				next.Object = res.Object // without the parts of the old object that the write does not change, such as status
			}
			all = append(all, &next)
		}
	}
	return all
}

// reduced yields copies of an object that each lack one field or item, at any depth.
func reduced(obj map[string]any, root bool) func(yield func(map[string]any) bool) {
	return func(yield func(map[string]any) bool) {
		for _, name := range slices.Sorted(maps.Keys(obj)) {
			if root && (name == "apiVersion" || name == "kind") {
				continue
			}
			without := maps.Clone(obj)
			delete(without, name)
			if (!root || name != "metadata") && !yield(without) {
				return
			}
			inner := func(v any) bool {
				with := maps.Clone(obj)
				with[name] = v
				return yield(with)
			}
			switch v := obj[name].(type) {
			case map[string]any:
				for smaller := range reduced(v, false) {
					if _, named := smaller["name"]; root && name == "metadata" && !named {
						continue
					}
					if !inner(smaller) {
						return
					}
				}
			case []any:
				for i := range v {
					if !inner(slices.Delete(slices.Clone(v), i, i+1)) {
						return
					}
					item, _ := v[i].(map[string]any)
					for smaller := range reduced(item, false) {
						with := slices.Clone(v)
						if with[i] = smaller; !inner(with) {
							return
						}
					}
				}
			}
		}
	}
}

// size returns the number of values in v.
func size(v any) (n int) {
	n = 1
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			n += size(item)
		}
	case []any:
		for _, item := range v {
			n += size(item)
		}
	}
	return n
}

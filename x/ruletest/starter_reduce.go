package ruletest

import (
	"maps"
	"reflect"
	"slices"

	"github.com/celadon-cel/celadon/engine"
)

// The search can start from any object, but a case is easiest to read if it differs from base only
// as its purpose requires. Therefore each difference is removed if the case still works without it.

// maxNearer limits the writes that are tried for a case.
const maxNearer = 60

// nearBase returns req without differences from base that are not needed for the wanted result. It
// returns req if w has no base or req does not have the wanted result.
func (w *suiteGenerator) nearBase(req *engine.Request, wanted func(*engine.Result) bool) *engine.Request {
	n := &writeReducer{suiteGenerator: w, at: *req, wanted: wanted, left: maxNearer}
	n.at.Trace = true
	if w.base == nil || !w.shows(&n.at, wanted) {
		return req
	}
	n.drop(nil)
	n.at.Trace = false
	return &n.at
}

type writeReducer struct {
	*suiteGenerator
	at     engine.Request
	wanted func(*engine.Result) bool
	left   int
}

// drop takes over base's value at each key below path or, if that changes the result, parts of it.
func (n *writeReducer) drop(path []string) {
	keys := map[string]bool{}
	for _, object := range []map[string]any{n.base, n.at.Object, n.at.OldObject} {
		m, _ := get(object, path).(map[string]any)
		for key := range m {
			keys[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		below := append(path[:len(path):len(path)], key)
		if !n.differs(below) || n.left <= 0 {
			continue
		}
		n.left--
		next := n.at
		next.Object = withOf(n.base, n.at.Object, below)
		if n.at.OldObject != nil {
			next.OldObject = withOf(n.base, n.at.OldObject, below)
		}
		if n.shows(&next, n.wanted) && n.storable(next.OldObject) {
			n.at = next
		} else if _, ok := get(n.base, below).(map[string]any); ok {
			n.drop(below)
		}
	}
}

// storable reports whether the old object can be stored: created and, if the status is a
// subresource, updated with its status.
func (n *writeReducer) storable(old map[string]any) bool {
	if old == nil {
		return true
	}
	res, err := n.Engine.Validate(n.ctx, engine.Request{Object: old})
	if err != nil || !res.Allowed {
		return false
	}
	if old["status"] == nil || reflect.DeepEqual(res.Object["status"], old["status"]) {
		return true
	}
	set := engine.Request{Object: old, OldObject: res.Object, Subresource: "status"}
	return n.shows(&set, func(res *engine.Result) bool { return res.Allowed })
}

func (n *writeReducer) differs(path []string) bool {
	of := get(n.base, path)
	return !reflect.DeepEqual(get(n.at.Object, path), of) || n.at.OldObject != nil && !reflect.DeepEqual(get(n.at.OldObject, path), of)
}

// withOf returns object with other's value at a path.
func withOf(other, object map[string]any, path []string) map[string]any {
	out := make(map[string]any, len(object)+1)
	maps.Copy(out, object)
	v, ok := other[path[0]]
	switch {
	case len(path) > 1:
		out[path[0]] = withOf(inside(other, path[0]), inside(object, path[0]), path[1:])
	case ok:
		out[path[0]] = v
	default:
		delete(out, path[0])
	}
	return out
}

func inside(object map[string]any, key string) map[string]any {
	m, _ := object[key].(map[string]any)
	return m
}

// get returns the value at a path of keys.
func get(object map[string]any, path []string) any {
	for i, key := range path {
		if i == len(path)-1 {
			return object[key]
		}
		object = inside(object, key)
	}
	return object
}

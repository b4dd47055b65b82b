package ruletest

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
)

// The search can start from any object, but a case is easiest to read if it differs from base only
// as its purpose requires. Therefore each difference is removed if the case still works without it.

const maxNearer = 60

// nearBase returns req without the differences from base that are not needed for the wanted result.
func (w *suiteGenerator) nearBase(req *engine.Request, wanted func(*engine.Result) bool) *engine.Request {
	n := &writeReducer{suiteGenerator: w, at: *req, wanted: wanted, left: maxNearer}
	if w.base != nil && w.shows(n.at, wanted) {
		n.drop(nil)
	}
	return &n.at
}

type writeReducer struct {
	*suiteGenerator
	at     engine.Request
	wanted func(*engine.Result) bool
	left   int
}

// drop takes over base's value at each key below path, or only parts of it if the write would
// otherwise lose the wanted result.
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
		if n.shows(next, n.wanted) && n.storable(next.OldObject) {
			n.at = next
		} else if _, ok := get(n.base, below).(map[string]any); ok {
			n.drop(below)
		}
	}
}

// storable reports whether the old object is nil or can be stored: created and, if that drops its
// status, updated with its status.
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
	return n.shows(set, func(res *engine.Result) bool { return res.Allowed })
}

func (n *writeReducer) differs(path []string) bool {
	of := get(n.base, path)
	return !reflect.DeepEqual(get(n.at.Object, path), of) || n.at.OldObject != nil && !reflect.DeepEqual(get(n.at.OldObject, path), of)
}

func withOf(other, object map[string]any, path []string) map[string]any {
	out := runtime.DeepCopyJSON(object)
	v, ok, err := unstructured.NestedFieldCopy(other, path...)
	if err != nil || !ok || unstructured.SetNestedField(out, v, path...) != nil {
		unstructured.RemoveNestedField(out, path...)
	}
	return out
}

func get(object map[string]any, path []string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	return v
}

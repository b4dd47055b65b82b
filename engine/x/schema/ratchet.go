package schema

import (
	"fmt"
	"strings"
)

// An oldValue is the value before an update, if it is known.
type oldValue struct {
	known bool
	value any
}

// field returns the old value of a field in the schema. The API server converts apiVersion and kind of
// both objects, so it cannot see a change of them; their old value is unknown.
func (p oldValue) field(name string, at *errorPath) oldValue {
	if !p.known || at.root() && (name == "apiVersion" || name == "kind") {
		return oldValue{}
	}
	old, ok := p.value.(map[string]any)
	if !ok {
		return oldValue{}
	}
	v, ok := old[name]
	return oldValue{known: ok, value: v}
}

// list returns the items of the old list by key, or nil if the list is not a map list or its
// old value is unknown.
func (p oldValue) list(n *node) *keyed {
	old, ok := p.value.([]any)
	if !p.known || !ok || !n.correlates() {
		return nil
	}
	return newKeyed(n.listMap, old)
}

func (n *node) correlates() bool { return n.isArray && n.listType == mapList && len(n.listMap) > 0 }

// keyed maps the keys of a map list's items to items. Of duplicates it has the first.
type keyed struct {
	keys  []string
	items map[any]any
}

func newKeyed(keys []string, items []any) *keyed {
	k := &keyed{keys: keys, items: make(map[any]any, len(items))}
	for _, item := range items {
		if key, ok := keyOf(keys, item); ok {
			if _, taken := k.items[key]; !taken {
				k.items[key] = item
			}
		}
	}
	return k
}

func (k *keyed) item(v any) oldValue {
	if k == nil {
		return oldValue{}
	}
	key, ok := keyOf(k.keys, v)
	if !ok {
		return oldValue{}
	}
	old, ok := k.items[key]
	return oldValue{known: ok, value: old}
}

// keyOf returns the key of an item. ok is false unless all keys are present and scalar. Several
// keys are combined into a string, in which floats have six decimals.
func keyOf(keys []string, item any) (key any, ok bool) {
	fields, ok := item.(map[string]any)
	if !ok {
		return nil, false
	}
	if len(keys) == 1 {
		v := fields[keys[0]]
		return v, isScalar(v)
	}
	var b strings.Builder
	for _, name := range keys {
		v := fields[name]
		if !isScalar(v) {
			return nil, false
		}
		b.WriteByte(0)
		switch v := v.(type) {
		case string:
			fmt.Fprintf(&b, "%q", v)
		case float64:
			fmt.Fprintf(&b, "%f", v)
		default:
			fmt.Fprint(&b, v)
		}
	}
	return b.String(), true
}

func isScalar(v any) bool {
	switch v.(type) {
	case bool, string, int64, float64:
		return true
	}
	return false
}

// same reports whether v equals old as in the API server's ratcheting: map lists are compared by
// key in any order, objects field by field, and other values with Equal. Objects with fields that
// are not in the schema are never the same.
func (n *node) same(v, old any) bool {
	if v == nil || old == nil {
		return v == nil && old == nil
	}
	switch v := v.(type) {
	case []any:
		old, ok := old.([]any)
		return ok && n.sameList(v, old)
	case map[string]any:
		old, ok := old.(map[string]any)
		return ok && n.sameObject(v, old)
	}
	return Equal(v, old)
}

func (n *node) sameList(items, old []any) bool {
	if len(items) != len(old) {
		return false
	}
	if len(items) == 0 {
		return true
	}
	if n.listType != mapList {
		return Equal(items, old)
	}
	if !n.correlates() || n.items == nil {
		return false
	}
	before := newKeyed(n.listMap, old)
	for _, v := range items {
		was := before.item(v)
		if !was.known || !n.items.same(v, was.value) {
			return false
		}
	}
	return true
}

func (n *node) sameObject(fields, old map[string]any) bool {
	if len(fields) != len(old) {
		return false
	}
	for name, v := range fields {
		was, ok := old[name]
		child, _ := n.child(name)
		if !ok || child == nil || !child.same(v, was) {
			return false
		}
	}
	return true
}

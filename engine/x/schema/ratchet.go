package schema

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
func (p oldValue) list(n *node) *OldItems {
	old, ok := p.value.([]any)
	if !p.known || !ok || !n.correlates() {
		return nil
	}
	return NewOldItems(n.listMap, old)
}

// oldItem returns the oldValue of an item that OldItems.Get returned.
func oldItem(v any) oldValue { return oldValue{known: v != nil, value: v} }

func (n *node) correlates() bool { return n.isArray && n.listType == mapList && len(n.listMap) > 0 }

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
	before := NewOldItems(n.listMap, old)
	for _, v := range items {
		was := before.Get(v)
		if was == nil || !n.items.same(v, was) {
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

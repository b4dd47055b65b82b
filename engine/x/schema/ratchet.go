package schema

type oldValue struct {
	known bool
	value any
}

// The API server converts apiVersion and kind of both objects, so it cannot see a change of them.
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

func (p oldValue) list(n *node) *OldItems {
	old, ok := p.value.([]any)
	if !p.known || !ok || !n.correlates() {
		return nil
	}
	return NewOldItems(n.listMap, old)
}

func oldItem(v any) oldValue { return oldValue{known: v != nil, value: v} }

func (n *node) correlates() bool { return n.isArray && n.listType == mapList && len(n.listMap) > 0 }

// A Ratcheted is a schema node of type N as ratcheting reads it. Each method returns false if the node has no such
// part.
type Ratcheted[N any] interface {
	// MapList returns the keys of a list of type map. keys is nil if the node is not an array.
	MapList() (keys []string, ok bool)
	Element() (N, bool)
	Field(name string) (N, bool)
}

func (n *node) MapList() ([]string, bool) {
	if n.correlates() {
		return n.listMap, true
	}
	return nil, n.listType == mapList
}

func (n *node) Element() (*node, bool) { return n.items, n.items != nil }

func (n *node) Field(name string) (*node, bool) {
	child, _ := n.child(name)
	return child, child != nil
}

// Same reports whether v equals old as in the API server's ratcheting: map lists are compared by
// key in any order, objects field by field, and other values, including other lists, with Equal.
// Objects with fields that are not in the schema are never the same, unless they are in a list that
// is compared with Equal.
func Same[N Ratcheted[N]](n N, v, old any) bool {
	switch v := v.(type) {
	case nil:
		return old == nil
	case []any:
		old, ok := old.([]any)
		return ok && len(v) == len(old) && sameItems(n, v, old)
	case map[string]any:
		old, ok := old.(map[string]any)
		return ok && len(v) == len(old) && sameFields(n, v, old)
	}
	return Equal(v, old)
}

func sameItems[N Ratcheted[N]](n N, items, old []any) bool {
	keys, ok := n.MapList()
	if !ok {
		return Equal(items, old)
	}
	element, ok := n.Element()
	before := NewOldItems(keys, old)
	for _, v := range items {
		was := before.Get(v)
		if !ok || was == nil || !Same(element, v, was) {
			return false
		}
	}
	return true
}

func sameFields[N Ratcheted[N]](n N, fields, old map[string]any) bool {
	for name, v := range fields {
		was, had := old[name]
		field, ok := n.Field(name)
		if !had || !ok || !Same(field, v, was) {
			return false
		}
	}
	return true
}

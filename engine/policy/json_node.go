package policy

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// A patchNode is a value in a JSON document that is patched. A null in the original document is a nil
// *patchNode, and a null in an operation is a node, because they differ in the server's library.
type patchNode struct {
	value any // decoded JSON, unless the node is expanded
	kind  nodeKind
	// deep is set if the value has more than maxDepth levels.
	deep bool
	list []*patchNode
	// object is nil for an expanded null: it can be read, but not written.
	object map[string]*patchNode
}

type nodeKind uint8

const (
	valueNode nodeKind = iota // not expanded
	listNode
	objectNode
)

// newNode returns the node of a value in the original document. A nil list is null in JSON.
func newNode(v any) *patchNode {
	if list, ok := v.([]any); v == nil || ok && list == nil {
		return nil
	}
	return &patchNode{value: v}
}

// expand prepares access to the parts of a list or object. It returns false for other values, and if the
// server's library cannot decode the node.
func (n *patchNode) expand() bool {
	if n.kind != valueNode {
		return true
	}
	if n.deep {
		return false
	}
	switch v := n.value.(type) {
	case nil:
		n.kind = objectNode
	case map[string]any:
		n.kind, n.object = objectNode, make(map[string]*patchNode, len(v))
		for name, field := range v {
			n.object[name] = newNode(field)
		}
	case []any:
		n.kind, n.list = listNode, make([]*patchNode, len(v))
		for i, item := range v {
			n.list[i] = newNode(item)
		}
	default:
		return false
	}
	n.value = nil
	return true
}

func indexError(index int) error {
	return errorText(fmt.Sprintf("Unable to access invalid index: %d: %v", index, errInvalidIndex))
}

// index returns the index of an existing item.
func (n *patchNode) index(key string) (int, error) {
	given, err := strconv.Atoi(key)
	if err != nil {
		return 0, err
	}
	i := given
	if i < 0 {
		i += len(n.list)
	}
	if i < 0 || i >= len(n.list) {
		return 0, indexError(given)
	}
	return i, nil
}

// get returns a part of an expanded node. A missing field is nil.
func (n *patchNode) get(key string) (*patchNode, error) {
	if n.kind == objectNode {
		return n.object[key], nil
	}
	i, err := n.index(key)
	if err != nil {
		return nil, err
	}
	return n.list[i], nil
}

// set replaces a part that get returned.
func (n *patchNode) set(key string, v *patchNode) error {
	if n.kind == objectNode {
		return n.add(key, v)
	}
	i, err := n.index(key)
	if err == nil {
		n.list[i] = v
	}
	return err
}

func (n *patchNode) add(key string, v *patchNode) error {
	switch {
	case n.kind == objectNode && n.object == nil:
		return errCrash
	case n.kind == objectNode:
		n.object[key] = v
		return nil
	case key == "-":
		n.list = append(n.list, v)
		return nil
	}
	given, err := strconv.Atoi(key)
	if err != nil {
		return fmt.Errorf("value was not a proper array index: '%s': %w", key, err)
	}
	i := given
	if i < 0 {
		i += len(n.list) + 1
	}
	if i < 0 || i > len(n.list) {
		return indexError(given)
	}
	n.list = append(n.list, nil)
	copy(n.list[i+1:], n.list[i:])
	n.list[i] = v
	return nil
}

func (n *patchNode) remove(key string) error {
	if n.kind == objectNode {
		if _, ok := n.object[key]; !ok {
			return errorText(fmt.Sprintf("Unable to remove nonexistent key: %s: %v", key, errMissing))
		}
		delete(n.object, key)
		return nil
	}
	i, err := n.index(key)
	if err == nil {
		n.list = append(n.list[:i], n.list[i+1:]...)
	}
	return err
}

// equal reports whether a test operation on a finds b. The error is errCrash if a list has a null. A null in
// an operation equals an empty object or list, like in the server's library.
func (p *patcher) equal(a, b *patchNode) (bool, error) {
	p.work++
	if a == nil || b == nil {
		return false, errCrash
	}
	if p.work > maxPatchWork {
		return false, nil // applyPatch reports it
	}
	if a.kind == valueNode && !a.expand() {
		return b.kind == valueNode && scalarText(a.value) == scalarText(b.value), nil
	}
	if a.kind == objectNode {
		return p.equalObjects(a, b)
	}
	items := b.list
	if b.kind == valueNode && b.value != nil {
		b.expand()
		items = b.list
	}
	if b.kind != listNode && (b.kind != valueNode || b.value != nil) || len(a.list) != len(items) {
		return false, nil
	}
	for i := range a.list {
		if equal, err := p.equal(a.list[i], items[i]); !equal {
			return false, err
		}
	}
	return true, nil
}

func (p *patcher) equalObjects(a, b *patchNode) (bool, error) {
	if b.expand(); b.kind != objectNode || len(a.object) != len(b.object) {
		return false, nil
	}
	for name, field := range a.object {
		other, ok := b.object[name]
		switch {
		case !ok || (field == nil) != (other == nil):
			return false, nil
		case field == nil:
			continue
		}
		if equal, err := p.equal(field, other); !equal {
			return false, err
		}
	}
	return true, nil
}

// scalarText returns the JSON of a scalar, and "" for other values.
func scalarText(v any) string {
	switch v.(type) {
	case string, bool, int64, float64:
		data, err := json.Marshal(v)
		if err == nil {
			return string(data)
		}
	}
	return ""
}

package engine

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	valueschema "github.com/celadon-cel/celadon/engine/x/schema"
)

// A frame is a node on the path from the root of an object to the current node, together with its
// old value. Frames decide ratcheting. See
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting.
type frame struct {
	// correlated is set if the old value is known. Otherwise schema, obj, and old are unset.
	correlated bool
	// compared is set once equal is known.
	compared, equal bool
	// parent is the index of the nearest correlated frame above, or noFrame at the root.
	parent   int
	schema   *schema.Structural
	obj, old any
}

// frames holds the frames from the root down to the current node, which is last.
type frames []frame

const noFrame = -1

// unchanged reports whether errors at the current node are ratcheted: whether its value equals the
// old value. If the node is not correlated, the nearest correlated node above is compared instead.
func (fs frames) unchanged() bool {
	at := len(fs) - 1
	if at >= 0 && !fs[at].correlated {
		at = fs[at].parent
	}
	return at >= 0 && fs[at].same()
}

func (f *frame) same() bool {
	if !f.compared {
		f.compared, f.equal = true, valueschema.Same(ratcheted{f.schema}, f.obj, f.old)
	}
	return f.equal
}

// allOf returns the frame of a node's allOf. Only the nodes above it can ratchet its errors.
func (fs frames) allOf() frame { return frame{parent: fs[len(fs)-1].parent} }

// field returns the frame of a field or of a map entry. s is its schema.
func (fs frames) field(name string, s *schema.Structural) frame {
	f := &fs[len(fs)-1]
	child := frame{parent: f.parent}
	if !f.correlated {
		return child
	}
	if f.parent == noFrame && (name == "apiVersion" || name == "kind") {
		return child // conversion to a common version hides changes
	}
	child.parent = len(fs) - 1
	fields, _ := f.obj.(map[string]any)
	oldFields, _ := f.old.(map[string]any)
	obj, has := fields[name]
	if old, had := oldFields[name]; has && had {
		child.correlated, child.schema, child.obj, child.old = true, s, obj, old
	}
	return child
}

// item returns the frame of a list item. old is the item with the same key, or nil.
func (fs frames) item(obj, old any) frame {
	f := &fs[len(fs)-1]
	child := frame{parent: f.parent}
	if !f.correlated {
		return child
	}
	child.parent = len(fs) - 1
	if old != nil && f.schema.Items != nil && isMapList(f.schema) {
		child.correlated, child.schema, child.obj, child.old = true, f.schema.Items, obj, old
	}
	return child
}

// ratcheted is a schema node for valueschema.Same.
type ratcheted struct{ *schema.Structural }

func (r ratcheted) MapList() (keys []string, ok bool) {
	if r.Type == "array" {
		keys = r.XListMapKeys
	}
	return keys, isMapList(r.Structural)
}

func (r ratcheted) Element() (ratcheted, bool) { return ratcheted{r.Items}, r.Items != nil }

func (r ratcheted) Field(name string) (ratcheted, bool) {
	if prop, ok := r.Properties[name]; ok {
		return ratcheted{&prop}, true
	}
	values := additional(r.Structural)
	return ratcheted{values}, values != nil
}

// newOldList finds old items of a map list by key. It returns nil for other lists.
func newOldList(s *schema.Structural, items []any) *valueschema.OldItems {
	if s.Type != "array" || !isMapList(s) {
		return nil
	}
	return valueschema.NewOldItems(s.XListMapKeys, items)
}

func isMapList(s *schema.Structural) bool { return s.XListType != nil && *s.XListType == "map" }

package engine

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	valueschema "github.com/celadon-cel/celadon/engine/x/schema"
)

// A frame is a node on the path from the root of an object to the current node, together with its old value. Frames
// determine ratcheting. See
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting.
type frame struct {
	// If correlated is not set, schema, obj, and old are unset.
	correlated bool
	// equal is valid only if compared is set.
	compared, equal bool
	// parent is the index of the nearest correlated frame above, or noFrame.
	parent   int
	schema   *schema.Structural
	obj, old any
}

// frames holds the frames from the root down to the current node, which is last.
type frames []frame

const noFrame = -1

// unchanged reports whether errors at the current node are ratcheted. If the node is not correlated, the nearest
// correlated node above is compared.
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

// Only the nodes above an allOf can ratchet its errors.
func (fs frames) allOf() frame { return frame{parent: fs[len(fs)-1].parent} }

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

// old is the item with the same key, or nil.
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

// newOldList returns nil for lists that are not map lists.
func newOldList(s *schema.Structural, items []any) *valueschema.OldItems {
	if s.Type != "array" || !isMapList(s) {
		return nil
	}
	return valueschema.NewOldItems(s.XListMapKeys, items)
}

func isMapList(s *schema.Structural) bool { return s.XListType != nil && *s.XListType == "map" }

package engine

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiserver/pkg/cel/common"

	valueschema "github.com/celadon-cel/celadon/engine/x/schema"
)

// frame is a node on the way down an object with its old self, for ratcheting.
// See
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting.
type frame struct {
	// correlated is false where the old value cannot be told; schema, obj and
	// old are then unset.
	correlated bool
	equality   equality // asked for often, told once
	// parent is the nearest correlated frame above; noFrame at the root.
	parent   int
	schema   *schema.Structural
	obj, old any
}

// frames are those from the root down to the node at hand, the last.
type frames []frame

const noFrame = -1

type equality uint8

const (
	untold equality = iota
	equal
	different
)

// unchanged tells whether errors at the node at hand are ratcheted: its value,
// or else the nearest correlatable one above, equals its old self.
func (fs frames) unchanged() bool {
	at := len(fs) - 1
	if at >= 0 && !fs[at].correlated {
		at = fs[at].parent
	}
	return at >= 0 && fs[at].same()
}

func (f *frame) same() bool {
	if f.equality == untold {
		f.equality = different
		if sameValue(f.obj, f.old, f.schema) {
			f.equality = equal
		}
	}
	return f.equality == equal
}

// allOf is the frame of a node's allOf: only what is above ratchets its errors.
func (fs frames) allOf() frame { return frame{parent: fs[len(fs)-1].parent} }

// field is the frame of an object's field, or of a map's entry, whose schema is
// s.
func (fs frames) field(name string, s *schema.Structural) frame {
	f := &fs[len(fs)-1]
	child := frame{parent: f.parent}
	if !f.correlated {
		return child
	}
	if f.parent == noFrame && (name == "apiVersion" || name == "kind") {
		return child // both are converted to one version: a change is not seen
	}
	child.parent = len(fs) - 1
	if obj, old, both := entryPair(f.obj, f.old, name); both {
		child.correlated, child.schema, child.obj, child.old = true, s, obj, old
	}
	return child
}

// item is the frame of a list's item whose old self, by key, is old.
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

// entryPair finds an entry that both objects have.
func entryPair(obj, old any, name string) (entry, oldEntry any, both bool) {
	m, isMap := obj.(map[string]any)
	oldM, wasMap := old.(map[string]any)
	if !isMap || !wasMap {
		return nil, nil, false
	}
	entry, has := m[name]
	oldEntry, had := oldM[name]
	return entry, oldEntry, has && had
}

// sameValue compares as ratcheting does: map lists by key, objects field by field
// where the schema knows each field, anything else as it is.
func sameValue(obj, old any, s *schema.Structural) bool {
	if obj == nil || old == nil {
		return obj == nil && old == nil
	}
	switch obj := obj.(type) {
	case []any:
		old, ok := old.([]any)
		return ok && sameList(obj, old, s)
	case map[string]any:
		old, ok := old.(map[string]any)
		return ok && sameMap(obj, old, s)
	}
	return valueschema.Equal(obj, old)
}

func sameList(obj, old []any, s *schema.Structural) bool {
	if len(obj) != len(old) {
		return false
	}
	if !isMapList(s) {
		return valueschema.Equal(obj, old)
	}
	if s.Items == nil {
		return len(obj) == 0
	}
	byKey := oldItems(s, old)
	for _, item := range obj {
		oldItem := byKey.Get(item)
		if oldItem == nil || !sameValue(item, oldItem, s.Items) {
			return false
		}
	}
	return true
}

func sameMap(obj, old map[string]any, s *schema.Structural) bool {
	if len(obj) != len(old) {
		return false
	}
	for name, entry := range obj {
		oldEntry, had := old[name]
		if !had || !sameEntry(entry, oldEntry, s, name) {
			return false
		}
	}
	return true
}

// sameEntry is false for what the schema does not know.
func sameEntry(entry, old any, s *schema.Structural, name string) bool {
	if prop, ok := s.Properties[name]; ok {
		return sameValue(entry, old, &prop)
	}
	values := additional(s)
	return values != nil && sameValue(entry, old, values)
}

func isMapList(s *schema.Structural) bool { return s.XListType != nil && *s.XListType == "map" }

// oldItems finds items of a map list by key; in other lists it finds none.
func oldItems(s *schema.Structural, items []any) common.MapList {
	return common.MakeMapList(&model.Structural{Structural: s}, items)
}

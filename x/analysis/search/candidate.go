package search

import (
	"encoding/json"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
)

// Operation is what a write does.
type Operation string

// The operations.
const (
	Create Operation = "create"
	Update Operation = "update"
	Status Operation = "status"
)

// candidate is a write while it is being made. Both objects have the form that
// rules see: with defaults.
type candidate struct {
	op  Operation
	obj map[string]any
	old map[string]any // nil on create
	// split: the status is written by an operation of its own.
	split bool
}

func (w *candidate) clone() *candidate {
	c := *w
	c.obj = copied(w.obj).(map[string]any)
	if w.old != nil {
		c.old = copied(w.old).(map[string]any)
	}
	return &c
}

// id tells worlds apart.
func (w *candidate) id() string {
	data, err := json.Marshal([]any{w.op, w.obj, w.old})
	if err != nil {
		return ""
	}
	return string(data)
}

func copied(v any) any { return runtime.DeepCopyJSONValue(v) }

// place is a value in one of a world's objects, there or not.
type place struct {
	old  bool
	path []engine.Step
	node node
}

func (p place) step(s engine.Step) place {
	return place{p.old, append(slices.Clip(p.path), s), p.node.step(s)}
}

func (p place) field(name string) place {
	return place{p.old, append(slices.Clip(p.path), engine.Step{Name: name}), p.node.field(name)}
}

func (p place) item(i int) place {
	return place{p.old, append(slices.Clip(p.path), engine.Step{Item: true, Index: i}), p.node.items()}
}

func (w *candidate) root(old bool) map[string]any {
	if old {
		return w.old
	}
	return w.obj
}

// get is the value of a place; ok is false where there is none.
func (w *candidate) get(p place) (v any, ok bool) {
	root := w.root(p.old)
	if root == nil {
		return nil, false
	}
	v = root
	for _, s := range p.path {
		if v, ok = child(v, s); !ok {
			return nil, false
		}
	}
	return v, true
}

func child(v any, s engine.Step) (any, bool) {
	switch v := v.(type) {
	case []any:
		if s.Item && s.Index < len(v) {
			return v[s.Index], true
		}
	case map[string]any:
		below, ok := v[key(s)]
		return below, ok
	}
	return nil, false
}

// places are those below a place that a path with [*] names and that hold
// something.
func (w *candidate) places(p place, steps []engine.Step, all []place) []place {
	v, ok := w.get(p)
	if !ok || len(all) >= maxInstances {
		return all
	}
	if len(steps) == 0 {
		return append(all, p)
	}
	if !steps[0].Any {
		return w.places(p.step(steps[0]), steps[1:], all)
	}
	switch v := v.(type) {
	case []any:
		for i := range v {
			all = w.places(p.item(i), steps[1:], all)
		}
	case map[string]any:
		for _, name := range sortedKeys(v) {
			all = w.places(p.field(name), steps[1:], all)
		}
	}
	return all
}

// shared is true of what the operation cannot change: one value stands in both
// objects.
func (w *candidate) shared(p place) bool {
	if w.old == nil || len(p.path) == 0 {
		return false
	}
	status := p.path[0].Name == "status"
	switch {
	case p.path[0].Name == "metadata", p.path[0].Name == "apiVersion", p.path[0].Name == "kind":
		return true
	case w.op == Status:
		return !status
	case w.op == Update && w.split:
		return status
	}
	return false
}

// put sets a value whose parent is there.
func (w *candidate) put(p place, v any) bool {
	ok := w.putIn(p, v)
	if w.shared(p) {
		p.old = !p.old
		ok = w.putIn(p, copied(v)) || ok
	}
	return ok
}

func (w *candidate) putIn(p place, v any) bool {
	root := w.root(p.old)
	if root == nil || len(p.path) == 0 {
		return false
	}
	parent, ok := w.get(place{old: p.old, path: p.path[:len(p.path)-1]})
	if !ok {
		return false
	}
	last := p.path[len(p.path)-1]
	switch parent := parent.(type) {
	case map[string]any:
		parent[key(last)] = v
		return true
	case []any:
		if last.Index < len(parent) {
			parent[last.Index] = v
			return true
		}
		return last.Index == len(parent) && w.setList(place{old: p.old, path: p.path[:len(p.path)-1]}, append(slices.Clip(parent), v))
	}
	return false
}

func (w *candidate) setList(p place, list []any) bool {
	if len(p.path) == 0 {
		return false
	}
	parent, ok := w.get(place{old: p.old, path: p.path[:len(p.path)-1]})
	if !ok {
		return false
	}
	last := p.path[len(p.path)-1]
	switch parent := parent.(type) {
	case map[string]any:
		parent[key(last)] = list
		return true
	case []any:
		parent[last.Index] = list
		return true
	}
	return false
}

// drop takes a value away.
func (w *candidate) drop(p place) bool {
	ok := w.dropIn(p)
	if w.shared(p) {
		p.old = !p.old
		ok = w.dropIn(p) || ok
	}
	return ok
}

func (w *candidate) dropIn(p place) bool {
	if w.root(p.old) == nil || len(p.path) == 0 {
		return false
	}
	up := place{old: p.old, path: p.path[:len(p.path)-1]}
	parent, ok := w.get(up)
	if !ok {
		return false
	}
	last := p.path[len(p.path)-1]
	switch parent := parent.(type) {
	case map[string]any:
		if _, ok := parent[key(last)]; !ok {
			return false
		}
		delete(parent, key(last))
		return true
	case []any:
		return last.Index < len(parent) && w.setList(up, slices.Delete(slices.Clone(parent), last.Index, last.Index+1))
	}
	return false
}

// keep remembers what stands at a place, to put it back.
func (w *candidate) keep(p place) (restore func()) {
	for n := range p.path {
		at := place{old: p.old, path: p.path[:n+1]}
		v, ok := w.get(at)
		switch {
		case !ok && at.path[n].Item && n > 0: // items before it may be added too
			at.path = at.path[:n]
			v, _ = w.get(at)
			v = copied(v)
			return func() { w.put(at, v) }
		case !ok:
			return func() { w.drop(at) }
		case n == len(p.path)-1:
			v = copied(v)
			return func() { w.put(at, v) }
		}
	}
	before := w.clone()
	return func() { *w = *before }
}

// parent is the place above; not for the root.
func (p place) parent(root node) place {
	up := place{p.old, p.path[:len(p.path)-1], root}
	for _, s := range up.path {
		up.node = up.node.step(s)
	}
	return up
}

// key is a step's name in an object or a map.
func key(s engine.Step) string {
	if s.Item {
		return strconv.Itoa(s.Index)
	}
	return s.Name
}

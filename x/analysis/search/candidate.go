package search

import (
	"hash/maphash"
	"maps"
	"slices"

	"github.com/google/cel-go/common/ast"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// Operation is the kind of a write.
type Operation string

const (
	Create Operation = "create"
	Update Operation = "update"
	Status Operation = "status"
)

type candidate struct {
	op  Operation
	obj map[string]any
	old map[string]any // nil on create
	// split is set if the status is a subresource with its own update operation.
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

// changeable returns a copy in which the values at p may be replaced or dropped. Other values are shared.
func (w *candidate) changeable(p objectPath) *candidate {
	c := *w
	above := p.path[:len(p.path)-1]
	c.obj = copiedAlong(w.obj, above).(map[string]any)
	if w.old != nil {
		c.old = copiedAlong(w.old, above).(map[string]any)
	}
	return &c
}

func copiedAlong(v any, path []engine.Step) any {
	switch v := v.(type) {
	case map[string]any:
		v = maps.Clone(v)
		if len(path) > 0 && v[valuediff.Key(path[0])] != nil {
			v[valuediff.Key(path[0])] = copiedAlong(v[valuediff.Key(path[0])], path[1:])
		}
		return v
	case []any:
		v = slices.Clone(v)
		if len(path) > 0 && path[0].Index < len(v) {
			v[path[0].Index] = copiedAlong(v[path[0].Index], path[1:])
		}
		return v
	}
	return v
}

// hash returns a number that almost certainly differs between different objects.
func (w *candidate) hash() uint64 {
	return maphash.Comparable(hashSeed, [2]uint64{hashOf(w.obj), hashOf(w.old)})
}

var hashSeed = maphash.MakeSeed()

func hashOf(v any) uint64 {
	var sum uint64
	switch v := v.(type) {
	case map[string]any:
		sum = 1
		if v == nil {
			sum = 2
		}
		for name, below := range v { // in any order
			sum += maphash.Comparable(hashSeed, [2]uint64{maphash.String(hashSeed, name), hashOf(below)})
		}
	case []any:
		sum = 3
		for _, below := range v {
			sum = maphash.Comparable(hashSeed, [2]uint64{sum + 1, hashOf(below)})
		}
	default:
		sum = maphash.Comparable(hashSeed, v)
	}
	return sum
}

func copied(v any) any { return runtime.DeepCopyJSONValue(v) }

// An objectPath is a path in one of a candidate's objects, whether or not it has a value.
type objectPath struct {
	old  bool
	path []engine.Step
	node node
}

func (p objectPath) step(s engine.Step) objectPath {
	return objectPath{p.old, append(slices.Clip(p.path), s), p.node.step(s)}
}

func (p objectPath) field(name string) objectPath { return p.step(engine.Step{Name: name}) }

func (p objectPath) item(i int) objectPath { return p.step(engine.Step{Item: true, Index: i}) }

func (w *candidate) root(old bool) map[string]any {
	if old {
		return w.old
	}
	return w.obj
}

func (w *candidate) get(p objectPath) (v any, ok bool) {
	if w.root(p.old) == nil {
		return nil, false
	}
	return valuediff.At(w.root(p.old), p.path...)
}

func (w *candidate) matchingPaths(p objectPath, steps []engine.Step, all []objectPath) []objectPath {
	v, ok := w.get(p)
	if !ok || len(all) >= maxInstances {
		return all
	}
	if len(steps) == 0 {
		return append(all, p)
	}
	if !steps[0].Any {
		return w.matchingPaths(p.step(steps[0]), steps[1:], all)
	}
	for step := range valuediff.Children(v) {
		all = w.matchingPaths(p.step(step), steps[1:], all)
	}
	return all
}

// shared reports whether the operation cannot change p, so that both objects must have the same
// value there.
func (w *candidate) shared(p objectPath) bool {
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

// put sets the value at p if its parent exists, in both objects if p is shared.
func (w *candidate) put(p objectPath, v any) bool {
	ok := w.putIn(p, v)
	if w.shared(p) {
		p.old = !p.old
		ok = w.putIn(p, copied(v)) || ok
	}
	return ok
}

// above returns the path above p, without its node, the value there or nil, and the last step of p.
func (w *candidate) above(p objectPath) (up objectPath, parent any, last engine.Step) {
	if len(p.path) == 0 {
		return p, nil, last
	}
	up = objectPath{old: p.old, path: p.path[:len(p.path)-1]}
	parent, _ = w.get(up)
	return up, parent, p.path[len(p.path)-1]
}

func (w *candidate) putIn(p objectPath, v any) bool {
	up, parent, last := w.above(p)
	switch parent := parent.(type) {
	case map[string]any:
		parent[valuediff.Key(last)] = v
		return true
	case []any:
		if last.Index < len(parent) {
			parent[last.Index] = v
			return true
		}
		return last.Index == len(parent) && w.putIn(up, append(slices.Clip(parent), v))
	}
	return false
}

func (w *candidate) drop(p objectPath) bool {
	ok := w.dropIn(p)
	if w.shared(p) {
		p.old = !p.old
		ok = w.dropIn(p) || ok
	}
	return ok
}

func (w *candidate) dropIn(p objectPath) bool {
	up, parent, last := w.above(p)
	switch parent := parent.(type) {
	case map[string]any:
		if _, ok := parent[valuediff.Key(last)]; !ok {
			return false
		}
		delete(parent, valuediff.Key(last))
		return true
	case []any:
		return last.Index < len(parent) && w.putIn(up, slices.Delete(slices.Clone(parent), last.Index, last.Index+1))
	}
	return false
}

// keep returns a function that restores the current value at p.
func (w *candidate) keep(p objectPath) (restore func()) {
	for n := range p.path {
		at := objectPath{old: p.old, path: p.path[:n+1]}
		v, ok := w.get(at)
		switch {
		case !ok && at.path[n].Item && n > 0: // earlier items may also be added
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

// parent returns the path above p, which must not be the root.
func (p objectPath) parent(root node) objectPath {
	up := p.path[:len(p.path)-1]
	return objectPath{p.old, up, root.at(up)}
}

func (b *adjuster) member(e ast.Expr, sc *scope, want bool) {
	x, of := e.AsCall().Args()[0], e.AsCall().Args()[1]
	if !want {
		b.differ(x, sc, e)
		return
	}
	all := elementsOf(b.eval(of, sc))
	for _, i := range b.m.rng.Perm(len(all)) {
		if b.equal(x, sc, expr.Native(all[i])) && b.is(e, sc, true) {
			return
		}
	}
	if !b.admit(x, of, sc) {
		b.exist(e, sc)
		b.admit(x, of, sc)
	}
}

// admit makes the value of x an item of a list or a key of a map. It may replace an item of a full or computed list.
func (b *adjuster) admit(x, of ast.Expr, sc *scope) bool {
	v, ok := b.native(x, sc)
	if !ok {
		return false
	}
	h, ok := b.locate(of, sc)
	if !ok || h.key {
		elements := b.elements(of, sc)
		if len(elements) == 0 {
			if !b.grow(of, sc) {
				return false
			}
			elements = b.elements(of, sc)
		}
		for _, el := range elements {
			if b.equalBinding(el, v) {
				return true
			}
		}
		return false
	}
	if name, ok := v.(string); ok && h.node.isMap() {
		return b.ensure(h.field(name))
	}
	list, _ := b.w.get(h.objectPath)
	items, _ := list.([]any)
	if items == nil && !b.ensure(h.objectPath) {
		return false
	}
	f := b.m.facts(h.node, nil)
	if f.maxItems >= 0 && len(items) >= f.maxItems && len(items) > 0 {
		return b.assign(handle{objectPath: h.item(len(items) - 1)}, v)
	}
	return b.assign(handle{objectPath: h.objectPath}, append(items[:len(items):len(items)], v))
}

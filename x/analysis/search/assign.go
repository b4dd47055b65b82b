package search

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
)

// assign sets a handle to a value, and makes what leads there. It refuses what
// its schema surely does not take.
func (b *adjuster) assign(h handle, v any) bool {
	if v == nil {
		return !h.key && b.absent(h.place)
	}
	if h.key {
		name, ok := v.(string)
		return ok && b.rename(h.place, name)
	}
	v, ok := b.suits(h.node, v)
	if !ok || !b.ensureParent(h.place) {
		return false
	}
	return b.w.put(h.place, copied(v))
}

// suits brings a value into the form of a schema.
func (b *adjuster) suits(n node, v any) (any, bool) {
	switch n.kind() {
	case "integer":
		if f, ok := v.(float64); ok && f == float64(int64(f)) {
			return int64(f), true
		}
		_, ok := v.(int64)
		return v, ok && b.listed(n, v)
	case "number":
		switch v.(type) {
		case int64, float64:
			return v, true
		}
		return v, false
	case "boolean":
		_, ok := v.(bool)
		return v, ok && b.listed(n, v)
	case "string":
		_, ok := v.(string)
		return v, ok && b.listed(n, v)
	case "intOrString":
		switch v.(type) {
		case int64, string:
			return v, true
		}
		return v, false
	case "array":
		_, ok := v.([]any)
		return v, ok
	case "object":
		_, ok := v.(map[string]any)
		return v, ok
	}
	return v, true
}

// listed: an enum has the value.
func (b *adjuster) listed(n node, v any) bool {
	if n.s == nil || n.s.ValueValidation == nil || len(n.s.ValueValidation.Enum) == 0 {
		return true
	}
	for _, e := range n.s.ValueValidation.Enum {
		if equalJSON(e.Object, v) {
			return true
		}
	}
	return false
}

// rename gives a map's entry another key.
func (b *adjuster) rename(p place, name string) bool {
	v, ok := b.w.get(p)
	if !ok {
		return false
	}
	to := p.parent(b.s.root).field(name)
	if _, there := b.w.get(to); there {
		return false
	}
	v = copied(v)
	b.w.drop(p)
	return b.w.put(to, v)
}

// ensure makes a place be there, with what leads to it.
func (b *adjuster) ensure(p place) bool {
	b.m.work.Spend(len(p.path))
	if v, ok := b.w.get(p); ok && v != nil {
		return true
	}
	if b.m.work.Empty() || !b.ensureParent(p) {
		return false
	}
	if len(p.path) > 0 && p.path[len(p.path)-1].Item && p.path[len(p.path)-1].Name == "" && !p.parent(b.s.root).node.isMap() {
		return b.fill(p)
	}
	v := b.m.value(p.node, nil, 0)
	return v != nil && b.w.put(p, v)
}

func (b *adjuster) ensureParent(p place) bool {
	if len(p.path) == 0 {
		return b.w.root(p.old) != nil
	}
	return b.ensure(p.parent(b.s.root))
}

// fill adds items until there is one at an index.
func (b *adjuster) fill(p place) bool {
	up := p.parent(b.s.root)
	for range p.path[len(p.path)-1].Index + 1 {
		if _, ok := b.w.get(p); ok {
			return true
		}
		if b.spent() || !b.add(up) {
			return false
		}
	}
	_, ok := b.w.get(p)
	return ok
}

// where names a handle's place in the schema.
func (h handle) where() string {
	steps := slices.Clone(h.path)
	for i := range steps {
		if steps[i].Item {
			steps[i] = engine.Step{Any: true}
		}
	}
	if h.key {
		steps[len(steps)-1] = engine.Step{Name: "?"}
	}
	return engine.FormatPath(steps)
}

// id names a handle in one world.
func (h handle) id() string {
	var b strings.Builder
	if h.old {
		b.WriteByte('<')
	}
	b.WriteString(engine.FormatPath(h.path))
	if h.key {
		b.WriteByte('?')
	}
	return b.String()
}

package search

import (
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine"
)

// assign sets a handle to a value, or removes its value if v is nil. It creates missing parents and rejects values
// that do not match the type or enum of the schema.
func (b *adjuster) assign(h handle, v any) bool {
	if v == nil {
		return !h.key && b.absent(h.objectPath)
	}
	if h.key {
		name, ok := v.(string)
		return ok && b.rename(h.objectPath, name)
	}
	v, ok := b.suits(h.node, v)
	if !ok || !b.ensureParent(h.objectPath) {
		return false
	}
	return b.w.put(h.objectPath, copied(v))
}

func (b *adjuster) suits(n node, v any) (any, bool) {
	kind := n.kind()
	fits := kind == ""
	switch of := v.(type) {
	case bool:
		fits = fits || kind == "boolean"
	case int64:
		fits = fits || kind == "integer" || kind == "number" || kind == "intOrString"
	case float64:
		if kind == "integer" && of == float64(int64(of)) {
			v, fits = int64(of), true
		}
		fits = fits || kind == "number"
	case string:
		fits = fits || kind == "string" || kind == "intOrString"
	case []any:
		fits = fits || kind == "array"
	case map[string]any:
		fits = fits || kind == "object"
	}
	return v, fits && b.listed(n, v)
}

func (b *adjuster) listed(n node, v any) bool {
	if n.s == nil || n.s.ValueValidation == nil || len(n.s.ValueValidation.Enum) == 0 {
		return true
	}
	return slices.ContainsFunc(n.s.ValueValidation.Enum, func(e schema.JSON) bool { return equalJSON(e.Object, v) })
}

func (b *adjuster) rename(p objectPath, name string) bool {
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

// ensure creates p, including its parents, if it has no value or null. It reports whether p has a value
// then.
func (b *adjuster) ensure(p objectPath) bool {
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

func (b *adjuster) ensureParent(p objectPath) bool {
	if len(p.path) == 0 {
		return b.w.root(p.old) != nil
	}
	return b.ensure(p.parent(b.s.root))
}

func (b *adjuster) fill(p objectPath) bool {
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

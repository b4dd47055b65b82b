package search

import (
	"maps"
	"slices"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/internal/cel/loops"
)

// A loop is a macro over a list or a map. For the map macro, Body is the item.
type loop struct{ loops.Loop }

func loopOf(e ast.Expr) (loop, bool) {
	l, ok := loops.Of(e)
	if l.Name == loops.Map {
		l.Body = l.Item
	}
	return loop{l}, ok && l.Name != ""
}

func (l loop) enter(b *adjuster, sc *scope, of binding) *scope {
	if l.Index == "" {
		return sc.with(l.Variable, of)
	}
	if of.at != nil && of.at.key {
		value := handle{objectPath: of.at.objectPath}
		return sc.with(l.Index, of).with(l.Variable, binding{at: &value})
	}
	index := celtypes.Int(0)
	if of.at != nil && len(of.at.path) > 0 {
		index = celtypes.Int(of.at.path[len(of.at.path)-1].Index)
	}
	return sc.with(l.Index, binding{val: index}).with(l.Variable, of)
}

func elementsOf(v ref.Val) (all []ref.Val) {
	if o, ok := v.(*celtypes.Optional); ok && o.HasValue() {
		v = o.GetValue()
	}
	list, ok := v.(traits.Iterable)
	if !ok {
		return nil
	}
	for it := list.Iterator(); it.HasNext() == celtypes.True && len(all) < maxItems; {
		all = append(all, it.Next())
	}
	return all
}

const maxItems = 2000

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func (b *adjuster) macro(e ast.Expr, sc *scope, want bool) {
	l, ok := loopOf(e)
	if !ok {
		b.sample(e, sc, want)
		return
	}
	if b.fails(l.Over, sc) {
		b.exist(l.Over, sc)
	}
	switch {
	case l.Name == loops.All && want, l.Name == loops.Exists && !want:
		b.each(l, sc, want)
	case l.Name == loops.All, l.Name == loops.Exists:
		b.some(l, sc, want)
	case l.Name == loops.ExistsOne:
		b.exactlyOne(l, sc, want)
	default:
		b.sample(e, sc, want)
	}
}

// each makes the body evaluate to want for all elements, or drops them.
func (b *adjuster) each(l loop, sc *scope, want bool) {
	elements := b.elements(l.Over, sc)
	for i := len(elements) - 1; i >= 0; i-- { // backwards, because dropping moves later elements
		inner := l.enter(b, sc, elements[i])
		if b.is(l.Body, inner, want) {
			continue
		}
		if b.m.rng.IntN(8) == 0 && b.dropElement(elements[i]) {
			continue
		}
		if !b.truth(l.Body, inner, want) {
			b.dropElement(elements[i])
		}
	}
}

func (b *adjuster) dropElement(of binding) bool {
	h, ok := b.handleOf(of)
	return ok && b.w.drop(h.objectPath)
}

// some makes the body evaluate to want for one element, which it may add.
func (b *adjuster) some(l loop, sc *scope, want bool) bool {
	elements := b.elements(l.Over, sc)
	if len(elements) == 0 || b.m.rng.IntN(6) == 0 {
		if b.added(l, sc, want) {
			return true
		}
		elements = b.elements(l.Over, sc)
	}
	for _, i := range b.m.rng.Perm(len(elements)) {
		if b.truth(l.Body, l.enter(b, sc, elements[i]), want) {
			return true
		}
		if b.spent() {
			return false
		}
	}
	return len(elements) > 0 && b.added(l, sc, want)
}

func (b *adjuster) added(l loop, sc *scope, want bool) bool {
	if !b.grow(l.Over, sc) {
		return false
	}
	elements := b.elements(l.Over, sc)
	return len(elements) > 0 && b.truth(l.Body, l.enter(b, sc, elements[len(elements)-1]), want)
}

func (b *adjuster) exactlyOne(l loop, sc *scope, want bool) {
	elements := b.elements(l.Over, sc)
	var hits []binding
	for _, of := range elements {
		if b.is(l.Body, l.enter(b, sc, of), true) {
			hits = append(hits, of)
		}
	}
	switch {
	case want && len(hits) == 0:
		b.some(l, sc, true)
	case want:
		for i := len(hits) - 1; i > 0; i-- {
			if b.m.rng.IntN(2) == 0 || !b.truth(l.Body, l.enter(b, sc, hits[i]), false) {
				b.dropElement(hits[i])
			}
		}
	case len(hits) == 0:
	case b.m.rng.IntN(2) == 0:
		for i := len(hits) - 1; i >= 0; i-- {
			if !b.truth(l.Body, l.enter(b, sc, hits[i]), false) {
				b.dropElement(hits[i])
			}
		}
	default:
		b.another(l, sc)
	}
}

func (b *adjuster) grow(e ast.Expr, sc *scope) bool {
	if b.spent() {
		return false
	}
	if h, ok := b.locate(e, sc); ok && !h.key {
		return b.add(h.objectPath)
	}
	l, ok := loopOf(e)
	switch args := summands(e); {
	case args != nil:
		i := b.m.rng.IntN(2)
		return b.grow(args[i], sc) || b.grow(args[1-i], sc)
	case ok && l.Name == loops.Filter:
		return b.another(l, sc)
	case ok && l.Name == loops.Map:
		return b.grow(l.Over, sc)
	}
	return false
}

// another makes one more element pass a filter.
func (b *adjuster) another(l loop, sc *scope) bool {
	for _, of := range b.elements(l.Over, sc) {
		if inner := l.enter(b, sc, of); !b.is(l.Body, inner, true) && b.truth(l.Body, inner, true) {
			return true
		}
	}
	return b.added(l, sc, true)
}

func (b *adjuster) add(p objectPath) bool { return b.addMany(p, 1) }

func (b *adjuster) addMany(p objectPath, n int) bool {
	v, ok := b.w.get(p)
	if !ok || v == nil {
		if !b.ensure(p) {
			return false
		}
		v, _ = b.w.get(p)
		if list, ok := v.([]any); ok && len(list) > 0 {
			return true
		}
	}
	b.m.work.Spend(perValue + len(p.path))
	f := b.m.facts(p.node, nil)
	switch v := v.(type) {
	case []any:
		if f.maxItems >= 0 {
			n = min(n, f.maxItems-len(v))
		}
		l := itemsOf(p.node, slices.Grow(slices.Clip(v), max(n, 0)))
		for range n {
			b.m.another(l, p.node, f, 0)
		}
		return len(l.items) > len(v) && b.w.put(p, l.items)
	case map[string]any:
		if f.maxProperties >= 0 {
			n = min(n, f.maxProperties-len(v))
		}
		if !p.node.isMap() {
			return false
		}
		before := len(v)
		for range n {
			b.addKey(p, v)
		}
		return len(v) > before
	}
	return false
}

func (b *adjuster) addKey(p objectPath, m map[string]any) bool {
	first := 0
	if _, taken := m[mapKey(len(m))]; !taken && len(m) > 32 { // many keys are probably added, so low numbers are taken
		first = len(m)
	}
	for i := first; i <= len(m); i++ {
		if _, ok := m[mapKey(i)]; !ok {
			return b.w.put(p.field(mapKey(i)), b.m.value(p.node.values(), nil, 0))
		}
	}
	return false
}

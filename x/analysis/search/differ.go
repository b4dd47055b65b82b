package search

import (
	"math/rand/v2"
	"slices"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
)

// differ changes e until whole, the comparison that contains it, evaluates to another bool than before.
// If no attempt succeeds, it restores the candidate and returns false.
func (b *adjuster) differ(e ast.Expr, sc *scope, whole ast.Expr) bool {
	was := b.eval(whole, sc)
	done := func() bool {
		now := b.eval(whole, sc)
		return celtypes.IsBool(now) && now != was
	}
	for range 4 {
		if b.spent() {
			return false
		}
		before := b.w.clone()
		if b.otherwise(e, sc) && done() {
			return true
		}
		*b.w = *before
	}
	return false
}

func (b *adjuster) otherwise(e ast.Expr, sc *scope) bool {
	if b.spent() {
		return false
	}
	if h, ok := b.locate(e, sc); ok {
		return b.perturb(h)
	}
	now := b.eval(e, sc)
	switch e.Kind() {
	case ast.IdentKind:
		if at := sc.find(e.AsIdent()); at != nil && at.of.from != nil {
			return b.otherwise(at.of.from, at.of.in)
		}
	case ast.CallKind:
		if n, ok := now.(celtypes.Int); ok && e.AsCall().FunctionName() == "size" {
			to := int64(n) + 1
			if n > 0 && b.m.rng.IntN(2) == 0 {
				to = int64(n) - 1
			}
			if b.equal(e, sc, to) {
				return true
			}
		}
	}
	if now == celtypes.True || now == celtypes.False {
		return b.truth(e, sc, now == celtypes.False)
	}
	handles := b.handles(e, sc)
	return len(handles) > 0 && b.perturb(handles[b.m.rng.IntN(len(handles))])
}

func (b *adjuster) perturb(h handle) bool {
	if b.spent() {
		return false
	}
	now, ok := b.w.get(h.objectPath)
	if !ok || now == nil {
		return b.ensure(h.objectPath)
	}
	if h.key {
		return b.assign(h, b.m.unlike(node{}, h.path[len(h.path)-1].Name, func(v any) bool { return v != h.path[len(h.path)-1].Name }))
	}
	switch v := now.(type) {
	case map[string]any:
		return b.perturbObject(h, v)
	case []any:
		return b.add(h.objectPath) || len(v) > 0 && b.w.drop(h.item(b.m.rng.IntN(len(v))))
	case int64, float64, string, bool:
		if s, ok := v.(string); ok && b.m.rng.IntN(8) > 0 && b.textAt(h, textWant{avoid: oneText(s).match, max: -1}) {
			return true
		}
		other := b.m.unlike(h.node, v, func(o any) bool { return !equalJSON(o, v) })
		return !equalJSON(other, v) && b.assign(h, other)
	}
	return false
}

func (b *adjuster) perturbObject(h handle, obj map[string]any) bool {
	if h.node.isMap() && b.m.rng.IntN(2) == 0 {
		return b.add(h.objectPath)
	}
	names := h.node.names()
	if len(names) == 0 {
		names = sortedKeys(obj)
	}
	for _, name := range shuffled(names, b.m.rng) {
		at := h.field(name)
		if len(h.path) == 0 && (name == "metadata" || name == "apiVersion" || name == "kind" || b.w.shared(at)) {
			continue
		}
		_, there := obj[name]
		switch {
		case !there:
			if b.ensure(at) {
				return true
			}
		case b.m.rng.IntN(3) == 0 && b.optional(at):
			if b.w.drop(at) {
				return true
			}
		case b.perturb(handle{objectPath: at}):
			return true
		}
	}
	return false
}

func shuffled[T any](list []T, rng *rand.Rand) []T {
	out := slices.Clone(list)
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

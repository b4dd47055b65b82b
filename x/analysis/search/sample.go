package search

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/loops"
)

func (b *adjuster) handles(e ast.Expr, sc *scope) (all []handle) {
	if b.spent() {
		return nil
	}
	test := e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly()
	if h, ok := b.locate(e, sc); ok && !test {
		return []handle{h}
	}
	switch e.Kind() {
	case ast.IdentKind:
		if at := sc.find(e.AsIdent()); at != nil && at.of.from != nil {
			return b.handles(at.of.from, at.of.in)
		}
	case ast.ComprehensionKind:
		l, ok := loopOf(e)
		if !ok {
			return b.handles(e.AsComprehension().IterRange(), sc)
		}
		all = b.handles(l.Over, sc)
		for i, of := range b.elements(l.Over, sc) {
			if i < 3 {
				all = append(all, b.handles(l.Body, l.enter(b, sc, of))...)
			}
		}
	default:
		for _, part := range loops.Children(e) {
			all = append(all, b.handles(part, sc)...)
		}
	}
	return all
}

func literals(e ast.Expr) (all []any) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.LiteralKind {
			switch v := e.AsLiteral().(type) {
			case celtypes.String:
				all = append(all, string(v))
			case celtypes.Int:
				all = append(all, int64(v))
			case celtypes.Double:
				all = append(all, float64(v))
			}
		}
	}))
	return all
}

func readsField(e ast.Expr, name string) (found bool) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.SelectKind:
			found = found || e.AsSelect().FieldName() == name
		case ast.CallKind:
			if e.AsCall().FunctionName() == operators.OptSelect {
				found = found || e.AsCall().Args()[1].AsLiteral() == celtypes.String(name)
			}
		}
	}))
	return found
}

func (b *adjuster) sample(e ast.Expr, sc *scope, want bool) bool {
	return b.sampleOutcome(e, sc, func() bool { return b.is(e, sc, want) })
}

const sampleTries = 30

func (b *adjuster) sampleOutcome(e ast.Expr, sc *scope, done func() bool) bool {
	if b.quiet {
		return false
	}
	handles := b.handles(e, sc)
	if len(handles) == 0 {
		return false
	}
	if b.exist(e, sc); done() {
		return true
	}
	known := literals(e)
	for range sampleTries {
		if b.spent() {
			return false
		}
		h := handles[b.m.rng.IntN(len(handles))]
		at := h.objectPath
		if h.key {
			at.path = at.path[:len(at.path)-1]
		}
		restore := b.w.keep(at)
		if v, ok := b.candidate(h, known); ok && b.assign(h, v) && done() {
			return true
		}
		restore()
	}
	return false
}

func (b *adjuster) candidate(h handle, known []any) (any, bool) {
	rng := b.m.rng
	switch kind := h.node.kind(); {
	case h.key || kind == "string" || kind == "intOrString" && rng.IntN(2) == 0:
		return b.candidateText(h, known)
	case kind == "integer" || kind == "number" || kind == "intOrString":
		now, _ := b.w.get(h.objectPath)
		n, _ := now.(int64)
		pool := []any{int64(0), int64(1), int64(-1), n + 1, n - 1, n * 2, int64(rng.IntN(100)), b.m.value(h.node, nil, 0)}
		for _, v := range known {
			if i, ok := v.(int64); ok {
				pool = append(pool, i, i+1, i-1)
			}
		}
		v := pool[rng.IntN(len(pool))]
		return v, v != nil
	case kind == "boolean":
		return rng.IntN(2) == 0, true
	}
	if rng.IntN(3) == 0 && b.add(h.objectPath) {
		v, ok := b.w.get(h.objectPath)
		return v, ok
	}
	v := b.m.value(h.node, nil, 0)
	return v, v != nil
}

func (b *adjuster) candidateText(h handle, known []any) (any, bool) {
	rng := b.m.rng
	f := &facts{text: anyText()}
	if !h.key {
		f = b.m.facts(h.node, nil)
	}
	if len(f.enum) > 0 {
		return f.enum[rng.IntN(len(f.enum))], true
	}
	var pool []string
	for _, v := range known {
		if s, ok := v.(string); ok {
			pool = append(pool, s, s+"a", "a"+s)
		}
	}
	if rng.IntN(4) > 0 {
		pool = append(pool, usual...)
	}
	fitting := slices.DeleteFunc(pool, func(s string) bool { return !b.m.texts.has(f.text, s) })
	if len(fitting) == 0 || rng.IntN(5) == 0 {
		return b.m.texts.one(f.text, rng)
	}
	return fitting[rng.IntN(len(fitting))], true
}

package search

import (
	"regexp"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
)

// through changes the string from which split computes e, so that e meets w.
func (b *adjuster) through(e ast.Expr, sc *scope, w textWant) bool {
	switch e.Kind() {
	case ast.IdentKind:
		if at := sc.find(e.AsIdent()); at != nil && at.of.list != nil {
			return b.throughPart(at.of.list, at.of.in, at.of.index, w)
		}
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() != operators.Index {
			return false
		}
		i, ok := b.eval(call.Args()[1], sc).(celtypes.Int)
		return ok && i >= 0 && i < maxItems && b.throughPart(call.Args()[0], sc, int(i), w)
	}
	return false
}

const throughTries = 3

func (b *adjuster) throughUntil(e ast.Expr, sc *scope, w textWant, done func() bool) bool {
	for range throughTries {
		if !b.through(e, sc, w) {
			return false
		}
		if done() {
			return true
		}
	}
	return false
}

// throughPart replaces part i of the string that list, a call of split, splits. It adds parts if there are too few.
func (b *adjuster) throughPart(list ast.Expr, sc *scope, i int, w textWant) bool {
	if list.Kind() != ast.CallKind || list.AsCall().FunctionName() != "split" {
		return false
	}
	args, limit := list.AsCall().Args(), -1
	sep, _ := b.eval(args[0], sc).(celtypes.String)
	if len(args) > 1 {
		n, _ := b.eval(args[1], sc).(celtypes.Int)
		limit = int(n)
	}
	if sep == "" || limit >= 0 && i >= limit {
		return false
	}
	if i+1 != limit {
		w = w.and(textWant{avoid: []string{regexp.QuoteMeta(string(sep))}, max: -1})
	}
	part, ok := b.m.texts.one(w, b.m.rng)
	if !ok {
		return false
	}
	now, _ := b.native(list.AsCall().Target(), sc)
	text, _ := now.(string)
	parts := strings.SplitN(text, string(sep), limit)
	for len(parts) <= i {
		parts = append(parts, word)
	}
	parts[i] = part
	return b.equal(list.AsCall().Target(), sc, strings.Join(parts, string(sep)))
}

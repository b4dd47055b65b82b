package search

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/types"
)

// How it works. A requirement on a part of a string, such as self.split(':')[1], is translated to a
// pattern for the whole string that leaves everything else open. text.go can then intersect it with
// the requirements of other rules on the same string.

// maxRepeat is the maximum repeat count of a pattern, as in package regexp.
const maxRepeat = 1000

// through sets a string that is split so that a part of it meets w. It reports whether it set a value.
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
		return ok && i >= 0 && i < maxRepeat && b.throughPart(call.Args()[0], sc, int(i), w)
	}
	return false
}

// throughTries is the number of strings that are tried for a part.
const throughTries = 3

// throughUntil calls through until done returns true, and reports whether it did.
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

// A splitting is a call of split on a string.
type splitting struct {
	of    ast.Expr
	by    string
	limit int // maximum number of parts; 0: unlimited
}

func (b *adjuster) splittingOf(e ast.Expr, sc *scope) (s splitting, ok bool) {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "split" {
		return s, false
	}
	call := e.AsCall()
	sep, ok := b.eval(call.Args()[0], sc).(celtypes.String)
	if !ok || sep == "" {
		return s, false
	}
	s = splitting{of: call.Target(), by: string(sep)}
	if len(call.Args()) > 1 {
		limit, ok := b.eval(call.Args()[1], sc).(celtypes.Int)
		if !ok || limit <= 0 || limit > maxRepeat {
			return s, false
		}
		s.limit = int(limit)
	}
	return s, true
}

// throughPart sets a part of a string that is split to a string that meets w, and reports whether it set it.
// It adds parts if there are too few.
func (b *adjuster) throughPart(list ast.Expr, sc *scope, i int, w textWant) bool {
	s, ok := b.splittingOf(list, sc)
	if !ok || s.limit > 0 && i >= s.limit {
		return false
	}
	if i+1 != s.limit {
		w = w.and(textWant{avoid: []string{regexp.QuoteMeta(s.by)}, max: -1})
	}
	part, ok := b.m.texts.one(w, b.m.rng)
	if !ok {
		return false
	}
	now, _ := b.native(s.of, sc)
	text, _ := now.(string)
	parts := strings.SplitN(text, s.by, cmp.Or(s.limit, -1))
	for len(parts) <= i {
		parts = append(parts, word)
	}
	parts[i] = part
	return b.equal(s.of, sc, strings.Join(parts, s.by))
}

func (h handle) isBytes() bool { return h.node.d != nil && h.node.d.Kind == types.Bytes }

package vet

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/types"
)

// How it works: three forms of nested loops have an equivalent without the inner loop, also if a part
// fails to evaluate.
//
//   - A loop inside a loop that does not use the outer variable moves out of it: all(x, A || B) with an A
//     that does not mention x is A || all(x, B). If the list is empty, both are true. If A fails, both
//     are true if B holds for all elements, otherwise both fail.
//   - all(x, all(y, x.k == y.k)) compares each element with the first one instead, because equality
//     is transitive. The keys must be fields that are always there.
//   - exists(y, y == v) is v in list, if v cannot fail. In a loop, CEL's in costs a fifth.

func quadraticRule(in *inspection) *Lint {
	s := &loopSearch{inspection: in}
	s.visit(in.expr.ast.NativeRep().Expr(), 0)
	return s.found
}

type loopSearch struct {
	*inspection
	found *Lint
	tries int // replacements that were compiled
}

const maxTries = 4

func (s *loopSearch) visit(e ast.Expr, depth int) {
	if s.found != nil || s.tries > maxTries {
		return
	}
	if m, ok := macroOf(e); ok {
		for _, look := range []func(ast.Expr, loops.Loop) *Lint{s.invariant, s.allEqual} {
			if s.found = look(e, m); s.found != nil {
				return
			}
		}
		if depth > 0 {
			s.found = s.membership(e, m)
		}
	}
	if e.Kind() == ast.ComprehensionKind {
		loop := e.AsComprehension()
		s.visit(loop.IterRange(), depth)
		s.walk.within(loop, func() { s.visit(loop.LoopStep(), depth+1) })
		return
	}
	for _, part := range loops.Children(e) {
		s.visit(part, depth)
	}
}

func (s *loopSearch) instead(e ast.Expr, why, text string) *Lint {
	edit, ok := s.replaced(e, text)
	if s.tries++; !ok || s.tries > maxTries {
		return nil
	}
	fix := s.fixed(edit)
	if fix == "" {
		return nil
	}
	return &Lint{Message: why + ": write " + short(text), Fix: fix, Equivalent: true}
}

// invariant matches all(x, A || B) and exists(x, A && B) with a loop A that does not use x.
func (s *loopSearch) invariant(e ast.Expr, m loops.Loop) *Lint {
	op := map[string]string{"all": operators.LogicalOr, "exists": operators.LogicalAnd}[m.Name]
	if name, args := operation(m.Body); op != "" && name == op {
		for i, arg := range args {
			if p := s.moved(e, m, arg, args[1-i]); p != nil {
				return p
			}
		}
	}
	return nil
}

func (s *loopSearch) moved(e ast.Expr, m loops.Loop, part, rest ast.Expr) *Lint {
	if !loops.Inside(part) || !s.cannotFail(m.Over) || mentions(part, m.Variable, m.Index) {
		return nil
	}
	whole, ok := s.text(e)
	text, ok2 := s.text(part)
	remaining, ok3 := s.text(rest)
	from, to, ok4 := s.source().Range(m.Body)
	start, _, ok5 := s.source().Range(e)
	if !ok || !ok2 || !ok3 || !ok4 || !ok5 {
		return nil
	}
	runes := []rune(whole)
	loop := string(runes[:from-start]) + remaining + string(runes[to-start:])
	written := " || "
	if m.Name == loops.Exists {
		written = " && "
	}
	if op, _ := operation(part); op == operators.Conditional || op == operators.LogicalOr && m.Name == loops.Exists {
		text = "(" + text + ")"
	}
	return s.instead(e, short(text)+" does not use "+m.Variable+", but runs for each element", s.parenthesized(e, text+written+loop))
}

// allEqual matches list.all(x, list.all(y, x.k == y.k)).
func (s *loopSearch) allEqual(e ast.Expr, m loops.Loop) *Lint {
	inner, ok := macroOf(m.Body)
	if !ok || m.Name != loops.All || inner.Name != loops.All || m.Index != "" || inner.Index != "" {
		return nil
	}
	list, keys := s.comparedKeys(m, inner)
	over, ok := s.text(m.Over)
	if !ok || keys == nil || !comparable(list, *keys) {
		return nil
	}
	tests := []string{fmt.Sprintf("%s == %s[0]", m.Variable, over)}
	for i, key := range *keys {
		tests = append(tests[:i], fmt.Sprintf("%s.%s == %s[0].%s", m.Variable, key, over, key))
	}
	return s.instead(e, "the rule compares each pair of items to find out whether all are equal",
		fmt.Sprintf("%s.all(%s, %s)", over, m.Variable, strings.Join(tests, " && ")))
}

// comparable reports whether elements or their keys always have a value that is equal to itself, which NaN is not.
func comparable(list *exprPath, keys []string) bool {
	simple := func(d *types.Decl) bool {
		return !d.Nullable && (d.Kind == types.String || d.Kind == types.Int || d.Kind == types.Bool)
	}
	elem := list.element()
	if len(keys) == 0 {
		return simple(elem.decl)
	}
	for _, key := range keys {
		if elem.decl.Kind != types.Object {
			return false
		}
		if f := elem.field(key); f == nil || f.node == nil || !f.alwaysThere() || !simple(f.decl) {
			return false
		}
	}
	return true
}

// membership matches list.exists(y, y == v) and list.all(y, y != v) with a v that cannot fail.
func (s *loopSearch) membership(e ast.Expr, m loops.Loop) *Lint {
	want := map[string]string{"exists": operators.Equals, "all": operators.NotEquals}[m.Name]
	op, args := operation(m.Body)
	list := s.walk.pathOf(m.Over)
	if op != want || len(args) != 2 || m.Index != "" || list == nil || list.elements {
		return nil
	}
	value := args[1]
	if isIdent(value, m.Variable) {
		value = args[0]
	} else if !isIdent(args[0], m.Variable) {
		return nil
	}
	text, ok := s.text(value)
	over, ok2 := s.text(m.Over)
	if !ok || !ok2 || mentions(value, m.Variable) || !s.cannotFail(value) || s.isElement(value, list) {
		return nil
	}
	written := text + " in " + over
	if m.Name == loops.All {
		written = "!(" + written + ")"
	} else {
		written = s.parenthesized(e, written)
	}
	return s.instead(e, "the inner loop only looks for a value", written)
}

// A literal, a variable, or a field of a variable that is always there cannot fail.
func (s *loopSearch) cannotFail(e ast.Expr) bool {
	if e.Kind() == ast.LiteralKind {
		return true
	}
	p := s.walk.fieldOf(e)
	for ; p != nil; p = p.above {
		switch {
		case p.elements:
			return false
		case p.above == nil:
			return true
		case !p.alwaysThere():
			return false
		}
	}
	return false
}

// The list always contains its own elements.
func (s *loopSearch) isElement(e ast.Expr, list *exprPath) bool {
	p := s.walk.pathOf(e)
	return p != nil && p.from != nil && p.from.from != nil && p.from.from.path == list.path
}

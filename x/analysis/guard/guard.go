// Package guard adds conditions that protect parts of an expression from being evaluated without a
// value: has(x) && …, or !has(x) || ….
package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/cel/loops"
)

// A Way is the result of a guarded condition whose operand is absent.
type Way uint8

const (
	// Reject makes the whole rule false, so that it rejects the objects that it rejected before,
	// with its own message.
	Reject Way = iota
	// Accept makes the whole rule true, as far as the condition determines it.
	Accept
	// AsFalse makes the condition itself false, and AsTrue makes it true.
	AsFalse
	AsTrue
)

// A read is a part of an expression that fails for a certain reason, with tests for it: present is
// true if the part has a value, absent is true if it has no value.
type read struct {
	*spot
	present, absent string
}

// An Insertion is text to insert before a code point of an expression.
type Insertion struct {
	At   int
	Text string
}

// First returns the source with a guard for the first part that can fail for reason and is not
// guarded yet. It returns "" if no such part exists or no guard is known for it.
func First(x *expr.Expr, env *cel.Env, reason string, way Way) string {
	insertions := guarded(x, env, reason, way, func(ast.Expr) bool { return true })
	if len(insertions) == 0 {
		return ""
	}
	return apply([]rune(x.Source()), insertions)
}

// Field returns the insertions that guard the selection of an optional field, in order of position.
// It returns nil if the selection is already guarded or no guard is known.
func Field(x *expr.Expr, env *cel.Env, at ast.Expr, way Way) []Insertion {
	return guarded(x, env, "no such key: "+at.AsSelect().FieldName(), way, func(e ast.Expr) bool { return e.ID() == at.ID() })
}

func apply(text []rune, insertions []Insertion) string {
	var b strings.Builder
	last := 0
	for _, i := range insertions {
		b.WriteString(string(text[last:i.At]) + i.Text)
		last = i.At
	}
	b.WriteString(string(text[last:]))
	return b.String()
}

func guarded(x *expr.Expr, env *cel.Env, reason string, way Way, wanted func(ast.Expr) bool) []Insertion {
	src := lex.NewSource(x.Source(), x.AST())
	var todo *read
	walk(&spot{e: x.AST().NativeRep().Expr()}, func(s *spot) {
		if todo == nil && wanted(s.e) {
			if r := readOf(s, src, reason); r != nil && !r.guarded(src) {
				todo = r
			}
		}
	})
	if todo == nil {
		return nil
	}
	at := condition(x, todo.spot)
	if at == nil {
		return nil
	}
	test, and := todo.present, true
	switch way {
	case Reject, Accept:
		outer := decisive(x, at)
		if outer == nil || way == Accept && outer != at && at.above.sign == 0 && isCall(at.above.e, operators.Conditional) {
			return nil
		}
		at = outer
		and = (way == Reject) == (at.polarity() > 0)
	case AsTrue:
		and = false
	}
	if !and {
		test = todo.absent
	}
	return insert(x, env, src, at, test, and)
}

// condition returns the smallest part of type bool that fails if s fails, with the negations around it, or
// nil.
func condition(x *expr.Expr, s *spot) *spot {
	types := x.AST().NativeRep()
	for ; s != nil; s = s.above {
		if types.GetType(s.e.ID()) == celtypes.BoolType {
			for s.above != nil && isCall(s.above.e, operators.LogicalNot) {
				s = s.above
			}
			return s
		}
		if s.lazy {
			return nil
		}
	}
	return nil
}

// decisive returns the smallest part that contains s, fails if s fails, and has a known influence
// on the result of the whole expression. It returns nil if no part qualifies.
func decisive(x *expr.Expr, s *spot) *spot {
	for ; s != nil && !s.lazy && s.polarity() == 0; s = s.above {
	}
	if s == nil || s.polarity() == 0 || x.AST().NativeRep().GetType(s.e.ID()) != celtypes.BoolType {
		return nil
	}
	return s
}

// insert returns the insertions that put the test before the condition, or nil if that would change
// the meaning of the expression.
func insert(x *expr.Expr, env *cel.Env, src *lex.Source, at *spot, test string, and bool) []Insertion {
	start, end, ok := src.Range(at.e)
	if !ok {
		return nil
	}
	before, after := test+" || ", ""
	if and {
		before = test + " && "
	}
	text := []rune(x.Source())
	explicit := apply(text, []Insertion{{start, "(" + before + "("}, {end, "))"}})
	if isCall(at.e, operators.Conditional) {
		before, after = before+"(", ")"
	}
	if !needsNoParens(at, and) {
		before, after = "("+before, after+")"
	}
	insertions := []Insertion{{start, before}, {end, after}}
	if after == "" {
		insertions = insertions[:1]
	}
	whole := apply(text, []Insertion{{start, "("}, {end, ")"}})
	if !same(env, apply(text, insertions), explicit) || !same(env, whole, x.Source()) {
		return nil
	}
	return insertions
}

// same reports whether two sources are the same expression, regardless of parentheses and spaces.
func same(env *cel.Env, a, b string) bool {
	x, err := celenv.Parse(env, a)
	y, err2 := celenv.Parse(env, b)
	return err == nil && err2 == nil && shape(x.NativeRep().Expr()) == shape(y.NativeRep().Expr())
}

// needsNoParens reports whether a chain of && or || needs no parentheses at this position.
func needsNoParens(at *spot, and bool) bool {
	if at.above == nil {
		return true
	}
	switch above := at.above.e; above.Kind() {
	case ast.ComprehensionKind:
		return at.lazy // the body
	case ast.CallKind:
		name := above.AsCall().FunctionName()
		return name == operators.Conditional || name == operators.LogicalOr || and && name == operators.LogicalAnd
	}
	return false
}

// guarded reports whether a condition around r tests that it has a value.
func (r *read) guarded(src *lex.Source) bool {
	among := func(e ast.Expr, operator, text string) bool {
		return slices.ContainsFunc(loops.Terms(e, operator), func(term ast.Expr) bool { return sameExpression(src.Of(term), text) })
	}
	for s := r.spot; s.above != nil; s = s.above {
		above := s.above.e
		switch {
		case isCall(above, operators.LogicalAnd) && among(above, operators.LogicalAnd, r.present),
			isCall(above, operators.LogicalOr) && among(above, operators.LogicalOr, r.absent):
			return true
		case isCall(above, operators.Conditional):
			args := above.AsCall().Args()
			if s.e.ID() == args[1].ID() && among(args[0], operators.LogicalAnd, r.present) ||
				s.e.ID() == args[2].ID() && among(args[0], operators.LogicalOr, r.absent) {
				return true
			}
		}
	}
	return false
}

func sameExpression(a, b string) bool {
	return strings.ReplaceAll(a, " ", "") == strings.ReplaceAll(b, " ", "")
}

func readOf(s *spot, src *lex.Source, reason string) *read {
	key, isKey := strings.CutPrefix(reason, "no such key: ")
	switch {
	case s.e.Kind() == ast.SelectKind && !s.e.AsSelect().IsTestOnly():
		if sel := s.e.AsSelect(); isKey && key == sel.FieldName() {
			of := fmt.Sprintf("has(%s.%s)", src.Of(sel.Operand()), key)
			return &read{s, of, "!" + of}
		}
	case isCall(s.e, operators.Index):
		args := s.e.AsCall().Args()
		of, index := src.Of(args[0]), src.Of(args[1])
		if strings.HasPrefix(reason, "index out of bounds: ") {
			return &read{s, fmt.Sprintf("size(%s) > %s", of, index), fmt.Sprintf("size(%s) <= %s", of, index)}
		}
		if isKey && (args[1].Kind() != ast.LiteralKind || key == fmt.Sprint(args[1].AsLiteral().Value())) {
			in := fmt.Sprintf("%s in %s", index, of)
			return &read{s, in, "!(" + in + ")"}
		}
	}
	return nil
}

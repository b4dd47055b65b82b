// Package guard puts a question before a part of an expression that may have no value:
// has(x) && …, or !has(x) || ….
package guard

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/types"
)

// Way is what a guard makes of a condition that has no value.
type Way uint8

const (
	// Refuse makes the whole rule false: it refuses what it refused, in its own
	// words.
	Refuse Way = iota
	// Accept makes the whole rule true, as far as the condition decides it.
	Accept
	// AsFalse makes the condition false, AsTrue true, wherever it stands.
	AsFalse
	AsTrue
)

// read is a part of an expression that has no value for some reason, and what asks
// for that: present is true where the part has a value, absent where it has none.
type read struct {
	*spot
	present, absent string
}

// Insertion is text to put before a code point of an expression.
type Insertion struct {
	At   int
	Text string
}

// First guards the first part of an expression that has no value for a reason and
// is not guarded yet. It is "" where there is none, or no guard is known for it.
func First(x *expr.Expr, env *cel.Env, reason string, how Way) string {
	insertions := guarded(x, env, reason, how, func(ast.Expr) bool { return true })
	if len(insertions) == 0 {
		return ""
	}
	return apply([]rune(x.Source()), insertions)
}

// Field is what guards one selection of a field that may be absent, in the order of the
// text; none where that is guarded, or no guard is known.
func Field(x *expr.Expr, env *cel.Env, at ast.Expr, how Way) []Insertion {
	return guarded(x, env, "no such key: "+at.AsSelect().FieldName(), how, func(e ast.Expr) bool { return e.ID() == at.ID() })
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

func guarded(x *expr.Expr, env *cel.Env, reason string, how Way, wanted func(ast.Expr) bool) []Insertion {
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
	switch how {
	case Refuse, Accept:
		outer := decisive(x, at)
		if outer == nil || how == Accept && outer != at && at.above.sign == 0 && isCall(at.above.e, operators.Conditional) {
			return nil
		}
		at = outer
		and = (how == Refuse) == (at.polarity() > 0)
	case AsTrue:
		and = false
	}
	if !and {
		test = todo.absent
	}
	return insert(x, env, src, at, test, and)
}

// condition is the smallest part of type bool that has no value where the one in it
// has none; nil where there is none.
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

// decisive is the condition, or the smallest around it, that has no value where it
// has none and of which it is known what its truth means for the whole; nil where
// there is none.
func decisive(x *expr.Expr, s *spot) *spot {
	for ; s != nil && !s.lazy && s.polarity() == 0; s = s.above {
	}
	if s == nil || s.polarity() == 0 || x.AST().NativeRep().GetType(s.e.ID()) != celtypes.BoolType {
		return nil
	}
	return s
}

// insert puts the test before the condition. It is none where that would come to mean
// something else.
func insert(x *expr.Expr, env *cel.Env, src *lex.Source, at *spot, test string, and bool) []Insertion {
	start, end, ok := src.Range(at.e)
	if !ok {
		return nil
	}
	operator, written := operators.LogicalOr, " || "
	if and {
		operator, written = operators.LogicalAnd, " && "
	}
	before, after := test+written, ""
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
	parsed, err := types.Parse(env, apply([]rune(x.Source()), insertions))
	asked, err2 := types.Parse(env, test)
	if err != nil || err2 != nil {
		return nil
	}
	want := shape(asked.NativeRep().Expr(), nil) + operator + shape(at.e, nil)
	root := x.AST().NativeRep().Expr()
	if shape(parsed.NativeRep().Expr(), nil) != shape(root, map[int64]string{at.e.ID(): want}) {
		return nil
	}
	return insertions
}

// needsNoParens is true where a chain of && or || needs no brackets.
func needsNoParens(at *spot, and bool) bool {
	if at.above == nil {
		return true
	}
	switch above := at.above.e; above.Kind() {
	case ast.ComprehensionKind:
		return at.lazy // the body
	case ast.CallKind:
		name := above.AsCall().FunctionName()
		return name == operators.Conditional || and && name == operators.LogicalAnd || !and && name == operators.LogicalOr ||
			and && name == operators.LogicalOr
	}
	return false
}

// guarded is true of a part that is reached only where it has a value.
func (r *read) guarded(src *lex.Source) bool {
	among := func(e ast.Expr, operator, text string) bool {
		return slices.ContainsFunc(terms(e, operator), func(term ast.Expr) bool { return sameExpression(src.Of(term), text) })
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

// sameExpression compares two texts but for spaces.
func sameExpression(a, b string) bool {
	return strings.ReplaceAll(a, " ", "") == strings.ReplaceAll(b, " ", "")
}

var (
	noKey   = regexp.MustCompile(`^no such key: (.+)$`)
	noIndex = regexp.MustCompile(`^index out of bounds: (-?\d+)$`)
)

// readOf is what a part reads, if that can be what has no value.
func readOf(s *spot, src *lex.Source, reason string) *read {
	text := src.Of
	switch {
	case s.e.Kind() == ast.SelectKind && !s.e.AsSelect().IsTestOnly():
		sel := s.e.AsSelect()
		if m := noKey.FindStringSubmatch(reason); m != nil && m[1] == sel.FieldName() {
			of := fmt.Sprintf("has(%s.%s)", text(sel.Operand()), sel.FieldName())
			return &read{s, of, "!" + of}
		}
	case isCall(s.e, operators.Index):
		of, index := s.e.AsCall().Args()[0], s.e.AsCall().Args()[1]
		if m := noIndex.FindStringSubmatch(reason); m != nil {
			return &read{s, fmt.Sprintf("size(%s) > %s", text(of), text(index)), fmt.Sprintf("size(%s) <= %s", text(of), text(index))}
		}
		if key, ok := literal(index); noKey.MatchString(reason) && (!ok || noKey.FindStringSubmatch(reason)[1] == fmt.Sprint(key)) {
			in := fmt.Sprintf("%s in %s", text(index), text(of))
			return &read{s, in, "!(" + in + ")"}
		}
	}
	return nil
}

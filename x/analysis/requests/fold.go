package requests

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/internal/cel/lex"
)

// How it works: one policy for several kinds has a branch for each, as in object.kind == 'Pod' ? object.spec : …. The
// branches for other kinds read fields that the schema of this kind does not have, so the whole expression would not
// compile as a rule.

const maxFolds = 100

// folded returns an expression without the parts that do not matter for the kind of the object.
func (t *translator) folded(source string) string {
	for range maxFolds {
		parsed, issues := t.env.Parse(source)
		if t.object == nil || issues.Err() != nil || hidesObject(parsed.NativeRep().Expr()) {
			return source
		}
		text, positions, next := []rune(source), lex.NewSource(source, parsed), ""
		ast.PreOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
			if next != "" || e.Kind() != ast.CallKind {
				return
			}
			from, to, ok := positions.Range(e)
			if part := t.decisive(e.AsCall(), positions, text); ok && part != "" {
				next = string(text[:from]) + "(" + part + ")" + string(text[to:])
			}
		}))
		if next == "" {
			return source
		}
		source = next
	}
	return source
}

func hidesObject(e ast.Expr) (hides bool) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.ComprehensionKind {
			hides = hides || e.AsComprehension().IterVar() == "object" || e.AsComprehension().IterVar2() == "object"
		}
	}))
	return hides
}

// decisive returns the source of the part of an operator that has the same value as the whole, or "".
func (t *translator) decisive(call ast.CallExpr, positions *lex.Source, text []rune) string {
	args := call.Args()
	part := func(i int) string {
		from, to, _ := positions.Range(args[i])
		return string(text[from:to])
	}
	switch name := call.FunctionName(); name {
	case operators.Conditional:
		switch value, ok := t.known(args[0], part(0)); {
		case ok && value:
			return part(1)
		case ok:
			return part(2)
		}
	case operators.LogicalOr, operators.LogicalAnd:
		for i := range args {
			switch value, ok := t.known(args[i], part(i)); {
			case ok && value == (name == operators.LogicalOr):
				return part(i)
			case ok && len(args) == 2:
				return part(1 - i)
			}
		}
	}
	return ""
}

// known returns the value of a condition that reads only known fields of object.
func (t *translator) known(condition ast.Expr, source string) (value, ok bool) {
	reads, known := 0, 0
	ast.PreOrderVisit(condition, ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case e.Kind() == ast.IdentKind && slices.Contains([]string{"object", "oldObject"}, e.AsIdent()):
			reads++
		case e.Kind() == ast.SelectKind && e.AsSelect().Operand().Kind() == ast.IdentKind && e.AsSelect().Operand().AsIdent() == "object":
			if _, isKnown := t.object[e.AsSelect().FieldName()]; isKnown {
				known++
			}
		}
	}))
	parsed, issues := t.env.Parse(source)
	if reads != known || known == 0 || issues.Err() != nil {
		return false, false
	}
	program, err := t.env.Program(parsed, cel.CostLimit(maxFoldCost))
	if err != nil {
		return false, false
	}
	out, _, err := program.Eval(map[string]any{"object": t.object})
	if err != nil {
		return false, false
	}
	value, ok = out.Value().(bool)
	return value, ok
}

const maxFoldCost = 10_000

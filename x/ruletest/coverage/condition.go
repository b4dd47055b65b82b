package coverage

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/cel/loops"
)

type conditionFinder struct {
	tree   *ast.AST
	source *lex.Source
	found  []ast.Expr
}

// conditionsOf returns the conditions of an expression. A rule that is a single condition has none,
// because the condition's outcome is the outcome of the rule.
func conditionsOf(tree *ast.AST, source *lex.Source) []ast.Expr {
	f := &conditionFinder{tree: tree, source: source}
	f.visit(tree.Expr(), false)
	return f.found
}

// visit searches e. decides is set if e is an operand of an operator, the condition of ?:, or the
// predicate of a macro.
func (f *conditionFinder) visit(e ast.Expr, decides bool) {
	splits := f.splits(e)
	if decides && !splits {
		f.found = append(f.found, e)
	}
	if e.Kind() == ast.ComprehensionKind {
		f.loop(e.AsComprehension())
		return
	}
	for i, child := range loops.Children(e) {
		f.visit(child, splits || i == 0 && f.isChoice(e))
	}
}

func (f *conditionFinder) splits(e ast.Expr) bool {
	if e.Kind() != ast.CallKind {
		return false
	}
	switch e.AsCall().FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot:
		return true
	}
	return f.isChoice(e) && f.tree.GetType(e.ID()).Kind() == celtypes.BoolKind
}

// isChoice reports whether e is a ?: that the author of the rule wrote. Macros such as optMap also
// expand to ?:.
func (f *conditionFinder) isChoice(e ast.Expr) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Conditional && f.source.Token(e) == "?"
}

// loop searches a macro, but not the nodes that the macro adds around its predicate.
func (f *conditionFinder) loop(x ast.ComprehensionExpr) {
	f.visit(x.IterRange(), false)
	f.visit(x.AccuInit(), false)
	if c := x.LoopCondition(); c.Kind() == ast.LiteralKind && c.AsLiteral() == celtypes.False {
		f.visit(x.Result(), false) // it only binds a variable, as optMap does
		return
	}
	step := x.LoopStep()
	if step.Kind() != ast.CallKind {
		f.visit(step, false)
		return
	}
	switch args := step.AsCall().Args(); step.AsCall().FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		f.visit(args[1], true)
	case operators.Conditional:
		f.visit(args[0], true)
		f.visit(args[1], false)
	default:
		f.visit(step, false)
	}
}

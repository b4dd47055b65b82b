package coverage

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/cel/loops"
)

// leaf is the operator of a condition.
const leaf = ""

type part struct {
	op    string // &&, ||, !, ?: with bool branches, or leaf
	below []int  // indexes of operands, which are all smaller than the part's own index
	above int    // the index of the part with this operand
	cond  int    // the index of a leaf's condition in its rule
}

// decision is a tree of operators with conditions as leaves, where each condition occurs once.
// Operands come before their operators, so the root is the last part.
type decision struct {
	root  int64
	parts []part
}

// anatomy holds the conditions of a rule in the order of its source, and its decisions.
type anatomy struct {
	tree       *ast.AST
	source     *lex.Source
	conditions []ast.Expr
	decisions  []*decision
}

// dissect finds all decisions of an expression. An expression without operators is not a decision,
// because its outcome is the outcome of the rule.
func dissect(tree *ast.AST, source *lex.Source) *anatomy {
	a := &anatomy{tree: tree, source: source}
	a.visit(tree.Expr())
	return a
}

func (a *anatomy) visit(e ast.Expr) {
	if a.op(e) != leaf {
		a.decision(e)
		return
	}
	a.inside(e)
}

// decision adds e as a decision, even if it is a single condition.
func (a *anatomy) decision(e ast.Expr) {
	d := &decision{root: e.ID()}
	a.decisions = append(a.decisions, d)
	a.part(d, e)
}

// part appends an expression to a decision and returns its index.
func (a *anatomy) part(d *decision, e ast.Expr) int {
	p := part{op: a.op(e)}
	if p.op == leaf {
		p.cond = len(a.conditions)
		a.conditions = append(a.conditions, e)
		a.inside(e)
	} else {
		args := e.AsCall().Args()
		if p.op == operators.LogicalAnd || p.op == operators.LogicalOr {
			args = loops.Terms(e, p.op)
		}
		for _, arg := range args {
			p.below = append(p.below, a.part(d, arg))
		}
	}
	for _, i := range p.below {
		d.parts[i].above = len(d.parts)
	}
	d.parts = append(d.parts, p)
	return len(d.parts) - 1
}

func (a *anatomy) op(e ast.Expr) string {
	if e.Kind() != ast.CallKind {
		return leaf
	}
	switch name := e.AsCall().FunctionName(); name {
	case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot:
		return name
	case operators.Conditional:
		if a.tree.GetType(e.ID()).Kind() == celtypes.BoolKind && a.written(e) {
			return name
		}
	}
	return leaf
}

// written reports whether the author of the rule wrote this ?:. Macros such as optMap also expand
// to ?:.
func (a *anatomy) written(e ast.Expr) bool { return a.source.Token(e) == "?" }

// inside searches the operands of an expression for decisions. The condition of a ?: that is not a
// bool is a separate decision.
func (a *anatomy) inside(e ast.Expr) {
	if e.Kind() == ast.ComprehensionKind {
		a.loop(e.AsComprehension())
		return
	}
	children := loops.Children(e)
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Conditional && a.written(e) {
		a.decision(children[0])
		children = children[1:]
	}
	for _, child := range children {
		a.visit(child)
	}
}

// loop searches a macro for decisions. Its predicate is a decision for each element. Nodes that the
// macro adds around the predicate are not part of it.
func (a *anatomy) loop(x ast.ComprehensionExpr) {
	a.visit(x.IterRange())
	a.visit(x.AccuInit())
	if c := x.LoopCondition(); c.Kind() == ast.LiteralKind && c.AsLiteral() == celtypes.False {
		a.visit(x.Result()) // it only binds a variable, as optMap does
		return
	}
	step := x.LoopStep()
	if step.Kind() != ast.CallKind {
		a.visit(step)
		return
	}
	switch args := step.AsCall().Args(); step.AsCall().FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		a.decision(args[1])
	case operators.Conditional:
		a.decision(args[0])
		a.visit(args[1])
	default:
		a.inside(step)
	}
}

// Package loops recognizes CEL's macros over lists and maps by the comprehensions to which the parser expands them.
package loops

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// A Loop is a macro in the form in which its author wrote it.
type Loop struct {
	// Name is the name of the macro, or "" for another macro that tests each element.
	Name string
	// Over is the list or map that the macro iterates over.
	Over ast.Expr
	// Variable is the name of the element's variable, or of the key's for a map with one variable.
	// Index is the first of two variables, or "".
	Variable, Index string
	// Body is the expression that is evaluated for each element. For a macro that tests elements, it is the test.
	Body ast.Expr
	// Item is the expression of the items that map adds.
	Item ast.Expr
	// Settled is the value of Body that ends the iteration: false for all, true for exists, and nil
	// for other macros.
	Settled ref.Val
}

// The names of macros. Map also denotes transformList.
const (
	All       = "all"
	Exists    = "exists"
	ExistsOne = "exists_one"
	Filter    = "filter"
	Map       = "map"
)

// Of returns the macro that expanded to comprehension e. ok is false if it is not a known macro.
func Of(e ast.Expr) (l Loop, ok bool) {
	if e.Kind() != ast.ComprehensionKind {
		return Loop{}, false
	}
	c := e.AsComprehension()
	l = Loop{Over: c.IterRange(), Variable: c.IterVar()}
	if c.HasIterVar2() {
		l.Index, l.Variable = c.IterVar(), c.IterVar2()
	}
	step := c.LoopStep()
	if step.Kind() != ast.CallKind || len(step.AsCall().Args()) < 2 {
		return l, false
	}
	args := step.AsCall().Args()
	switch step.AsCall().FunctionName() {
	case operators.LogicalAnd:
		l.Name, l.Body, l.Settled = All, args[1], celtypes.False
	case operators.LogicalOr:
		l.Name, l.Body, l.Settled = Exists, args[1], celtypes.True
	case operators.Conditional:
		l.Body = args[0]
		l.test(c, args[1])
	default:
		l.Item = added(step)
		l.Name, l.Body = Map, l.Item
	}
	return l, l.Body != nil
}

func (l *Loop) test(c ast.ComprehensionExpr, then ast.Expr) {
	switch item := added(then); {
	case item == nil:
		if init := c.AccuInit(); init.Kind() == ast.LiteralKind && init.AsLiteral().Type() == celtypes.IntType {
			l.Name = ExistsOne
		}
	case item.Kind() == ast.IdentKind && item.AsIdent() == l.Variable:
		l.Name = Filter
	default:
		l.Name, l.Item = Map, item
	}
}

// added returns the item that a step adds to a list, or nil.
func added(step ast.Expr) ast.Expr {
	if step.Kind() != ast.CallKind || step.AsCall().FunctionName() != operators.Add || len(step.AsCall().Args()) != 2 {
		return nil
	}
	list := step.AsCall().Args()[1]
	if list.Kind() != ast.ListKind || len(list.AsList().Elements()) != 1 {
		return nil
	}
	return list.AsList().Elements()[0]
}

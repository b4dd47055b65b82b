package record

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Loop is a macro in the form in which its author wrote it.
type Loop struct {
	// Over is the list or map that the macro iterates over.
	Over ast.Expr
	// Variable is the name of the element's variable, or of the key's for a map with one variable.
	// Index is the first of two variables, or "".
	Variable, Index string
	// Body is the expression that is evaluated for each element.
	Body ast.Expr
	// Settled is the value of Body that ends the iteration: false for all, true for exists, and nil
	// for other macros.
	Settled ref.Val
}

// LoopOf returns the macro that expanded to comprehension e. ok is false if it is not a known
// macro.
func LoopOf(e ast.Expr) (l Loop, ok bool) {
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
		l.Body, l.Settled = args[1], celtypes.False
	case operators.LogicalOr:
		l.Body, l.Settled = args[1], celtypes.True
	case operators.Conditional:
		l.Body = args[0]
	case operators.Add:
		if args[1].Kind() != ast.ListKind || len(args[1].AsList().Elements()) != 1 {
			return l, false
		}
		l.Body = args[1].AsList().Elements()[0]
	default:
		return l, false
	}
	return l, true
}

// children returns the parts of a node that have values of their own. A chain of selections is a
// single part; its children are the operand at its start and its computed indexes.
func children(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.ComprehensionKind:
		if l, ok := LoopOf(e); ok {
			return []ast.Expr{l.Over, l.Body}
		}
		return []ast.Expr{e.AsComprehension().IterRange()}
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var parts []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			parts = append(parts, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return parts
	case ast.SelectKind:
		return chainParts(e)
	case ast.CallKind:
		switch e.AsCall().FunctionName() {
		case operators.Index, operators.OptIndex, operators.OptSelect:
			return chainParts(e)
		}
		return operands(e)
	}
	return nil
}

func operands(e ast.Expr) []ast.Expr {
	call := e.AsCall()
	if call.IsMemberFunction() {
		return append([]ast.Expr{call.Target()}, call.Args()...)
	}
	return call.Args()
}

func chainParts(e ast.Expr) []ast.Expr {
	var indexes []ast.Expr
	for {
		switch {
		case e.Kind() == ast.SelectKind:
			if e.AsSelect().IsTestOnly() {
				return nil
			}
			e = e.AsSelect().Operand()
		case isIndex(e):
			if index := e.AsCall().Args()[1]; index.Kind() != ast.LiteralKind {
				indexes = append([]ast.Expr{index}, indexes...)
			}
			e = e.AsCall().Args()[0]
		case e.Kind() == ast.IdentKind:
			return indexes
		default:
			return append([]ast.Expr{e}, indexes...)
		}
	}
}

func isIndex(e ast.Expr) bool {
	if e.Kind() != ast.CallKind {
		return false
	}
	switch e.AsCall().FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect:
		return true
	}
	return false
}

// simple reports whether the value of e is obvious from its text: literals, and lists and maps of
// them.
func simple(e ast.Expr) bool {
	switch e.Kind() {
	case ast.LiteralKind:
		return true
	case ast.ListKind, ast.MapKind:
		for _, part := range children(e) {
			if !simple(part) {
				return false
			}
		}
		return true
	case ast.CallKind:
		return e.AsCall().FunctionName() == operators.Negate && simple(e.AsCall().Args()[0])
	}
	return false
}

// variablesIn returns the IDs of the nodes that read a variable. All other nodes are constant.
func variablesIn(e ast.Expr) map[int64]bool {
	reads := map[int64]bool{}
	for _, variable := range ast.MatchDescendants(ast.NavigateExpr(nil, e), ast.KindMatcher(ast.IdentKind)) {
		for at, ok := variable, true; ok && !reads[at.ID()]; at, ok = at.Parent() {
			reads[at.ID()] = true
		}
	}
	return reads
}

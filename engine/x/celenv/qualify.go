package celenv

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/containers"
	celtypes "github.com/google/cel-go/common/types"
)

// How it works: in older versions, a.b.c is a qualified name of a type even if a macro declares a,
// and .a is the variable of the macro. The linked checker resolves these names the other way round,
// so a leading dot is added to the former and removed from the latter.

// variablesFirst is the first minor version in which the variable of a macro hides qualified names.
const variablesFirst = 37 // cel-go 0.27.0, checker/env.go

// spaces are the first components of the qualified names of types.
var spaces = map[string]bool{"google": true, "kubernetes": true, "net": true}

// mayHideNames reports whether src may have a name that a macro hides in some versions only.
func mayHideNames(src string) bool {
	for space := range spaces {
		if strings.Contains(src, space) {
			return true
		}
	}
	before := byte('(')
	for i := range len(src) {
		if src[i] == '.' && strings.IndexByte("([{,!&|?:=<>+-*/%", before) >= 0 {
			return true
		}
		if src[i] > ' ' {
			before = src[i]
		}
	}
	return false
}

func qualifyNames(env *cel.Env, e ast.Expr) {
	q := qualifier{types: env.CELTypeProvider(), locals: map[string]int{}}
	q.visit(e)
}

type qualifier struct {
	types  celtypes.Provider
	locals map[string]int // the number of macros in scope that declare each variable
}

func (q *qualifier) visit(e ast.Expr) {
	switch e.Kind() {
	case ast.IdentKind:
		if name, dotted := strings.CutPrefix(e.AsIdent(), "."); dotted && q.locals[name] > 0 {
			e.SetKindCase(ast.NewExprFactory().NewIdent(e.ID(), name))
		}
	case ast.SelectKind:
		if !q.qualified(e) {
			q.visit(e.AsSelect().Operand())
		}
	case ast.ComprehensionKind:
		q.loop(e.AsComprehension())
	default:
		for _, child := range ast.NavigateExpr(nil, e).Children() {
			q.visit(child)
		}
	}
}

func (q *qualifier) all(list []ast.Expr) {
	for _, e := range list {
		q.visit(e)
	}
}

func (q *qualifier) loop(c ast.ComprehensionExpr) {
	q.all([]ast.Expr{c.IterRange(), c.AccuInit()})
	variables := []string{c.AccuVar(), c.IterVar(), c.IterVar2()}
	q.declare(variables, 1)
	q.all([]ast.Expr{c.LoopCondition(), c.LoopStep()})
	q.declare(variables[1:], -1)
	q.visit(c.Result())
	q.declare(variables[:1], -1)
}

func (q *qualifier) declare(variables []string, n int) {
	for _, name := range variables {
		q.locals[name] += n
	}
}

// qualified reports whether e is the qualified name of a type. If a macro hides it, qualified adds a
// leading dot.
func (q *qualifier) qualified(e ast.Expr) bool {
	name, ok := containers.ToQualifiedName(e)
	if !ok {
		return false
	}
	if _, ok := q.types.FindIdent(strings.TrimPrefix(name, ".")); !ok {
		return false
	}
	first := e
	for first.Kind() == ast.SelectKind {
		first = first.AsSelect().Operand()
	}
	if q.locals[first.AsIdent()] > 0 {
		first.SetKindCase(ast.NewExprFactory().NewIdent(first.ID(), "."+first.AsIdent()))
	}
	return true
}

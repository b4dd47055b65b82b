package celenv

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
)

// How it works: cel-go 0.22.0 leaves the second variable of a macro over a dyn value without a type. Most
// uses of such a variable are errors of the checker; the others fail when the checked expression is
// converted. To get the errors, the expression is checked again with a variable instead of these, whose
// type accepts nothing, either.

// untypedSecondVariables marks environments in which the second variable of a macro over a dyn value has no
// type.
const untypedSecondVariables dialect = "celadon.second"

// untypedVariable replaces second variables without a type.
const untypedVariable = "celadon_second"

// An UntypedError reports that a part of a checked expression has no type.
type UntypedError struct{}

func (UntypedError) Error() string { return "missing type conversion to proto: " }

// withUntypedSecond returns the error of a checked expression in which second variables may have no type,
// or nil.
func withUntypedSecond(env *cel.Env, src string, checked *cel.Ast) error {
	seconds := untypedSeconds(checked.NativeRep())
	if len(seconds) == 0 {
		return nil
	}
	parsed, err := Parse(env, src)
	if err != nil {
		return err
	}
	ast.PostOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if slices.Contains(seconds, e.ID()) {
			e.SetKindCase(ast.NewExprFactory().NewIdent(e.ID(), untypedVariable))
		}
	}))
	extended, err := env.Extend(cel.Variable(untypedVariable, &celtypes.Type{}))
	if err != nil {
		return err
	}
	_, issues, err := checkTree(extended, parsed)
	switch {
	case err != nil:
		return err
	case issues != nil:
		return newIssuesError(parsed.Source(), issues)
	}
	return UntypedError{}
}

// untypedSeconds returns the IDs of the references to second variables of loops over dyn values.
func untypedSeconds(checked *ast.AST) (ids []int64) {
	ast.PreOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind || !e.AsComprehension().HasIterVar2() {
			return
		}
		loop := e.AsComprehension()
		switch checked.GetType(loop.IterRange().ID()).Kind() {
		case celtypes.DynKind, celtypes.ErrorKind, celtypes.TypeParamKind:
			ids = references(loop.LoopCondition(), loop.IterVar2(), ids)
			ids = references(loop.LoopStep(), loop.IterVar2(), ids)
		}
	}))
	return ids
}

// references appends the IDs of the references to a variable in e.
func references(e ast.Expr, name string, ids []int64) []int64 {
	switch e.Kind() {
	case ast.IdentKind:
		if e.AsIdent() == name {
			return append(ids, e.ID())
		}
	case ast.ComprehensionKind:
		loop := e.AsComprehension()
		ids = references(loop.AccuInit(), name, references(loop.IterRange(), name, ids))
		if loop.IterVar() == name || loop.IterVar2() == name {
			return ids
		}
		for _, part := range []ast.Expr{loop.LoopCondition(), loop.LoopStep(), loop.Result()} {
			ids = references(part, name, ids)
		}
	default:
		for _, child := range ast.NavigateExpr(nil, e).Children() {
			ids = references(child, name, ids)
		}
	}
	return ids
}

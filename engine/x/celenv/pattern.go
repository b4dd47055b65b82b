package celenv

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/panics"
	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
)

// Check parses and checks src in an environment returned by For or Compile, like env.Compile. Unlike env.Compile, it
// rejects expressions that are too complex, and it hides huge patterns from the validators, which would compile them.
// The error is a *ComplexError, an *IssuesError, an UntypedError, or a *PanicError.
func Check(env *cel.Env, src string) (*cel.Ast, error) {
	parsed, err := Parse(env, src)
	if err != nil {
		return nil, err
	}
	if units, err := complexity(parsed.NativeRep().Expr()); units > maxComplexity {
		return nil, err
	}
	hidden := hidePatterns(parsed.NativeRep().Expr())
	checked, issues, err := checkTree(env, parsed)
	switch {
	case err != nil:
		return nil, err
	case issues != nil:
		if env.HasLibrary(string(untypedCalls)) {
			issues = withUntypedCalls(env, src, issues)
		}
		if env.HasLibrary(string(suggestions)) {
			issues = withSuggestions(env, src, issues)
		}
		return nil, newIssuesError(parsed.Source(), issues)
	}
	if env.HasLibrary(string(untypedSecondVariables)) {
		if err := withUntypedSecond(env, src, checked); err != nil {
			return nil, err
		}
	}
	if env.HasLibrary(string(typeParameters)) {
		if issues := withTypeParameters(env, src); issues != nil {
			return nil, newIssuesError(parsed.Source(), issues)
		}
	}
	hidden.show(checked.NativeRep().Expr())
	return checked, nil
}

// checkTree is like env.Check, but suggests no names and returns a *PanicError if cel-go panics.
func checkTree(env *cel.Env, parsed *cel.Ast) (checked *cel.Ast, issues *cel.Issues, err error) {
	defer func() {
		r := recover()
		known, isKnown := r.(*PanicError)
		switch {
		case r == nil:
		case isKnown:
			err = known
		case strings.HasPrefix(panics.In(), "github.com/google/cel-go/"):
			err = &PanicError{Panic: fmt.Sprint(r)}
		default:
			panic(r)
		}
	}()
	if checked, issues = env.Check(parsed); issues != nil {
		issues = withoutSuggestions(env, parsed, issues)
	}
	return checked, issues, nil
}

// hiddenPatterns holds the original values of literals that were replaced by "", by expression ID.
type hiddenPatterns map[int64]celtypes.String

func hidePatterns(e ast.Expr) hiddenPatterns {
	var hidden hiddenPatterns
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != overloads.Matches {
			return
		}
		args := e.AsCall().Args()
		if len(args) == 0 {
			return
		}
		last := args[len(args)-1]
		if last.Kind() != ast.LiteralKind {
			return
		}
		src, ok := last.AsLiteral().(celtypes.String)
		if n, err := regexcost.States(string(src)); !ok || err != nil || n <= regexcost.MaxStates {
			return
		}
		if hidden == nil {
			hidden = hiddenPatterns{}
		}
		hidden[last.ID()] = src
		last.SetKindCase(ast.NewExprFactory().NewLiteral(last.ID(), celtypes.String("")))
	}))
	return hidden
}

func (h hiddenPatterns) show(e ast.Expr) {
	if len(h) == 0 {
		return
	}
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if src, ok := h[e.ID()]; ok && e.Kind() == ast.LiteralKind {
			e.SetKindCase(ast.NewExprFactory().NewLiteral(e.ID(), src))
		}
	}))
}

// LargePattern reports whether an expression has a string constant that would compile to a pattern of more than
// regexcost.MaxStates states. cel-go's planner compiles such a pattern regardless of the memory it takes.
func LargePattern(checked *cel.Ast) (large bool) {
	ast.PreOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if large || e.Kind() != ast.LiteralKind {
			return
		}
		if text, ok := e.AsLiteral().(celtypes.String); ok {
			n, err := regexcost.States(string(text))
			large = err == nil && n > regexcost.MaxStates
		}
	}))
	return large
}

// How it works: cel-go 0.22.0 leaves the second variable of a macro over a dyn value without a
// type. Most uses of such a variable are errors of the checker; the others fail when the checked
// expression is converted. To get the errors, these variables are replaced by a variable whose type
// accepts nothing either, and the expression is checked again.

// untypedSecondVariables marks environments in which the second variable of a macro over a dyn
// value has no type.
const untypedSecondVariables dialect = "celadon.second"

const untypedVariable = "celadon_second"

// An UntypedError reports that a part of a checked expression has no type.
type UntypedError struct{}

func (UntypedError) Error() string { return "missing type conversion to proto: " }

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

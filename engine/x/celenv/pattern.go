package celenv

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/panics"
	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
)

// compile parses and checks src, like env.Compile. Unlike env.Compile, it rejects expressions that
// are too complex, and it hides huge patterns from the validators, which would compile them to
// millions of states. The error is a *ComplexError, an *IssuesError, an UntypedError, or a *PanicError.
func compile(env *cel.Env, src string) (*cel.Ast, error) {
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
	hidden.show(checked.NativeRep().Expr())
	return checked, nil
}

// checkTree is like env.Check, but returns a *PanicError if cel-go panics.
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
	checked, issues = env.Check(parsed)
	return checked, issues, nil
}

// hiddenPatterns holds the original values of literals that were replaced by "", by expression ID.
type hiddenPatterns map[int64]celtypes.String

// hidePatterns replaces constant patterns that are too large to compile by "". show restores them.
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

// LargePattern reports whether an expression has a constant that would compile to a pattern of
// millions of states. cel-go's planner compiles such a pattern regardless of the memory it takes.
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

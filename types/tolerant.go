package types

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/cel/parse"
)

// ParseTolerant returns the largest tree that a text makes sense as, whole or half
// written. Where Parse accepts the text, both return the same tree.
func ParseTolerant(env *cel.Env, src string) *ast.AST {
	parser, err := parserOf(env)
	if err != nil { // of a macro that Parse cannot take, either
		return ast.NewAST(ast.NewExprFactory().NewUnspecifiedExpr(1), ast.NewSourceInfo(nil))
	}
	tree, _ := parser.Tolerant(parse.NewSource(src))
	return tree
}

// CheckTree checks an expression that was made of parts of trees, whose ids may
// repeat; nil where it does not check, or would take too long to.
func CheckTree(env *cel.Env, e ast.Expr) *cel.Ast {
	e = ast.NewExprFactory().CopyExpr(e)
	last := int64(0)
	e.RenumberIDs(func(int64) int64 { last++; return last })
	if units, _ := complexity(e); units > maxComplexity {
		return nil
	}
	parsed := cel.ParsedExprToAstWithSource(nil, parse.NewSource(""))
	*parsed.NativeRep() = *ast.NewAST(e, ast.NewSourceInfo(nil))
	hidePatterns(e)
	checked, issues, err := checkTree(env, parsed)
	if err != nil || issues.Err() != nil {
		return nil
	}
	return checked
}

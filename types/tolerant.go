package types

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/celparse"
)

// ParseTolerant gives the largest tree that a text makes sense as, whole or half
// written, and what is wrong with it: nothing where Parse accepts it, and then both
// trees are the same.
func ParseTolerant(env *cel.Env, src string) (*ast.AST, []celparse.Hole) {
	parser, err := parserOf(env)
	if err != nil { // of a macro that Parse cannot take, either
		return ast.NewAST(ast.NewExprFactory().NewUnspecifiedExpr(1), ast.NewSourceInfo(nil)), []celparse.Hole{{ID: 1}}
	}
	return parser.Tolerant(celparse.NewSource(src))
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
	parsed := cel.ParsedExprToAstWithSource(nil, celparse.NewSource(""))
	*parsed.NativeRep() = *ast.NewAST(e, ast.NewSourceInfo(nil))
	hidePatterns(e)
	checked, issues, err := check(env, parsed)
	if err != nil || issues.Err() != nil {
		return nil
	}
	return checked
}

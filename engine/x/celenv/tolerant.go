package celenv

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/cel/parse"
)

// ParseTolerant parses src even if it is incomplete.
func ParseTolerant(env *cel.Env, src string) *ast.AST {
	tree, _ := parserOf(env).of(src).Tolerant(parse.NewSource(src))
	return tree
}

// CheckTree checks an expression assembled from parts of other trees; expression IDs may repeat. It returns nil if the
// expression cannot be checked. e is not modified.
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

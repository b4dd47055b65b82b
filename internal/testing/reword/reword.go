// Package reword rewrites rules in equivalent ways, to test code that compares rules. For each
// value, the reworded rule is true if and only if the original is.
//
//	text, ways, err := reword.Rule(rand.New(rand.NewPCG(1, 2)), "has(self.a) && self.a > 3")
//	// text is an equivalent rule, such as !(!has(self.a) || self.a <= 3), and ways names the changes
package reword

import (
	"fmt"
	"math/rand/v2"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/parser"
)

// How it works: the parser has no macros, so has and all are ordinary calls and the tree can be
// printed. A few nodes are replaced by equivalent expressions, including their errors. Negating a
// comparison requires that it is either an error or a bool with a defined opposite. This excludes
// NaN, which JSON does not have.

// Rule returns text after up to four changes that keep its meaning, and the names of the changes.
func Rule(r *rand.Rand, text string) (reworded string, ways []string, err error) {
	root, info, err := parse(text)
	if err != nil {
		return "", nil, err
	}
	m := &maker{Rand: r, ExprFactory: ast.NewExprFactory(), ids: 1 << 20}
	for n, tries := 1+r.IntN(4), 0; len(ways) < n && tries < 60; tries++ {
		nodes := collect(root)
		w := all[r.IntN(len(all))]
		if w.apply(m, nodes[r.IntN(len(nodes))]) {
			ways = append(ways, w.name)
		}
	}
	reworded, err = parser.Unparse(root, info)
	return reworded, ways, err
}

// Split returns the two operands of a conjunction as separate rules, or nil if text is not a
// conjunction.
func Split(text string) (rules []string, err error) {
	root, info, err := parse(text)
	if err != nil || !isCall(root, operators.LogicalAnd, 2) {
		return nil, err
	}
	for _, arg := range root.AsCall().Args() {
		part, err := parser.Unparse(arg, info)
		if err != nil {
			return nil, err
		}
		rules = append(rules, part)
	}
	return rules, nil
}

func parse(text string) (ast.Expr, *ast.SourceInfo, error) {
	p, err := parser.NewParser(parser.EnableOptionalSyntax(true), parser.EnableIdentEscapeSyntax(true))
	if err != nil {
		return nil, nil, err
	}
	tree, errs := p.Parse(common.NewTextSource(text))
	if len(errs.GetErrors()) > 0 {
		return nil, nil, fmt.Errorf("%s", errs.ToDisplayString())
	}
	return tree.Expr(), tree.SourceInfo(), nil
}

func collect(root ast.Expr) (nodes []ast.Expr) {
	ast.PreOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) { nodes = append(nodes, e) }))
	return nodes
}

func isCall(e ast.Expr, name string, args int) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == name && len(e.AsCall().Args()) == args
}

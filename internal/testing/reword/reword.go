// Package reword writes rules in other words, for tests of what tells rules
// apart: whatever value a rule has, the other words give true where it does.
//
//	text, ways, err := reword.Rule(rand.New(rand.NewPCG(1, 2)), "has(self.a) && self.a > 3")
//	// !(!has(self.a) || self.a <= 3), [comparison turned round  De Morgan]
package reword

import (
	"fmt"
	"math/rand/v2"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/parser"
)

// How it works: the parser has no macros, so that has and all are calls like
// others, and the tree can be written as it is. A few nodes are changed, each in
// a way that keeps what it gives, errors included; a comparison is only denied
// where it is an error or one of two truths, not between numbers that may be NaN,
// which no JSON has.

// Rule makes one to four changes that keep a rule's meaning, and names them. It
// makes none where it finds none to make.
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

// Split are the rules that together refuse what one does; nil where it is not a
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

// collect is all nodes of a tree.
func collect(root ast.Expr) (nodes []ast.Expr) {
	ast.PreOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) { nodes = append(nodes, e) }))
	return nodes
}

func isCall(e ast.Expr, name string, args int) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == name && len(e.AsCall().Args()) == args
}

//go:build unix

package parse_test

import (
	"testing"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/cel/parse"
	"github.com/celadon-cel/celadon/internal/testing/celexprs"
)

// times lets our turns take as long as cel-go's: the collector runs before each, and
// what it leaves cold weighs alike on both.
const times = 12

// BenchmarkParse parses all distinct rules of the corpora, with ours and with
// cel-go's parser in turns. The metrics are per rule, and how many times cel-go's
// ours are. x-bound is what a parser would reach that takes no time but for the
// tree, which cel-go's factory and maps make for both.
func BenchmarkParse(b *testing.B) {
	s, env := kubernetes(b)
	all := celexprs.Rules(b)
	trees := make([]*ast.AST, len(all))
	for i, rule := range all {
		var err error
		if trees[i], err = s.ours.Parse(parse.NewSource(rule)); err != nil {
			b.Fatal(rule)
		}
	}
	factory := ast.NewExprFactory()
	var ours, upstream, bare celexprs.Spent
	for b.Loop() {
		ours.Add(func() {
			for range times {
				for _, rule := range all {
					if _, err := s.ours.Parse(parse.NewSource(rule)); err != nil {
						b.Fatal(rule)
					}
				}
			}
		})
		bare.Add(func() {
			for range times {
				for i, rule := range all {
					build(factory, rule, trees[i])
				}
			}
		})
		upstream.Add(func() {
			for _, rule := range all {
				if _, issues := env.Parse(rule); issues.Err() != nil {
					b.Fatal(rule)
				}
			}
		})
	}
	time, allocs := ours.Per(times * len(all))
	upstreamTime, upstreamAllocs := upstream.Per(len(all))
	bareTime, _ := bare.Per(times * len(all))
	b.ReportMetric(time, "ns/rule")
	b.ReportMetric(allocs, "allocs/rule")
	b.ReportMetric(upstreamTime/time, "x-time")
	b.ReportMetric(upstreamAllocs/allocs, "x-allocs")
	b.ReportMetric(upstreamTime/bareTime, "x-bound")
}

// build makes a tree again.
func build(factory ast.ExprFactory, rule string, tree *ast.AST) *ast.AST {
	info := ast.NewSourceInfo(parse.NewSource(rule))
	ranges := info.OffsetRanges()
	for id := range int64(len(tree.SourceInfo().OffsetRanges())) {
		ranges[id+1] = ast.OffsetRange{Start: int32(id)}
	}
	return ast.NewAST(factory.CopyExpr(tree.Expr()), info)
}

//go:build unix

package parse_test

import (
	"testing"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/cel/parse"
	"github.com/celadon-cel/celadon/internal/testing/celexprs"
)

// times is the number of Celadon's rounds per round of cel-go, so that both take about the same
// time. The garbage collector runs before each round, so the cold caches it leaves affect both
// equally.
const times = 12

// BenchmarkParse parses all distinct rules of the corpora alternately with Celadon's and cel-go's
// parser. The metrics are per rule, and the ratio of cel-go's to Celadon's time. x-bound is the
// ratio of a parser that spends time only on building the tree, which both build with cel-go's
// factory and maps.
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

// build creates a copy of tree, as a parser would.
func build(factory ast.ExprFactory, rule string, tree *ast.AST) *ast.AST {
	info := ast.NewSourceInfo(parse.NewSource(rule))
	ranges := info.OffsetRanges()
	for id := range int64(len(tree.SourceInfo().OffsetRanges())) {
		ranges[id+1] = ast.OffsetRange{Start: int32(id)}
	}
	return ast.NewAST(factory.CopyExpr(tree.Expr()), info)
}

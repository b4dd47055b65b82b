//go:build unix

package check_test

import (
	"testing"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/parse"
	"github.com/celadon-cel/celadon/internal/testing/celexprs"
)

// BenchmarkCheck alternates between the checkers. The metrics are per rule, and the ratio of cel-go's to Celadon's
// time.
func BenchmarkCheck(b *testing.B) {
	envs, err := versions()
	if err != nil {
		b.Fatal(err)
	}
	newest := newSide(b, "kubernetes", envs[len(envs)-1])
	rules := placedRules(b)
	sides, cels := make([]*side, len(rules)), make([]*checker.Env, len(rules))
	for i, p := range rules {
		sides[i] = newest.place(b, p)
		sides[i].provider = &remembered{sides[i].provider, map[[2]string]*celtypes.FieldType{}}
		if cels[i], err = checker.NewEnv(newest.env.Container, sides[i].provider, newest.cels...); err != nil {
			b.Fatal(err)
		}
		if err := cels[i].AddIdents(sides[i].more...); err != nil {
			b.Fatal(err)
		}
	}
	parsed := func() []*ast.AST {
		list := make([]*ast.AST, len(rules))
		for i, p := range rules {
			list[i], _ = newest.parser.Parse(parse.NewSource(p.src))
		}
		return list
	}
	var ours, theirs celexprs.Spent
	for b.Loop() {
		for range 4 {
			list := parsed()
			ours.Add(func() {
				for i, tree := range list {
					if _, err := newest.ours.Check(tree, sides[i].provider, sides[i].variables...); err != nil {
						b.Fatal(rules[i].src)
					}
				}
			})
		}
		list := parsed()
		theirs.Add(func() {
			for i, tree := range list {
				if _, errs := checker.Check(tree, common.NewTextSource(""), cels[i]); len(errs.GetErrors()) > 0 {
					b.Fatal(rules[i].src)
				}
			}
		})
	}
	time, allocs := ours.Per(len(rules))
	upstreamTime, upstreamAllocs := theirs.Per(len(rules))
	b.ReportMetric(time, "ns/rule")
	b.ReportMetric(allocs, "allocs/rule")
	b.ReportMetric(upstreamTime/time, "x-time")
	b.ReportMetric(upstreamAllocs/allocs, "x-allocs")
}

// remembered is a provider that caches fields, like Celadon's provider for declarations, so that
// only the checkers are measured.
type remembered struct {
	celtypes.Provider
	fields map[[2]string]*celtypes.FieldType
}

func (r *remembered) FindStructFieldType(name, field string) (*celtypes.FieldType, bool) {
	key := [2]string{name, field}
	if known := r.fields[key]; known != nil {
		return known, true
	}
	found, ok := r.Provider.FindStructFieldType(name, field)
	if ok {
		r.fields[key] = found
	}
	return found, ok
}

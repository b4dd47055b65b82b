package parse_test

import (
	"fmt"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/parser"

	"github.com/celadon-cel/celadon/internal/cel/parse"
	"github.com/celadon-cel/celadon/internal/testing/celexprs"
)

type side struct {
	name string
	ours *parse.Parser
	cels *parser.Parser
	// macros holds the names in macro calls that the tree need not contain: functions and namespaces.
	macros map[string]bool
}

func sides(t testing.TB) []side {
	t.Helper()
	env, err := cel.NewEnv(cel.OptionalTypes(), ext.Bindings(), ext.TwoVarComprehensions(), ext.Lists(), ext.Math(), ext.Protos())
	if err != nil {
		t.Fatal(err)
	}
	macros := env.Macros()
	all := []side{}
	for _, c := range []struct {
		name    string
		config  parse.Config
		options []parser.Option
	}{
		{"full", parse.Config{OptionalSyntax: true}, []parser.Option{parser.EnableOptionalSyntax(true)}},
		{"plain", parse.Config{}, nil},
		{"open", parse.Config{OpenAccumulator: true}, []parser.Option{parser.EnableHiddenAccumulatorName(false)}},
		{"narrow", parse.Config{NoEscapedIdents: true, MaxDepth: 5, MaxSize: 200}, []parser.Option{parser.EnableIdentEscapeSyntax(false), parser.MaxRecursionDepth(5), parser.ExpressionSizeCodePointLimit(200)}},
	} {
		c.config.Macros = macros
		all = append(all, newSide(t, c.name, c.config, append(c.options, parser.Macros(macros...))...))
	}
	return all
}

func newSide(t testing.TB, name string, config parse.Config, options ...parser.Option) side {
	t.Helper()
	cels, err := parser.NewParser(options...)
	if err != nil {
		t.Fatal(err)
	}
	s := side{name, parse.New(config), cels, map[string]bool{"cel": true, "math": true, "proto": true}}
	for _, m := range config.Macros {
		s.macros[m.Function()] = true
	}
	return s
}

// Some macros panic for invalid expressions with options that Kubernetes does not use.
func (s side) upstream(src string) (tree *ast.AST, rejection string) {
	defer func() {
		if r := recover(); r != nil {
			tree, rejection = nil, fmt.Sprint(r)
		}
	}()
	tree, errs := s.cels.Parse(common.NewTextSource(src))
	if len(errs.GetErrors()) > 0 {
		return nil, errs.ToDisplayString()
	}
	return tree, ""
}

func (s side) compare(t testing.TB, src string) (accepted bool) {
	t.Helper()
	want, rejection := s.upstream(src)
	accepted = want != nil
	got, err := s.ours.Parse(parse.NewSource(src))
	switch {
	case (err == nil) != accepted:
		t.Errorf("%s: %q: got %v, accepted %v: %.300s", s.name, src, err, accepted, rejection)
	case accepted:
		if d := celexprs.Difference(got, want); d != "" {
			t.Errorf("%s: %q: %s", s.name, src, d)
		}
	}
	return accepted
}

func TestParseAsUpstream(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	for _, s := range sides(t) {
		accepted := 0
		for _, src := range celexprs.Kinds() {
			if s.compare(t, src) {
				accepted++
			}
		}
		t.Logf("%s: %d of %d accepted", s.name, accepted, len(celexprs.Kinds()))
	}
}

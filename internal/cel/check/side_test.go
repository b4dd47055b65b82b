package check_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/decls"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/check"
	"github.com/celadon-cel/celadon/internal/cel/parse"
	"github.com/celadon-cel/celadon/internal/testing/celexprs"
)

type side struct {
	name   string
	env    *cel.Env
	parser *parse.Parser
	ours   *check.Checker
	cels   []checker.Option
	// provider provides the types. more holds variables in addition to those of the environment.
	provider  celtypes.Provider
	more      []*decls.VariableDecl
	variables []*check.Variable
}

func newSide(t testing.TB, name string, env *cel.Env) *side {
	t.Helper()
	_, issues := env.Compile("1 < 2.0")
	s := &side{
		name: name, env: env, provider: env.CELTypeProvider(),
		parser: parse.New(parse.Config{Macros: env.Macros(), OptionalSyntax: env.HasLibrary("cel.lib.optional")}),
		ours: check.New(check.Config{
			Functions:   slices.Collect(maps.Values(env.Functions())),
			Variables:   env.Variables(),
			SameNumbers: issues != nil,
		}),
		cels: []checker.Option{checker.CrossTypeNumericComparisons(issues == nil)},
	}
	declared, err := checker.NewEnv(env.Container, env.CELTypeProvider(), s.cels...)
	if err == nil {
		err = declared.AddIdents(env.Variables()...)
	}
	for _, f := range env.Functions() {
		if err == nil && !f.IsDeclarationDisabled() {
			err = declared.AddFunctions(f)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	s.cels = append(s.cels, checker.ValidatedDeclarations(declared))
	return s
}

func (s *side) at(provider celtypes.Provider, more ...*decls.VariableDecl) *side {
	there := *s
	there.provider, there.more, there.variables = provider, more, nil
	for _, v := range more {
		there.variables = append(there.variables, check.NewVariable(v))
	}
	return &there
}

type tally struct{ parsed, theirs, ours int }

// Celadon's checker may reject what cel-go's accepts, but not the reverse.
func (s *side) compare(t testing.TB, src string, count *tally) {
	t.Helper()
	if strings.Count(src, "{") > 30 || len(src) > 3000 {
		return // cel-go takes too long
	}
	theirs, err := s.parser.Parse(parse.NewSource(src))
	if err != nil {
		return
	}
	count.parsed++
	ours, _ := s.parser.Parse(parse.NewSource(src))
	want, rejection := s.upstream(t, theirs)
	got, err := s.ours.Check(ours, s.provider, s.variables...)
	if want != nil {
		count.theirs++
	}
	switch {
	case err != nil:
		return
	case want == nil:
		t.Errorf("%s: %q: accepted, but %.300s", s.name, src, rejection)
		return
	}
	count.ours++
	if d := celexprs.CheckedDifference(got, want); d != "" {
		t.Errorf("%s: %q: %s", s.name, src, d)
	}
}

// upstream returns cel-go's tree or the reason for rejection.
func (s *side) upstream(t testing.TB, parsed *ast.AST) (*ast.AST, string) {
	env, err := checker.NewEnv(s.env.Container, s.provider, s.cels...)
	if err == nil {
		err = env.AddIdents(s.more...)
	}
	if err != nil {
		t.Fatal(err)
	}
	checked, errs := checker.Check(parsed, common.NewTextSource(""), env)
	if len(errs.GetErrors()) > 0 {
		return nil, errs.ToDisplayString()
	}
	return checked, ""
}

package types

import (
	"maps"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/celcheck"
)

// Check parses and checks one expression in an environment that For or Compile
// gave, so that many at one place share it. The error is an *IssuesError where
// the expression is bad, and a *ComplexError where it is too complex.
func Check(env *cel.Env, src string) (*cel.Ast, error) {
	return compile(env, src)
}

// checks are what an environment does to a parsed expression. They are safe for
// concurrent use.
type checks struct {
	env     *cel.Env
	checker *celcheck.Checker
	// validators look at what is checked; config is what they tell each other.
	validators []cel.ASTValidator
	config     validatorConfig
}

// checksOf holds those of each environment that was asked for, as long as the
// process runs: they cost as much as many rules.
var checksOf [Newest + 1]struct {
	once   sync.Once
	checks *checks
	err    error
}

func (e *Env) checks() (*checks, error) {
	c := &checksOf[e.number]
	c.once.Do(func() { c.checks, c.err = newChecks(e.base) })
	return c.checks, c.err
}

func newChecks(env *cel.Env) (*checks, error) {
	_, issues := env.Compile("1 < 2.0")
	c := &checks{
		env: env,
		checker: celcheck.New(celcheck.Config{
			Functions:   slices.Collect(maps.Values(env.Functions())),
			Variables:   env.Variables(),
			SameNumbers: issues != nil,
		}),
		validators: env.Validators(),
		config:     validatorConfig{},
	}
	for _, v := range c.validators {
		if v, ok := v.(cel.ASTValidatorConfigurer); ok {
			if err := v.Configure(c.config); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// check checks a parsed expression in place. It is false where that takes cel-go's
// checker: most often something is wrong.
func (c *checks) check(parsed *cel.Ast, types *typeTable, roots []*celcheck.Variable) bool {
	checked, err := c.checker.Check(parsed.NativeRep(), types, roots...)
	if err != nil {
		return false
	}
	*parsed.NativeRep() = *checked
	if !validated(checked.Expr()) {
		return true
	}
	issues := cel.NewIssuesWithSourceInfo(common.NewErrors(parsed.Source()), checked.SourceInfo())
	defer hidePatterns(checked.Expr()).show(checked.Expr())
	for _, v := range c.validators {
		v.Validate(c.env, c.config, checked, issues)
	}
	return len(issues.Errors()) == 0
}

// validated says whether an expression has anything that some validator looks
// at: each goes through it twice.
func validated(e ast.Expr) (found bool) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.CallKind:
			found = found || validatedCalls[e.AsCall().FunctionName()]
		case ast.ListKind, ast.MapKind:
			found = true
		}
	}))
	return found
}

// validatedCalls are the functions that the validators of all versions look
// at, beside lists and maps.
var validatedCalls = map[string]bool{"duration": true, "timestamp": true, "matches": true, "format": true}

// validatorConfig is a cel.MutableValidatorConfig.
type validatorConfig map[string]any

func (c validatorConfig) GetOrDefault(name string, value any) any {
	if v, ok := c[name]; ok {
		return v
	}
	return value
}

func (c validatorConfig) Set(name string, value any) error {
	c[name] = value
	return nil
}

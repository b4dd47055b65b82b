package types

import (
	"maps"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/cel/check"
	"github.com/celadon-cel/celadon/internal/cel/parse"
)

// Check parses and checks one expression in an environment that For or Compile
// gave, so that many at one place share it. The error is one of Env.Compile's.
func Check(env *cel.Env, src string) (*cel.Ast, error) {
	return compile(env, src)
}

// checks are what an environment does to a parsed expression. They are safe for
// concurrent use.
type checks struct {
	env     *cel.Env
	parser  *parse.Parser
	checker *check.Checker
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
	parser, err := parserOf(env)
	if err != nil {
		return nil, err
	}
	_, issues := env.Compile("1 < 2.0")
	c := &checks{
		env:    env,
		parser: parser,
		checker: check.New(check.Config{
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
func (c *checks) check(parsed *cel.Ast, types *typeTable, roots []*check.Variable) bool {
	checked, err := c.checker.Check(parsed.NativeRep(), types, roots...)
	if err != nil {
		return false
	}
	*parsed.NativeRep() = *checked
	todo := validated(checked.Expr())
	if len(todo) == 0 {
		return true
	}
	defer hidePatterns(checked.Expr()).show(checked.Expr())
	return c.validate(checked, todo, parsed.Source())
}

// validate is false, too, where a validator panics, as it then does for cel-go.
func (c *checks) validate(checked *ast.AST, todo map[string]bool, src cel.Source) (sound bool) {
	defer func() {
		if recover() != nil { // nothing but cel-go's validators is below
			sound = false
		}
	}()
	issues := cel.NewIssuesWithSourceInfo(common.NewErrors(src), checked.SourceInfo())
	for _, v := range c.validators {
		if todo[v.Name()] {
			v.Validate(c.env, c.config, checked, issues)
		}
	}
	return len(issues.Errors()) == 0
}

// validated are the validators that look at something in an expression: each goes
// through it twice.
func validated(e ast.Expr) map[string]bool {
	var names map[string]bool
	note := func(name string) {
		if names == nil {
			names = map[string]bool{}
		}
		names[name] = true
	}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.CallKind:
			if name := validatorOf(e.AsCall()); name != "" {
				note(name)
			}
		case ast.ListKind:
			if !alike(e.AsList()) {
				note(literalsValidator)
			}
		case ast.MapKind:
			note(literalsValidator)
		}
	}))
	return names
}

// validators are those of all versions, by the functions that they look at.
var validators = map[string]string{
	"duration": "cel.validator.duration", "timestamp": "cel.validator.timestamp", "matches": "cel.validator.matches", "format": "cel.validator.string_format",
}

// validatorOf is the validator that has to look at a call: none where it would look
// at no literal, or at one that is surely good.
func validatorOf(call ast.CallExpr) string {
	function, args := call.FunctionName(), call.Args()
	name := validators[function]
	if name == "" || function == "format" {
		return name
	}
	if len(args) == 0 || args[0].Kind() != ast.LiteralKind || check.Takes(function, args[0]) {
		return ""
	}
	return name
}

// literalsValidator looks at lists and maps.
const literalsValidator = "cel.validator.homogeneous_literals"

// alike is true of lists of one item, as most macros make, and of literals of one
// type.
func alike(list ast.ListExpr) bool {
	items := list.Elements()
	if len(items) < 2 {
		return len(list.OptionalIndices()) == 0
	}
	for _, e := range items {
		if e.Kind() != ast.LiteralKind || e.AsLiteral().Type() != items[0].AsLiteral().Type() {
			return false
		}
	}
	return true
}

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

package celenv

import (
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/cel/check"
)

// checks holds the parser, checker, and validators of an environment. It is safe for concurrent
// use.
type checks struct {
	env     *cel.Env
	parser  *knownParser
	checker *check.Checker
	// validators share config.
	validators    []cel.ASTValidator
	config        validatorConfig
	untypedSecond bool
}

func (e *Env) checks() (*checks, error) {
	s := e.shared
	s.checksOnce.Do(func() { s.checks, s.err = newChecks(s.env) })
	return s.checks, s.err
}

func newChecks(env *cel.Env) (*checks, error) {
	_, issues := env.Compile("1 < 2.0")
	c := &checks{
		env:    env,
		parser: parserOf(env),
		checker: check.New(check.Config{
			Functions:   slices.Collect(maps.Values(env.Functions())),
			Variables:   env.Variables(),
			SameNumbers: issues != nil,
			// cel-go 0.33.0, checker/types.go
			TypeParameters: env.HasLibrary(string(typeParameters)),
		}),
		validators:    env.Validators(),
		config:        validatorConfig{},
		untypedSecond: env.HasLibrary(string(untypedSecondVariables)),
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

// check checks parsed, which it modifies, and reports whether it succeeded. If it returns false, cel-go has to check
// the expression.
func (c *checks) check(parsed *cel.Ast, table *typeTable, roots []*check.Variable) bool {
	checked, err := c.checker.Check(parsed.NativeRep(), table, roots...)
	if err != nil {
		return false
	}
	if c.untypedSecond && len(untypedSeconds(checked)) > 0 {
		return false
	}
	*parsed.NativeRep() = *checked
	if !mayBeUnsound(checked.Expr()) {
		return true
	}
	defer hidePatterns(checked.Expr()).show(checked.Expr())
	return c.validate(checked, parsed.Source())
}

// validate reports whether the validators accept checked. It returns false if a validator panics; cel-go then reports
// the panic.
func (c *checks) validate(checked *ast.AST, src cel.Source) (sound bool) {
	defer func() {
		if recover() != nil { // only validators run below this frame
			sound = false
		}
	}()
	issues := cel.NewIssuesWithSourceInfo(common.NewErrors(src), checked.SourceInfo())
	for _, v := range c.validators {
		v.Validate(c.env, c.config, checked, issues)
	}
	return len(issues.Errors()) == 0
}

// mayBeUnsound reports whether a validator has to inspect e. Without it, all validators would traverse each
// expression, although most expressions have nothing for them.
func mayBeUnsound(e ast.Expr) (suspect bool) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.CallKind:
			suspect = suspect || mayBeUnsoundCall(e.AsCall())
		case ast.ListKind:
			suspect = suspect || !alike(e.AsList())
		case ast.MapKind:
			suspect = true
		}
	}))
	return suspect
}

// mayBeUnsoundCall returns true for any call of format, and for calls of the other functions that have a validator,
// unless the argument is not a literal or is known to be valid.
func mayBeUnsoundCall(call ast.CallExpr) bool {
	function, args := call.FunctionName(), call.Args()
	switch function {
	case "format":
		return true
	case "duration", "timestamp", "matches":
		return len(args) > 0 && args[0].Kind() == ast.LiteralKind && !check.Takes(function, args[0])
	}
	return false
}

const literalsValidator = "cel.validator.homogeneous_literals"

// alike reports whether the list needs no validation: it has at most one item, which is not
// optional, as in most macro expansions, or all its items are literals of the same type.
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

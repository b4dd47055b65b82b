package celenv

import (
	"maps"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/cel/check"
	"github.com/celadon-cel/celadon/types"
)

// Check parses and checks an expression in an environment returned by For or Compile, so that many
// expressions at one path can share it. It returns the same errors as Env.Compile.
func Check(env *cel.Env, src string) (*cel.Ast, error) {
	return compile(env, src)
}

// checks holds the parser, checker, and validators of an environment. It is safe for concurrent
// use.
type checks struct {
	env     *cel.Env
	parser  *knownParser
	checker *check.Checker
	// validators inspect the checked expression; they share config.
	validators    []cel.ASTValidator
	config        validatorConfig
	untypedSecond bool
}

// checksOf caches the checks of each environment in use until the process exits, because creating
// them costs as much as compiling many rules. It is indexed as baseEnvs, with a last index of 1 for
// environments with patch types.
var checksOf [types.Last + 1][2][2]struct {
	once   sync.Once
	checks *checks
	err    error
}

func (e *Env) checks() (*checks, error) {
	c := &checksOf[min(max(e.version.Minor, 0), types.Last)][e.stored][e.patches]
	c.once.Do(func() { c.checks, c.err = newChecks(e.base) })
	return c.checks, c.err
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

// check checks parsed, which it modifies, and reports whether it succeeded. If it returns false,
// cel-go has to check the expression, most often because the expression is invalid.
func (c *checks) check(parsed *cel.Ast, table *typeTable, roots []*check.Variable) bool {
	checked, err := c.checker.Check(parsed.NativeRep(), table, roots...)
	if err != nil {
		return false
	}
	if c.untypedSecond && len(untypedSeconds(checked)) > 0 {
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

// validate reports whether the validators named in todo accept checked. It returns false if a
// validator panics; cel-go then reports the panic.
func (c *checks) validate(checked *ast.AST, todo map[string]bool, src cel.Source) (sound bool) {
	defer func() {
		if recover() != nil { // only validators run below this frame
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

// validated returns the names of the validators that have something to inspect in e. Running only
// these saves time, because each validator traverses the expression.
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
				if e.AsCall().FunctionName() == "format" {
					note(constantFormatValidator)
				}
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

// validators maps functions to the validators that inspect their calls, in all versions.
var validators = map[string]string{
	"duration": "cel.validator.duration", "timestamp": "cel.validator.timestamp", "matches": "cel.validator.matches", "format": "cel.validator.string_format",
}

// validatorOf returns the name of the validator that has to inspect call, or "". It skips calls
// whose argument is not a literal or is known to be valid, except calls of format.
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

const constantFormatValidator = "celadon.validator.constant_format"

// literalsValidator checks that list and map literals are homogeneous.
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

// validatorConfig implements cel.MutableValidatorConfig.
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

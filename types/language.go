package types

import (
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/celadon-cel/celadon/internal/minors"
)

// How it works: a server selects the libraries for an expression by the oldest minor version that
// must be able to run it: its own version for stored expressions, the version before it for new
// ones. But it has only one release of cel-go, so other differences depend on the server's version
// alone. The linked release can select libraries for older versions, but with its own cel-go.

// A languageOption adds options to the environments of some API servers.
type languageOption struct {
	// runs is the range of the oldest version that must run the expression. server is the range of
	// the server's version.
	runs, server minors.Range
	options      []cel.EnvOption
}

// languageOptions are in the order of k8s.io/apiserver, pkg/cel/environment/base.go.
var languageOptions = []languageOption{
	{options: []cel.EnvOption{
		cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		library.URLs(), library.Regex(), cel.CostEstimatorOptions(checker.PresenceTestHasCost(false)), cel.Lib(runtimeOptions{}),
	}},
	{runs: minors.Until(37), options: []cel.EnvOption{library.Lists(library.ListsVersion(0))}},
	{runs: minors.Since(27), options: []cel.EnvOption{library.Authz()}},
	{runs: minors.Since(28), options: []cel.EnvOption{cel.CrossTypeNumericComparisons(true), library.Quantity()}},
	// cel-go 0.17.0 adds optFlatMap, 0.23.0 first, last, and unwrap (cel/library.go).
	{runs: minors.Since(28), server: minors.Until(29), options: optionals(0)},
	{runs: minors.Since(28), server: minors.Range{Since: 29, Until: 33}, options: optionals(1)},
	{runs: minors.Since(28), server: minors.Since(33), options: optionals(2)},
	{runs: minors.Since(29), options: []cel.EnvOption{cel.ASTValidators(
		cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateRegexLiterals(), cel.ValidateHomogeneousAggregateLiterals(),
	)}},
	// cel-go 0.20.0 validates constant formats (ext/strings.go, validateFormat).
	{server: minors.Until(31), options: []cel.EnvOption{cel.ASTValidators(anyFormat{})}},
	{server: minors.Range{Since: 31, Until: 32}, options: []cel.EnvOption{cel.ASTValidators(onlyConstantFormat{})}},
	{runs: minors.Until(29), options: []cel.EnvOption{ext.Strings(ext.StringsVersion(0))}},
	{runs: minors.Since(29), options: []cel.EnvOption{ext.Strings(ext.StringsVersion(2)), ext.Sets()}},
	{runs: minors.Since(30), options: []cel.EnvOption{library.IP(), library.CIDR()}},
	{runs: minors.Since(31), options: []cel.EnvOption{library.Format(), library.AuthzSelectors()}},
	{runs: minors.Since(32), options: []cel.EnvOption{ext.TwoVarComprehensions()}},
	{runs: minors.Since(33), options: []cel.EnvOption{library.SemverLib(library.SemverVersion(1))}},
	{runs: minors.Since(34), options: []cel.EnvOption{ext.Lists(ext.ListsVersion(3))}},
	{runs: minors.Since(37), options: []cel.EnvOption{library.Lists(library.ListsVersion(1))}},
	// cel-go 0.23.0 hides the accumulator of macros (parser/parser.go, NewParser).
	{server: minors.Until(33), options: []cel.EnvOption{cel.Lib(openAccumulator)}},
	// cel-go 0.29.0 accepts names in backticks by default (parser/parser.go).
	{server: minors.Until(EscapedNames), options: []cel.EnvOption{cel.Lib(plainNames)}},
}

func optionals(version uint32) []cel.EnvOption {
	return []cel.EnvOption{cel.OptionalTypes(cel.OptionalTypesVersion(version))}
}

// anyFormat replaces the validator of constant formats. It accepts all expressions.
type anyFormat struct{}

func (anyFormat) Name() string                                                  { return validators["format"] }
func (anyFormat) Validate(*cel.Env, cel.ValidatorConfig, *ast.AST, *cel.Issues) {}

// onlyConstantFormat replaces the validator of constant formats by that of cel-go 0.20, which panics if
// the format is not constant (ext/formatting.go, matchConstantFormatStringWithListLiteralArgs).
type onlyConstantFormat struct{ anyFormat }

func (onlyConstantFormat) Configure(config cel.MutableValidatorConfig) error {
	return linkedFormat().(cel.ASTValidatorConfigurer).Configure(config)
}

func (onlyConstantFormat) Validate(env *cel.Env, config cel.ValidatorConfig, checked *ast.AST, issues *cel.Issues) {
	ast.PreOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		if call := e.AsCall(); call.IsMemberFunction() && call.FunctionName() == "format" && call.Target().Kind() != ast.LiteralKind {
			panic(&PanicError{Panic: "runtime error: invalid memory address or nil pointer dereference", on: "format() of a string that is not constant"})
		}
	}))
	linkedFormat().Validate(env, config, checked, issues)
}

// linkedFormat returns the validator of constant formats of the linked release.
var linkedFormat = sync.OnceValue(func() cel.ASTValidator {
	env, err := cel.NewEnv(ext.Strings(ext.StringsVersion(2)))
	if err != nil {
		panic(err) // the options are constant
	}
	all := env.Validators()
	return all[slices.IndexFunc(all, func(v cel.ASTValidator) bool { return v.Name() == validators["format"] })]
})

// A dialect is a library that marks environments with a different grammar.
type dialect string

const (
	// openAccumulator marks environments whose macros have an accumulator that expressions can name.
	openAccumulator dialect = "celadon.accumulator"
	// plainNames marks environments without names in backticks.
	plainNames dialect = "celadon.names"
)

func (d dialect) LibraryName() string               { return string(d) }
func (dialect) CompileOptions() []cel.EnvOption     { return nil }
func (dialect) ProgramOptions() []cel.ProgramOption { return nil }

// runtimeOptions is a library of the options of programs.
type runtimeOptions struct{}

func (runtimeOptions) CompileOptions() []cel.EnvOption { return nil }

func (runtimeOptions) ProgramOptions() []cel.ProgramOption {
	return []cel.ProgramOption{
		cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost), cel.CostLimit(celconfig.PerCallLimit),
		cel.CostTrackerOptions(interpreter.PresenceTestHasCost(false)), cel.CostTracking(&library.CostEstimator{}),
	}
}

// olderEnvs caches the environments of the versions before Newest until the process exits, because
// each costs milliseconds. The first index is the server's version, the second is 1 for the
// environment of stored rules.
var olderEnvs [Newest][2]struct {
	once sync.Once
	env  *cel.Env
}

// olderEnv returns the environment in which a server of version v, which is older than Newest,
// compiles expressions. stored is 1 for stored rules, 0 for new ones.
func (v Version) olderEnv(stored int) *cel.Env {
	cached := &olderEnvs[max(v.Minor, 0)][stored]
	cached.once.Do(func() {
		env, err := cel.NewEnv(languageOf(v.Minor, v.Minor-1+stored)...)
		if err != nil {
			panic("CEL environment of Kubernetes " + v.String() + ": " + err.Error())
		}
		cached.env = env
	})
	return cached.env
}

// languageOf returns the options for expressions in a server of the given minor version that a
// server of the version runs must accept.
func languageOf(server, runs int) (options []cel.EnvOption) {
	for _, o := range languageOptions {
		if o.server.Include(server) && o.runs.Include(runs) {
			options = append(options, o.options...)
		}
	}
	return options
}

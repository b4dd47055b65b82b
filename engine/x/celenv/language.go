package celenv

import (
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/internal/minors"
	"github.com/celadon-cel/celadon/types"
)

// How it works: a server selects the libraries for an expression by the oldest minor version that must be able to run
// it: its own version for stored expressions, the version before it for new ones. But it has only one release of
// cel-go, so other differences depend on the server's version alone.

type languageOption struct {
	// runs is the range of the oldest version that must run the expression. server is the range of
	// the server's version.
	runs, server minors.Range
	options      []cel.EnvOption
}

// olderValidators replace validators of cel-go with the same name. They are added first and last: of
// the validators with a name, the first applies until cel-go 0.29, and the last since 0.31.
var olderValidators = []languageOption{
	// cel-go 0.17.0 has a validator of mixed literals (cel/options.go, HomogeneousAggregateLiterals).
	{server: minors.Until(29), options: []cel.EnvOption{cel.ASTValidators(joinedLiterals{})}},
	// cel-go 0.20.0 validates constant formats (ext/strings.go, validateFormat).
	{server: minors.Until(31), options: []cel.EnvOption{cel.ASTValidators(anyFormat{})}},
}

// languageOptions are in the order of k8s.io/apiserver, pkg/cel/environment/base.go.
var languageOptions = slices.Concat(olderValidators, []languageOption{
	{options: []cel.EnvOption{
		cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		kubecel.URLsLibrary(), kubecel.RegexLibrary(), cel.CostEstimatorOptions(checker.PresenceTestHasCost(false)), cel.Lib(runtimeOptions{}),
	}},
	{options: lenientTimes()},
	{runs: minors.Until(37), options: []cel.EnvOption{kubecel.ListsLibrary()}},
	{runs: minors.Since(27), options: []cel.EnvOption{kubecel.AuthzLibrary()}},
	{runs: minors.Since(28), options: []cel.EnvOption{cel.CrossTypeNumericComparisons(true), kubecel.QuantityLibrary()}},
	// cel-go 0.17.0 adds optFlatMap, 0.23.0 first, last, and unwrap (cel/library.go).
	{runs: minors.Since(28), server: minors.Until(29), options: optionals(0)},
	{runs: minors.Since(28), server: minors.Range{Since: 29, Until: 33}, options: optionals(1)},
	{runs: minors.Since(28), server: minors.Since(33), options: optionals(2)},
	{runs: minors.Since(29), options: []cel.EnvOption{cel.ASTValidators(
		cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateRegexLiterals(), cel.ValidateHomogeneousAggregateLiterals(),
	)}},
	// cel-go 0.20.0 panics if the receiver of format is not constant; 0.21.0 does not.
	{server: minors.Range{Since: 31, Until: 32}, options: []cel.EnvOption{cel.ASTValidators(constantFormat{})}},
	{runs: minors.Until(29), options: []cel.EnvOption{ext.Strings(ext.StringsVersion(0))}},
	{runs: minors.Since(29), options: []cel.EnvOption{ext.Strings(ext.StringsVersion(2)), ext.Sets()}},
	{runs: minors.Since(30), options: []cel.EnvOption{kubecel.IPLibrary(), kubecel.CIDRLibrary()}},
	{runs: minors.Since(31), options: []cel.EnvOption{kubecel.FormatLibrary(), kubecel.AuthzSelectorsLibrary()}},
	{runs: minors.Since(32), options: []cel.EnvOption{ext.TwoVarComprehensions()}},
	{runs: minors.Since(33), options: []cel.EnvOption{kubecel.SemverLib(kubecel.SemverVersion(1))}},
	{runs: minors.Since(34), options: []cel.EnvOption{ext.Lists(ext.ListsVersion(3))}},
	{runs: minors.Since(37), options: []cel.EnvOption{kubecel.ListsLibrary(), includes()}},
	{runs: minors.Since(38), options: []cel.EnvOption{isMask()}},
	// cel-go 0.23.0 hides the accumulator of macros (parser/parser.go, NewParser).
	{server: minors.Until(33), options: []cel.EnvOption{cel.Lib(openAccumulator)}},
	{server: minors.Until(noSurrogates), options: []cel.EnvOption{cel.Lib(surrogateEscapes)}},
	// Since cel-go 0.17.0, a call x.f() of an undeclared function has a type (checker/checker.go).
	{server: minors.Until(29), options: []cel.EnvOption{cel.Lib(untypedCalls)}},
	// cel-go 0.33.2 suggests names (checker/errors.go).
	{server: minors.Since(38), options: []cel.EnvOption{cel.Lib(suggestions)}},
	// cel-go 0.33.2 compares the parameters of types (checker/types.go).
	{server: minors.Since(38), options: []cel.EnvOption{cel.Lib(typeParameters)}},
	// Since cel-go 0.23.0, the second variable of a macro over a dyn value has a type (checker/checker.go).
	{server: minors.Range{Since: 32, Until: 33}, options: []cel.EnvOption{cel.Lib(untypedSecondVariables)}},
	// cel-go 0.27.0 resolves the variables of macros first (checker/env.go).
	{server: minors.Until(variablesFirst), options: []cel.EnvOption{cel.Lib(qualifiedFirst)}},
	// cel-go 0.29.0 accepts names in backticks by default (parser/parser.go).
	{server: minors.Until(EscapedNames), options: []cel.EnvOption{cel.Lib(plainNames)}},
	{server: minors.Since(EscapedNames), options: []cel.EnvOption{cel.EnableIdentifierEscapeSyntax()}},
}, olderValidators)

func optionals(version uint32) []cel.EnvOption {
	return []cel.EnvOption{cel.OptionalTypes(cel.OptionalTypesVersion(version))}
}

// anyFormat replaces the validator of constant formats. It accepts all expressions, and the arguments of
// format may have mixed types.
type anyFormat struct{}

func (anyFormat) Name() string                                                  { return "cel.validator.string_format" }
func (anyFormat) Validate(*cel.Env, cel.ValidatorConfig, *ast.AST, *cel.Issues) {}

func (anyFormat) Configure(c cel.MutableValidatorConfig) error {
	exempt, _ := c.GetOrDefault(cel.HomogeneousAggregateLiteralExemptFunctions, []string(nil)).([]string)
	return c.Set(cel.HomogeneousAggregateLiteralExemptFunctions, append(slices.Clone(exempt), "format"))
}

type constantFormat struct{}

func (constantFormat) Name() string { return "celadon.validator.constant_format" }

func (constantFormat) Validate(_ *cel.Env, _ cel.ValidatorConfig, checked *ast.AST, _ *cel.Issues) {
	ast.PreOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		call := e.AsCall()
		if !call.IsMemberFunction() || call.FunctionName() != "format" || call.Target().Kind() == ast.LiteralKind {
			return
		}
		if ids := checked.GetOverloadIDs(e.ID()); len(ids) == 0 || slices.Contains(ids, overloads.ExtFormatString) {
			panic(&PanicError{Panic: "runtime error: invalid memory address or nil pointer dereference", on: "format() of a string that is not constant"})
		}
	}))
}

// A dialect is a library that marks environments that parse or check expressions differently.
type dialect string

const (
	// openAccumulator marks environments whose macros have an accumulator that expressions can name.
	openAccumulator dialect = "celadon.accumulator"
	// plainNames marks environments without names in backticks.
	plainNames dialect = "celadon.names"
	// surrogateEscapes marks environments whose strings can have escape sequences of surrogates.
	surrogateEscapes dialect = "celadon.surrogates"
	// qualifiedFirst marks environments in which a qualified name takes precedence over the variable of
	// a macro.
	qualifiedFirst dialect = "celadon.qualified"
	// untypedCalls marks environments in which a call x.f() of an undeclared function has no type.
	untypedCalls dialect = "celadon.untyped"
	// suggestions marks environments whose errors about unknown names suggest known ones.
	suggestions dialect = "celadon.suggestions"
	// typeParameters marks environments in which type([]) cannot be compared with types of other kinds.
	typeParameters dialect = "celadon.typeparameters"
)

func (d dialect) LibraryName() string               { return string(d) }
func (dialect) CompileOptions() []cel.EnvOption     { return nil }
func (dialect) ProgramOptions() []cel.ProgramOption { return nil }

type runtimeOptions struct{}

func (runtimeOptions) CompileOptions() []cel.EnvOption { return nil }

func (runtimeOptions) ProgramOptions() []cel.ProgramOption {
	return []cel.ProgramOption{
		cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost), cel.CostLimit(celconfig.PerCallLimit),
		cel.CostTrackerOptions(interpreter.PresenceTestHasCost(false)), cel.CostTracking(&kubecel.CostEstimator{}),
	}
}

// A base is the part that Envs of one version and kind share. It is kept until the process exits, because creating an
// environment takes milliseconds, and creating its checks as long as compiling many rules.
type base struct {
	envOnce, checksOnce sync.Once
	env                 *cel.Env
	checks              *checks
	err                 error
}

// bases is indexed by the server's version, by 1 for stored rules, and by 1 for patch types.
var bases [types.Last + 1][2][2]base

func (e *Env) share(create func(minor int) (*cel.Env, error)) {
	minor := min(max(e.version.Minor, 0), types.Last)
	e.shared = &bases[minor][e.stored][e.patches]
	e.shared.envOnce.Do(func() {
		env, err := create(minor)
		if err != nil {
			panic("CEL environment of Kubernetes " + e.version.String() + ": " + err.Error())
		}
		e.shared.env = env
	})
	e.base = e.shared.env
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

package celenv

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/decls"
)

// suggests reports whether the linked checker, from cel-go 0.33 on, may have suggested another name in e.
func suggests(e *common.Error) bool {
	unknown := strings.HasPrefix(e.Message, undeclaredPrefix) && !strings.HasSuffix(e.Message, emptyContainer)
	return unknown || strings.Contains(e.Message, "' is not a type (")
}

// withoutSuggestions returns the errors of an expression in the words of checkers that do not suggest names. issues
// are the errors of env's checker.
func withoutSuggestions(env *cel.Env, parsed *cel.Ast, issues *cel.Issues) *cel.Issues {
	if !slices.ContainsFunc(issues.Errors(), suggests) {
		return issues
	}
	_, mixed := env.Compile("1 < 2.0")
	plain, err := checker.NewEnv(env.Container, env.CELTypeProvider(), checker.CrossTypeNumericComparisons(mixed == nil))
	declared := slices.DeleteFunc(slices.Collect(maps.Values(env.Functions())), (*decls.FunctionDecl).IsDeclarationDisabled)
	if err != nil || plain.AddIdents(env.Variables()...) != nil || plain.AddFunctions(declared...) != nil {
		return issues // env has the same declarations, and no errors
	}
	_, errs := checker.Check(parsed.NativeRep(), parsed.Source(), plain)
	for _, e := range errs.GetErrors() {
		if suggests(e) {
			e.Message += emptyContainer[1:]
		}
	}
	return cel.NewIssues(errs)
}

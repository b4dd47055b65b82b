package celenv

import (
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"

	"github.com/celadon-cel/celadon/internal/cel/check"
)

// withTypeParameters returns the errors that a valid expression has in a version that compares the parameters of
// types, or nil. Only types of literals without items, such as type([]), are not equal to types of other kinds.
func withTypeParameters(env *cel.Env, src string) *cel.Issues {
	parsed, err := Parse(env, src)
	if err != nil {
		return nil
	}
	checker := check.New(check.Config{Functions: slices.Collect(maps.Values(env.Functions())), Variables: env.Variables(), TypeParameters: true})
	list := checker.Mismatches(parsed.NativeRep(), env.CELTypeProvider())
	if len(list) == 0 {
		return nil
	}
	return cel.NewIssues(common.NewErrors(parsed.Source()).Append(list))
}

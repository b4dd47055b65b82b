package celenv

import (
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/check"
)

// withTypeParameters returns the errors that a valid expression has in a version that compares the parameters of
// types, or nil. Only types of literals without items, such as type([]), are not equal to types of other kinds.
func withTypeParameters(env *cel.Env, src string, checked *cel.Ast) *cel.Issues {
	open := false
	for _, t := range checked.NativeRep().TypeMap() {
		open = open || t.Kind() == celtypes.TypeKind && slices.ContainsFunc(t.Parameters(), isOpen)
	}
	parsed, err := Parse(env, src)
	if !open || err != nil {
		return nil
	}
	checker := check.New(check.Config{Functions: slices.Collect(maps.Values(env.Functions())), Variables: env.Variables(), TypeParameters: true})
	var list []*common.Error
	for _, m := range checker.Mismatches(parsed.NativeRep(), env.CELTypeProvider()) {
		list = append(list, &common.Error{Location: parsed.NativeRep().SourceInfo().GetStartLocation(m.ID), Message: m.Message, ExprID: m.ID})
	}
	if len(list) == 0 {
		return nil
	}
	return cel.NewIssues(common.NewErrors(parsed.Source()).Append(list))
}

// isOpen reports whether t contains dyn, as the types of literals without items do.
func isOpen(t *celtypes.Type) bool {
	return t.Kind() == celtypes.DynKind || slices.ContainsFunc(t.Parameters(), isOpen)
}

package celenv

import (
	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/types"
)

// A Root is a variable of an expression. Rules have self and oldSelf; other uses of CEL in
// Kubernetes have variables such as object, oldObject, and params.
type Root struct {
	// Name is the name of the variable.
	Name string
	// Decl declares its values, which are decoded JSON. Roots with the same Decl have the same
	// type.
	Decl *types.Decl
	// Object is the type of the variable if Decl is nil. Its values are CEL values. Fields can be added
	// to the type after it was used; expressions that are compiled later can select them.
	Object *kubecel.DeclType
	// Type is the type of the variable if Decl and Object are nil. Its values are CEL values.
	Type *cel.Type
	// Optional is set if the variable is an optional of the declared type.
	Optional bool
}

// RuleRoots returns the variables of a rule at d. If optionalOldSelf is set, oldSelf is an
// optional.
func RuleRoots(d *types.Decl, optionalOldSelf bool) []Root {
	return []Root{{Name: types.Self, Decl: d}, {Name: types.OldSelf, Decl: d, Optional: optionalOldSelf}}
}

// hidden reports whether a root has no CEL type.
func hidden(roots []Root) bool {
	for _, r := range roots {
		if r.Decl != nil && r.Decl.Kind == types.Hidden {
			return true
		}
	}
	return false
}

// of returns the type of the variable, where t is the type of its value.
func (r *Root) of(t *cel.Type) *cel.Type {
	if r.Optional {
		return cel.OptionalType(t)
	}
	return t
}

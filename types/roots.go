package types

import "github.com/google/cel-go/cel"

// The variables of a rule.
const (
	Self    = "self"
	OldSelf = "oldSelf"
)

// Root is a variable that an expression starts from. A rule has self and
// oldSelf; other contexts of CEL in Kubernetes have others, as object, oldObject
// and params.
type Root struct {
	// Name is the variable's.
	Name string
	// Decl declares its values, which are decoded JSON. Roots of one Decl are of
	// one type.
	Decl *Decl
	// Type is the variable's where Decl is nil: its values are CEL's own then.
	Type *cel.Type
	// Optional roots are an optional of the value.
	Optional bool
}

// RuleRoots are those of a rule at d; with optionalOldSelf, oldSelf is an
// optional.
func RuleRoots(d *Decl, optionalOldSelf bool) []Root {
	return []Root{{Name: Self, Decl: d}, {Name: OldSelf, Decl: d, Optional: optionalOldSelf}}
}

// hidden is true where some root has no CEL type.
func hidden(roots []Root) bool {
	for _, r := range roots {
		if r.Decl != nil && r.Decl.Kind == Hidden {
			return true
		}
	}
	return false
}

// of is the type that an expression sees of a root, of a value of type t.
func (r *Root) of(t *cel.Type) *cel.Type {
	if r.Optional {
		return cel.OptionalType(t)
	}
	return t
}

package assist

import (
	"slices"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
)

// IsLoop is true for the name of a macro that has a variable.
func IsLoop(name string) bool { return slices.Contains(macros, name) }

// accepts is true when a function's parameter takes a value of type t.
func accepts(param, t *cel.Type) bool {
	switch {
	case param.Kind() == celtypes.TypeParamKind, param.Kind() == celtypes.DynKind, t.Kind() == celtypes.DynKind:
		return true
	case param.Kind() != t.Kind():
		return false
	case param.Kind() == celtypes.OpaqueKind && param.TypeName() != t.TypeName():
		return false
	case param.Kind() == celtypes.StructKind:
		return param.TypeName() == t.TypeName()
	}
	for i, p := range param.Parameters() {
		if i < len(t.Parameters()) && !accepts(p, t.Parameters()[i]) {
			return false
		}
	}
	return true
}

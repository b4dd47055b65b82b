package celenv

import (
	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/internal/kubecel"
)

// isMask declares the function of that name, which releases of k8s.io/apiserver before 0.38 lack. See
// pkg/cel/library/cidr.go there.
func isMask() cel.EnvOption {
	return cel.Function("isMask", cel.MemberOverload("cidr_is_mask", []*cel.Type{kubecel.CIDRType}, cel.BoolType, cel.UnaryBinding(func(v ref.Val) ref.Val {
		cidr, ok := v.(kubecel.CIDR)
		if !ok {
			return celtypes.MaybeNoSuchOverloadErr(v)
		}
		return celtypes.Bool(cidr.Prefix == cidr.Masked())
	})))
}

// includes declares the function of that name, which older releases of k8s.io/apiserver lack. See
// pkg/cel/library/lists.go there.
func includes() cel.EnvOption {
	return cel.Function("includes", cel.MemberOverload("list_includes_dyn_dyn", []*cel.Type{cel.DynType, cel.DynType}, cel.BoolType,
		cel.BinaryBinding(isIncluded)))
}

// isIncluded compares a target that is not a list with v.
func isIncluded(target, v ref.Val) ref.Val {
	list, ok := target.(traits.Lister)
	if !ok {
		return celtypes.Bool(target.Equal(v) == celtypes.True)
	}
	for i := list.Iterator(); i.HasNext() == celtypes.True; {
		if i.Next().Equal(v) == celtypes.True {
			return celtypes.True
		}
	}
	return celtypes.False
}

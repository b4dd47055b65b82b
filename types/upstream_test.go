package types_test

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/celadon-cel/celadon/types"
)

// Celadon uses this type name.
func upstreamType(s *schema.Structural, root bool) *apiservercel.DeclType {
	t := model.SchemaDeclType(s, root)
	if t == nil {
		return nil
	}
	return t.MaybeAssignTypeName("selfType")
}

func diffTypes(path string, got, want *apiservercel.DeclType) []string {
	if got == nil || want == nil {
		if got != want {
			return []string{fmt.Sprintf("%s: got %v, want %v", path, got, want)}
		}
		return nil
	}
	var diffs []string
	differ := func(what string, got, want any) {
		if got != want {
			diffs = append(diffs, fmt.Sprintf("%s: %s: got %v, want %v", path, what, got, want))
		}
	}
	differ("type name", got.TypeName(), want.TypeName())
	differ("CEL type", got.CelType().String(), want.CelType().String())
	differ("MaxElements", got.MaxElements, want.MaxElements)
	differ("MinSerializedSize", got.MinSerializedSize, want.MinSerializedSize)
	differ("is an object", got.IsObject(), want.IsObject())
	differ("fields", fmt.Sprint(fieldNames(got)), fmt.Sprint(fieldNames(want)))
	for name, f := range want.Fields {
		if g := got.Fields[name]; g != nil {
			differ("name of "+name, g.Name, f.Name)
			differ("required "+name, g.Required, f.Required)
			diffs = append(diffs, diffTypes(path+"."+name, g.Type, f.Type)...)
		}
	}
	diffs = append(diffs, diffTypes(path+"{key}", got.KeyType, want.KeyType)...)
	return append(diffs, diffTypes(path+"[*]", got.ElemType, want.ElemType)...)
}

func fieldNames(t *apiservercel.DeclType) []string { return slices.Sorted(maps.Keys(t.Fields)) }

func placeOf(root bool) types.Place {
	if root {
		return types.ResourceRoot
	}
	return types.Subtree
}

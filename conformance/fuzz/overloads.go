package fuzz

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"
	celtypes "github.com/google/cel-go/common/types"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

// Library holds the overloads of an environment, from which expressions are generated.
type Library struct {
	overloads []overload
	byResult  map[string][]overload // by the name of the result type
}

type overload struct {
	function string
	decl     *decls.OverloadDecl
}

var newest = types.Version{Minor: types.Newest}

// NewLibrary returns the library of the newest Kubernetes version.
func NewLibrary() *Library { return NewLibraryOf(newest) }

// NewLibraryOf returns the library of stored rules in a Kubernetes version.
func NewLibraryOf(v types.Version) *Library {
	boolean := &schema.Structural{Generic: schema.Generic{Type: "boolean"}}
	env, err := celenv.StoredRules(v).For(types.FromSchema(boolean, types.Subtree), false)
	if err != nil {
		panic(err) // a boolean always has a type
	}
	l := &Library{byResult: map[string][]overload{}}
	for name, fn := range env.Functions() {
		if fn.IsDeclarationDisabled() || name == "in" {
			continue // these functions cannot be called by name
		}
		for _, o := range fn.OverloadDecls() {
			l.overloads = append(l.overloads, overload{name, o})
		}
	}
	slices.SortFunc(l.overloads, func(a, b overload) int {
		return strings.Compare(a.function+a.decl.ID(), b.function+b.decl.ID())
	})
	for _, o := range l.overloads {
		result := o.decl.ResultType()
		l.byResult[head(result)] = append(l.byResult[head(result)], o)
	}
	return l
}

// head returns "" for a type parameter.
func head(t *cel.Type) string {
	if t.Kind() == celtypes.TypeParamKind {
		return ""
	}
	return t.TypeName()
}

type binding map[string]*cel.Type

func (o overload) bind(want *cel.Type) (binding, bool) {
	b := binding{}
	return b, unify(o.decl.ResultType(), want, b)
}

func unify(pattern, want *cel.Type, b binding) bool {
	if pattern.Kind() == celtypes.TypeParamKind {
		name := pattern.TypeName()
		if bound, ok := b[name]; ok {
			return bound.IsExactType(want)
		}
		b[name] = want
		return true
	}
	if pattern.Kind() != want.Kind() || pattern.TypeName() != want.TypeName() || len(pattern.Parameters()) != len(want.Parameters()) {
		return false
	}
	for i, p := range pattern.Parameters() {
		if !unify(p, want.Parameters()[i], b) {
			return false
		}
	}
	return true
}

// resolve binds free parameters to a simple type.
func (b binding) resolve(c choice, t *cel.Type) *cel.Type {
	switch t.Kind() {
	case celtypes.TypeParamKind:
		if b[t.TypeName()] == nil {
			b[t.TypeName()] = pick(c, simpleTypes)
		}
		return b[t.TypeName()]
	case celtypes.ListKind:
		return cel.ListType(b.resolve(c, t.Parameters()[0]))
	case celtypes.MapKind:
		return cel.MapType(b.resolve(c, t.Parameters()[0]), b.resolve(c, t.Parameters()[1]))
	case celtypes.OpaqueKind:
		if len(t.Parameters()) == 1 {
			return cel.OptionalType(b.resolve(c, t.Parameters()[0]))
		}
	}
	return t
}

var simpleTypes = []*cel.Type{cel.IntType, cel.StringType, cel.BoolType, cel.DoubleType, cel.StringType, cel.IntType, cel.BytesType, cel.UintType, cel.TimestampType, cel.DurationType}

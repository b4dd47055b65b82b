package policy

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/types"
)

// How it works: a variable is evaluated when an expression first selects it, and at most once in each
// group of expressions. Its cost is not part of the expression's own cost; the run adds it to the
// group. A variable can only select variables above it, unless it goes through dyn(variables), where
// the server recurses until it crashes. A variable that needs itself is therefore undecided.

const variablesName = "kubernetes.variables"

const maxVariableDepth = 256

func newVariablesType() *kubecel.DeclType {
	return kubecel.NewObjectType(variablesName, map[string]*kubecel.DeclField{})
}

func declareVariable(variables *kubecel.DeclType, name string, t *cel.Type) {
	variables.Fields[name] = kubecel.NewDeclField(name, variableType(t), true, nil, nil)
}

// variableType returns the type of a variable whose expression has type t, which is nil if it does
// not compile. Types other than scalars, lists, and maps become dyn.
func variableType(t *cel.Type) *kubecel.DeclType {
	if scalar := variableScalars[t]; scalar != nil {
		return scalar
	}
	if t == nil {
		return kubecel.DynType
	}
	switch params := t.Parameters(); {
	case t.Kind() == celtypes.ListKind && len(params) == 1:
		return kubecel.NewListType(variableType(params[0]), -1)
	case t.Kind() == celtypes.MapKind && len(params) == 2:
		return kubecel.NewMapType(variableType(params[0]), variableType(params[1]), -1)
	}
	return kubecel.DynType
}

var variableScalars = map[*cel.Type]*kubecel.DeclType{
	cel.AnyType: kubecel.AnyType, cel.BoolType: kubecel.BoolType, cel.BytesType: kubecel.BytesType, cel.DoubleType: kubecel.DoubleType,
	cel.DurationType: kubecel.DurationType, cel.IntType: kubecel.IntType, cel.NullType: kubecel.NullType, cel.StringType: kubecel.StringType,
	cel.TimestampType: kubecel.TimestampType, cel.UintType: kubecel.UintType,
}

type variablesValue struct {
	run *run
	// values has an item for each variable, which is nil until it is evaluated.
	values  []ref.Val
	pending []bool
}

var _ traits.Mapper = (*variablesValue)(nil)

var variablesTypeValue = celtypes.NewObjectType(variablesName, traits.IndexerType|traits.FieldTesterType|traits.IterableType)

func (v *variablesValue) reset() {
	clear(v.values)
	clear(v.pending)
}

func (v *variablesValue) Find(key ref.Val) (ref.Val, bool) {
	ident, ok := key.(celtypes.String)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(celtypes.String("")), true
	}
	name, ok := types.Unescape(string(ident))
	if !ok {
		return nil, false
	}
	i, ok := v.run.program.variableIndex[name]
	if !ok {
		return nil, false
	}
	if v.values[i] == nil {
		v.values[i] = v.run.variable(i)
	}
	return v.values[i], true
}

func (v *variablesValue) Get(key ref.Val) ref.Val {
	if value, found := v.Find(key); found {
		return value
	}
	return celtypes.ValOrErr(key, "no such key: %v", key)
}

func (v *variablesValue) Contains(key ref.Val) ref.Val {
	value, found := v.Find(key)
	if value != nil && celtypes.IsUnknownOrError(value) {
		return value
	}
	return celtypes.Bool(found)
}

func (v *variablesValue) Size() ref.Val { return celtypes.Int(len(v.run.program.variableIndex)) }

func (v *variablesValue) Type() ref.Type { return variablesTypeValue }

func (v *variablesValue) Value() any { return celtypes.NoSuchOverloadErr() }

func (v *variablesValue) Equal(other ref.Val) ref.Val {
	of, ok := other.(*variablesValue)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(other)
	}
	return celtypes.Bool(v == of)
}

func (v *variablesValue) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case variablesTypeValue:
		return v
	case celtypes.TypeType:
		return variablesTypeValue
	}
	return celtypes.NewErr("disallowed conversion from %q to %q", variablesName, t.TypeName())
}

func (v *variablesValue) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("disallowed conversion from %q to %q", variablesName, t.Name())
}

// Iterator returns an iterator over the values of the variables, not their names, like the server's.
func (v *variablesValue) Iterator() traits.Iterator {
	names := celtypes.NewStringList(celtypes.DefaultTypeAdapter, v.run.program.variableNames)
	return variablesIterator{names.Iterator(), v}
}

type variablesIterator struct {
	traits.Iterator // of the names
	of              *variablesValue
}

func (i variablesIterator) Next() ref.Val { return i.of.Get(i.Iterator.Next()) }

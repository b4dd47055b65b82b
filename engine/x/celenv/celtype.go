package celenv

import (
	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/types"
)

var anyObject = cel.ObjectType("object")

// CELType returns the CEL type of d. All objects have the same type, "object". It returns nil if d
// is Hidden.
func CELType(d *types.Decl) *cel.Type {
	switch d.Kind {
	case types.Object:
		return anyObject
	case types.Map:
		return cel.MapType(cel.StringType, CELType(d.Elem))
	case types.List:
		return cel.ListType(CELType(d.Elem))
	case types.Bool:
		return cel.BoolType
	case types.Int:
		return cel.IntType
	case types.Double:
		return cel.DoubleType
	case types.String:
		return cel.StringType
	case types.Bytes:
		return cel.BytesType
	case types.Duration:
		return cel.DurationType
	case types.Date, types.Timestamp:
		return cel.TimestampType
	case types.IntOrString:
		return cel.DynType
	}
	return nil
}

// DeclType returns d as a declaration for the API server's CEL environment. The object types in it
// are named by their path, starting with name. It returns nil if d is Hidden.
func DeclType(d *types.Decl, name string) *kubecel.DeclType {
	switch d.Kind {
	case types.Object:
		return objectType(d, name)
	case types.Map:
		return kubecel.NewMapType(kubecel.StringType, DeclType(d.Elem, name+".@elem"), d.Max.Max)
	case types.List:
		return kubecel.NewListType(DeclType(d.Elem, name+".@idx"), d.Max.Max)
	case types.Bool:
		return kubecel.BoolType
	case types.Int:
		return kubecel.IntType
	case types.Double:
		return kubecel.DoubleType
	case types.String:
		return scalarType(d, "string", celtypes.String(""))
	case types.Bytes:
		return scalarType(d, "bytes", celtypes.Bytes{})
	case types.Duration:
		return scalarType(d, "duration", celtypes.Duration{})
	case types.Date, types.Timestamp:
		return scalarType(d, "timestamp", celtypes.Timestamp{})
	case types.IntOrString:
		return scalarType(d, "dyn", nil)
	}
	return nil
}

func objectType(d *types.Decl, name string) *kubecel.DeclType {
	fields := make(map[string]*kubecel.DeclField, len(d.Fields))
	for _, f := range d.Fields {
		if f.Visible() {
			t := DeclType(f.Decl, name+"."+f.Escaped)
			fields[f.Escaped] = kubecel.NewDeclField(f.Escaped, t, f.Required, nil, nil)
		}
	}
	t := kubecel.NewObjectType(name, fields)
	t.MinSerializedSize = d.MinSize
	return t
}

func scalarType(d *types.Decl, name string, zero ref.Val) *kubecel.DeclType {
	t := kubecel.NewSimpleTypeWithMinSize(name, CELType(d), zero, d.MinSize)
	t.MaxElements = d.Max.Max
	return t
}

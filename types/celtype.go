package types

import (
	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	apiservercel "k8s.io/apiserver/pkg/cel"
)

// anyObject is the type of all objects in CELType.
var anyObject = cel.ObjectType("object")

// CELType returns the CEL type of d. All objects have the same type, "object". It returns nil if d
// is Hidden.
func (d *Decl) CELType() *cel.Type {
	switch d.Kind {
	case Object:
		return anyObject
	case Map:
		return cel.MapType(cel.StringType, d.Elem.CELType())
	case List:
		return cel.ListType(d.Elem.CELType())
	case Bool:
		return cel.BoolType
	case Int:
		return cel.IntType
	case Double:
		return cel.DoubleType
	case String:
		return cel.StringType
	case Bytes:
		return cel.BytesType
	case Duration:
		return cel.DurationType
	case Date, Timestamp:
		return cel.TimestampType
	case IntOrString:
		return cel.DynType
	}
	return nil
}

// DeclType returns d as a declaration for the API server's CEL environment. The object types in it
// are named by their path, starting with name. It returns nil if d is Hidden.
func (d *Decl) DeclType(name string) *apiservercel.DeclType {
	switch d.Kind {
	case Object:
		return d.objectType(name)
	case Map:
		return apiservercel.NewMapType(apiservercel.StringType, d.Elem.DeclType(name+".@elem"), d.Max.Max)
	case List:
		return apiservercel.NewListType(d.Elem.DeclType(name+".@idx"), d.Max.Max)
	case Bool:
		return apiservercel.BoolType
	case Int:
		return apiservercel.IntType
	case Double:
		return apiservercel.DoubleType
	case String:
		return d.scalarType("string", celtypes.String(""))
	case Bytes:
		return d.scalarType("bytes", celtypes.Bytes{})
	case Duration:
		return d.scalarType("duration", celtypes.Duration{})
	case Date, Timestamp:
		return d.scalarType("timestamp", celtypes.Timestamp{})
	case IntOrString:
		return d.scalarType("dyn", nil)
	}
	return nil
}

func (d *Decl) objectType(name string) *apiservercel.DeclType {
	fields := make(map[string]*apiservercel.DeclField, len(d.Fields))
	for _, f := range d.Fields {
		if f.Visible() {
			t := f.Decl.DeclType(name + "." + f.Escaped)
			fields[f.Escaped] = apiservercel.NewDeclField(f.Escaped, t, f.Required, nil, nil)
		}
	}
	t := apiservercel.NewObjectType(name, fields)
	t.MinSerializedSize = d.MinSize
	return t
}

func (d *Decl) scalarType(name string, zero ref.Val) *apiservercel.DeclType {
	t := apiservercel.NewSimpleTypeWithMinSize(name, d.CELType(), zero, d.MinSize)
	t.MaxElements = d.Max.Max
	return t
}

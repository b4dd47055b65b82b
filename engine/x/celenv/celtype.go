package celenv

import (
	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/types"
)

var anyObject = cel.ObjectType("object")

// scalars holds the CEL types of scalars. fixed is the declaration of a type whose size has no bounds in the API
// server's environment.
var scalars = map[types.Kind]struct {
	cel   *cel.Type
	fixed *kubecel.DeclType
	name  string
	zero  ref.Val
}{
	types.Bool:        {cel: cel.BoolType, fixed: kubecel.BoolType},
	types.Int:         {cel: cel.IntType, fixed: kubecel.IntType},
	types.Double:      {cel: cel.DoubleType, fixed: kubecel.DoubleType},
	types.String:      {cel: cel.StringType, name: "string", zero: celtypes.String("")},
	types.Bytes:       {cel: cel.BytesType, name: "bytes", zero: celtypes.Bytes{}},
	types.Duration:    {cel: cel.DurationType, name: "duration", zero: celtypes.Duration{}},
	types.Date:        {cel: cel.TimestampType, name: "timestamp", zero: celtypes.Timestamp{}},
	types.Timestamp:   {cel: cel.TimestampType, name: "timestamp", zero: celtypes.Timestamp{}},
	types.IntOrString: {cel: cel.DynType, name: "dyn"},
}

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
	}
	return scalars[d.Kind].cel
}

// DeclType returns d as a declaration for the API server's CEL environment. The object types in it
// are named by their path, starting with name. It returns nil if d is Hidden.
func DeclType(d *types.Decl, name string) *kubecel.DeclType {
	switch d.Kind {
	case types.Hidden:
		return nil
	case types.Object:
		return objectType(d, name)
	case types.Map:
		return kubecel.NewMapType(kubecel.StringType, DeclType(d.Elem, name+".@elem"), d.Max.Max)
	case types.List:
		return kubecel.NewListType(DeclType(d.Elem, name+".@idx"), d.Max.Max)
	}
	s := scalars[d.Kind]
	if s.fixed != nil {
		return s.fixed
	}
	t := kubecel.NewSimpleTypeWithMinSize(s.name, s.cel, s.zero, d.MinSize)
	t.MaxElements = d.Max.Max
	return t
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

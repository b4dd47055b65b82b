package celenv

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/types/known/structpb"
)

// An ObjectValue is a value of the type Object, or of the type of a field, such as Object.spec.
type ObjectValue struct {
	typ    *celtypes.Type
	fields map[string]ref.Val
	minor  int
}

var (
	_ ref.Val       = (*ObjectValue)(nil)
	_ traits.Zeroer = (*ObjectValue)(nil)
)

// Field selects a field like the server: from the object's Go value. An absent field is null. Field returns an error if
// a map in the object has a key that is not a string.
func (v *ObjectValue) Field(name string) (field ref.Val, present bool, err error) {
	fields, err := v.native()
	if err != nil {
		return nil, false, fmt.Errorf("cannot get field %q", name)
	}
	native, present := fields[name]
	return celtypes.DefaultTypeAdapter.NativeToValue(native), present, nil
}

// Fields returns the values of the fields, which must not be modified.
func (v *ObjectValue) Fields() map[string]ref.Val { return v.fields }

func (v *ObjectValue) Type() ref.Type { return celtypes.NewObjectType(v.typ.TypeName()) }

func (v *ObjectValue) IsZeroValue() bool { return len(v.fields) == 0 }

// Value returns the fields as Go values, or an error value.
func (v *ObjectValue) Value() any {
	fields, err := v.native()
	if err != nil {
		return celtypes.WrapErr(err)
	}
	return fields
}

func (v *ObjectValue) Equal(other ref.Val) ref.Val {
	of, ok := other.(*ObjectValue)
	if !ok || v.typ.Equal(of.typ) != celtypes.True {
		return celtypes.False
	}
	return celtypes.Bool(reflect.DeepEqual(v.fields, of.fields))
}

func (v *ObjectValue) ConvertToType(t ref.Type) ref.Val {
	switch {
	case v.typ.TypeName() == t.TypeName():
		return v
	case t == celtypes.TypeType:
		return celtypes.NewTypeTypeWithParam(v.typ)
	}
	return celtypes.NewErr("unsupported conversion into %v", t)
}

func (v *ObjectValue) ConvertToNative(t reflect.Type) (any, error) {
	fields, err := v.native()
	if err != nil {
		return nil, err
	}
	switch t {
	case reflect.TypeFor[map[string]any]():
		return fields, nil
	case reflect.TypeFor[*structpb.Value]():
		return structpb.NewValue(fields)
	case reflect.TypeFor[*structpb.Struct]():
		if v.minor >= deepFields {
			return structpb.NewStruct(fields)
		}
	}
	return nil, fmt.Errorf("unable to convert to %v", t)
}

func (v *ObjectValue) native() (map[string]any, error) {
	out := make(map[string]any, len(v.fields))
	for _, name := range slices.Sorted(maps.Keys(v.fields)) {
		field, err := v.nativeField(v.fields[name])
		if err != nil {
			return nil, fmt.Errorf("fail to convert field %q: %w", name, err)
		}
		out[name] = field
	}
	return out, nil
}

// deepFields is the first minor version that converts the parts of lists and maps that are not literals.
const deepFields = 37 // k8s.io/apiserver 0.37, pkg/cel/mutation/dynamic/objects.go, convertField

// nativeField converts the value of a field. The items of a literal are not converted deeply, so a
// literal in a literal keeps its CEL form, which no schema accepts.
func (v *ObjectValue) nativeField(field ref.Val) (any, error) {
	given := field.Value()
	switch given := given.(type) {
	case []ref.Val:
		var list []any
		for _, item := range given {
			list = append(list, item.Value())
		}
		return list, nil
	case map[ref.Val]ref.Val:
		out := make(map[string]any, len(given))
		for key, item := range given {
			name, ok := key.Value().(string)
			if !ok {
				return nil, keyError(key)
			}
			out[name] = item.Value()
		}
		return out, nil
	}
	if v.minor < deepFields {
		return given, nil
	}
	switch field := field.(type) {
	case traits.Lister:
		return v.nativeList(field)
	case traits.Mapper:
		return v.nativeMap(field)
	}
	return given, nil
}

func keyError(key ref.Val) error {
	return fmt.Errorf("map key %q is of type %T, not string", key, key)
}

func (v *ObjectValue) nativeList(list traits.Lister) (any, error) {
	var out []any
	for it := list.Iterator(); it.HasNext() == celtypes.True; {
		item, err := v.nativeField(it.Next())
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

func (v *ObjectValue) nativeMap(m traits.Mapper) (any, error) {
	out := map[string]any{}
	for it := m.Iterator(); it.HasNext() == celtypes.True; {
		key := it.Next()
		name, ok := key.Value().(string)
		if !ok {
			return nil, keyError(key)
		}
		item, err := v.nativeField(m.Get(key))
		if err != nil {
			return nil, err
		}
		out[name] = item
	}
	return out, nil
}

// CheckTypes returns errors for the objects in v whose type does not have the name of their path.
// Indexes of lists and keys of maps are not part of the path.
func (v *ObjectValue) CheckTypes() error {
	return errors.Join(mistypedObjects(v, v.typ.TypeName(), nil)...)
}

func mistypedObjects(v ref.Val, path string, errs []error) []error {
	if object, ok := v.(*ObjectValue); ok {
		if name := object.typ.TypeName(); name != path {
			errs = append(errs, fmt.Errorf("unexpected type name %q, expected %q, which matches field name path from root Object type", name, path))
		}
		for _, name := range slices.Sorted(maps.Keys(object.fields)) {
			errs = mistypedObjects(object.fields[name], path+"."+name, errs)
		}
		return errs
	}
	switch items := v.Value().(type) {
	case []ref.Val:
		for _, item := range items {
			errs = mistypedObjects(item, path, errs)
		}
	case map[ref.Val]ref.Val:
		for _, item := range items {
			errs = mistypedObjects(item, path, errs)
		}
	}
	return errs
}

// A JSONPatchValue is a value of the type JSONPatch: an operation of a JSON patch.
type JSONPatchValue struct {
	Op, From, Path string
	Val            ref.Val // nil if absent
}

var (
	_ traits.Indexer     = (*JSONPatchValue)(nil)
	_ traits.FieldTester = (*JSONPatchValue)(nil)
)

func newJSONPatch(fields map[string]ref.Val) ref.Val {
	out := &JSONPatchValue{Val: fields["value"]}
	for _, text := range []struct {
		name string
		to   *string
	}{{"op", &out.Op}, {"path", &out.Path}, {"from", &out.From}} {
		field, ok := fields[text.name]
		if !ok {
			continue
		}
		if *text.to, ok = field.Value().(string); !ok {
			return celtypes.NewErr("unexpected type %T for JSONPatchType '%s' field", field.Value(), text.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if patchFields[name] == nil {
			return celtypes.NewErr("unexpected JSONPatchType field: %s", name)
		}
	}
	return out
}

func (p *JSONPatchValue) Type() ref.Type { return JSONPatchType }
func (p *JSONPatchValue) Value() any     { return p }

func (p *JSONPatchValue) Get(index ref.Val) ref.Val {
	name, _ := index.Value().(string)
	switch name {
	case "op":
		return celtypes.String(p.Op)
	case "path":
		return celtypes.String(p.Path)
	case "from":
		return celtypes.String(p.From)
	case "value":
		if p.Val != nil {
			return p.Val
		}
		return celtypes.NewErr("JSONPatch without value, on which an API server crashes")
	}
	return celtypes.NewErr("unsupported indexer: %s", index)
}

func (p *JSONPatchValue) IsSet(field ref.Val) ref.Val {
	name, _ := field.Value().(string)
	switch name {
	case "op":
		return celtypes.Bool(p.Op != "")
	case "path":
		return celtypes.Bool(p.Path != "")
	case "from":
		return celtypes.Bool(p.From != "")
	case "value":
		return celtypes.Bool(p.Val != nil)
	}
	return celtypes.NewErr("unsupported field: %s", field)
}

func (p *JSONPatchValue) Equal(other ref.Val) ref.Val {
	of, ok := other.(*JSONPatchValue)
	switch {
	case !ok || p.Op != of.Op || p.From != of.From || p.Path != of.Path || (p.Val == nil) != (of.Val == nil):
		return celtypes.False
	case p.Val == nil:
		return celtypes.True
	}
	return p.Val.Equal(of.Val)
}

func (p *JSONPatchValue) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case JSONPatchType:
		return p
	case celtypes.TypeType:
		return celtypes.NewTypeTypeWithParam(JSONPatchType)
	}
	return celtypes.NewErr("unsupported type: %s", t.TypeName())
}

func (p *JSONPatchValue) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("cannot convert to native type: %v", t)
}

// Parts returns the names and values in an object or JSON patch, or nil for other values.
func Parts(v ref.Val) (parts []ref.Val) {
	switch v := v.(type) {
	case *ObjectValue:
		for name, field := range v.fields {
			parts = append(parts, celtypes.String(name), field)
		}
	case *JSONPatchValue:
		parts = append(parts, celtypes.String(v.Op), celtypes.String(v.From), celtypes.String(v.Path))
		if v.Val != nil {
			parts = append(parts, v.Val)
		}
	}
	return parts
}

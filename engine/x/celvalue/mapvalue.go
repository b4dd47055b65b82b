package celvalue

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/celadon-cel/celadon/types"
)

type mapValue struct {
	fields map[string]any
	decl   *types.Decl
}

var _ traits.Mapper = (*mapValue)(nil)

func (m *mapValue) child(name string) *types.Decl {
	switch m.decl.Form() {
	case types.FormObject:
		if f := m.decl.Fields[name]; f != nil {
			return f.Decl
		}
	case types.FormMap:
		return m.decl.Elem
	}
	return nil
}

func (m *mapValue) Find(key ref.Val) (ref.Val, bool) {
	k, ok := key.(celtypes.String)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(key), true
	}
	name := string(k)
	if m.decl.Form() == types.FormObject {
		if name, ok = types.Unescape(name); !ok {
			return nil, false
		}
	}
	v, ok := m.fields[name]
	if !ok || v == nil && m.decl.Form() == types.FormObject {
		return nil, false
	}
	if d := m.child(name); d != nil {
		return New(v, d), true
	}
	return nil, false
}

func (m *mapValue) Get(key ref.Val) ref.Val {
	if v, ok := m.Find(key); ok {
		return v
	}
	return celtypes.ValOrErr(key, "no such key: %v", key)
}

func (m *mapValue) Contains(key ref.Val) ref.Val {
	v, ok := m.Find(key)
	if v != nil && celtypes.IsUnknownOrError(v) {
		return v
	}
	return celtypes.Bool(ok)
}

func (m *mapValue) Size() ref.Val { return celtypes.Int(len(m.fields)) }

// UndeclaredFields returns the number of fields in an object or map value that CEL cannot name because the
// schema does not declare them. It returns 0 for other values.
func UndeclaredFields(v ref.Val) (n int) {
	m, ok := v.(*mapValue)
	if !ok || m.decl.Form() == types.FormMap {
		return 0
	}
	for name := range m.fields {
		if m.child(name) == nil {
			n++
		}
	}
	return n
}

// Iterator iterates in sorted order, so that evaluation is deterministic. As in upstream, fields
// that the schema does not declare count toward the size but have no key. They come last, as null.
// (Upstream returns a Go nil for them, which cel-go treats as null wherever an expression uses the
// key.)
func (m *mapValue) Iterator() traits.Iterator {
	keys := make([]string, 0, len(m.fields))
	for name := range m.fields {
		if m.child(name) == nil {
			continue
		}
		if m.decl.Form() == types.FormObject {
			if ident, ok := types.Escape(name); ok {
				name = ident
			}
		}
		keys = append(keys, name)
	}
	slices.Sort(keys)
	return &keyIterator{mapValue: m, keys: keys, unknown: len(m.fields) - len(keys)}
}

// Equal treats JSON names as CEL identifiers, as upstream does. Therefore a field with two
// underscores in its name can equal any value, or be compared with another field.
func (m *mapValue) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Mapper)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(other)
	}
	if m.Size() != o.Size() {
		return celtypes.False
	}
	for _, name := range slices.Sorted(maps.Keys(m.fields)) {
		eq := m.equalField(name, o)
		if eq != celtypes.True {
			return eq // false, or an error
		}
	}
	return celtypes.True
}

func (m *mapValue) equalField(name string, other traits.Mapper) ref.Val {
	if m.child(name) == nil {
		o, ok := other.(*mapValue)
		if !ok {
			return celtypes.MaybeNoSuchOverloadErr(other)
		}
		v, ok := o.fields[name]
		return celtypes.Bool(!ok || equality.Semantic.DeepEqual(m.fields[name], v))
	}
	if has(m.decl, strictFields) {
		return m.equalStrictly(name, other)
	}
	v, found := m.Find(celtypes.String(name))
	ov, oFound := other.Find(celtypes.String(name))
	if found != oFound {
		return celtypes.False
	}
	if !found {
		return celtypes.True
	}
	return v.Equal(ov)
}

func (m *mapValue) equalStrictly(name string, other traits.Mapper) ref.Val {
	v, found := other.Find(celtypes.String(name))
	if !found {
		return celtypes.False
	}
	return New(m.fields[name], m.child(name)).Equal(v)
}

// Keys returns the keys of a map, or the CEL names of an object's fields, in iteration order. Use
// it to print a value; it excludes unnamed fields.
func Keys(m traits.Mapper) []ref.Val {
	var keys []ref.Val
	for it := m.Iterator(); it.HasNext() == celtypes.True; {
		keys = append(keys, it.Next())
	}
	return keys[:len(keys)-UndeclaredFields(m)] // unnamed fields come last
}

func (m *mapValue) Type() ref.Type { return celtypes.MapType }
func (m *mapValue) Value() any     { return m.fields }

func (m *mapValue) ConvertToNative(t reflect.Type) (any, error) {
	if t.Kind() == reflect.Map {
		return m.fields, nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%s'", m.Type(), t)
}

func (m *mapValue) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case celtypes.MapType:
		return m
	case celtypes.TypeType:
		return celtypes.MapType
	}
	return celtypes.NewErr("type conversion error from '%s' to '%s'", m.Type(), t.TypeName())
}

// A keyIterator embeds its map, like upstream's, for the other methods of ref.Val.
type keyIterator struct {
	*mapValue
	keys    []string
	unknown int
}

func (it *keyIterator) HasNext() ref.Val { return celtypes.Bool(len(it.keys)+it.unknown > 0) }

// Next returns null for unnamed fields. It must not return a Go nil, because callers use the key
// without a check.
func (it *keyIterator) Next() ref.Val {
	if len(it.keys) == 0 {
		it.unknown--
		return celtypes.NullValue
	}
	key := it.keys[0]
	it.keys = it.keys[1:]
	return celtypes.String(key)
}

// unknown is data kept by x-kubernetes-preserve-unknown-fields. Expressions cannot read it, but
// equality compares it.
type unknown struct{ v any }

func (u *unknown) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("type conversion to '%s' not supported for values preserved by x-kubernetes-preserve-unknown-fields", t)
}

func (u *unknown) ConvertToType(t ref.Type) ref.Val {
	return celtypes.NewErr("type conversion to '%s' not supported for values preserved by x-kubernetes-preserve-unknown-fields", t.TypeName())
}

func (u *unknown) Equal(other ref.Val) ref.Val {
	return celtypes.Bool(equality.Semantic.DeepEqual(u.v, other.Value()))
}

func (u *unknown) Type() ref.Type { return celtypes.UnknownType }
func (u *unknown) Value() any     { return u.v }

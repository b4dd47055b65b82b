package celvalue

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// How it works: admission policies see objects without a schema. cel-go's values for maps and lists of
// decoded JSON allocate two to three objects each, so Untyped returns values of its own, which take a
// tenth of the time. Their methods have the same results as in cel-go, except that maps are iterated
// in the order of their keys. Methods that are rarely called use cel-go's values.

// Untyped returns decoded JSON as the CEL value that it has without a schema. It does not copy v, so v
// must not change while the result is in use.
func Untyped(v any) ref.Val { return schemaless(v, false) }

// FromGo returns decoded JSON as the CEL value of a Go struct with this JSON form, as servers since 1.37 use for
// request and namespaceObject.
func FromGo(v any) ref.Val { return schemaless(v, true) }

func schemaless(v any, fromGo bool) ref.Val {
	switch v := v.(type) {
	case nil:
		return celtypes.NullValue
	case bool:
		return celtypes.Bool(v)
	case string:
		return celtypes.String(v)
	case int64:
		return celtypes.Int(v)
	case float64:
		return celtypes.Double(v)
	case map[string]any:
		return &untypedMap{v, fromGo && !isOptions(v)}
	case []any:
		return &untypedList{v, fromGo}
	}
	return celtypes.DefaultTypeAdapter.NativeToValue(v)
}

// Fields returns the fields of an object that Untyped returned. It returns nil for an object with the semantics of
// FromGo and for other values.
func Fields(v ref.Val) map[string]any {
	if m, ok := v.(*untypedMap); ok && !m.fromGo {
		return m.fields
	}
	return nil
}

// Items returns the items of a value that Untyped or FromGo made from a list.
func Items(v ref.Val) (items []any, ok bool) {
	if l, ok := v.(*untypedList); ok {
		return l.items, true
	}
	return nil, false
}

type untypedMap struct {
	fields map[string]any
	fromGo bool // see FromGo
}

func (m *untypedMap) of(field any) ref.Val { return schemaless(field, m.fromGo) }

var _ traits.Mapper = (*untypedMap)(nil)

func (m *untypedMap) base() traits.Mapper {
	return celtypes.NewStringInterfaceMap(celtypes.DefaultTypeAdapter, m.fields)
}

func (m *untypedMap) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(celtypes.String)
	if !ok {
		return nil, false
	}
	v, found := m.fields[string(name)]
	if !found {
		return nil, false
	}
	return m.of(v), true
}

func (m *untypedMap) Get(key ref.Val) ref.Val {
	if v, found := m.Find(key); found {
		return v
	}
	return celtypes.ValOrErr(nil, "no such key: %v", key)
}

func (m *untypedMap) Contains(key ref.Val) ref.Val {
	_, found := m.Find(key)
	return celtypes.Bool(found)
}

func (m *untypedMap) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Mapper)
	switch {
	case !ok && m.fromGo:
		return celtypes.MaybeNoSuchOverloadErr(other)
	case !ok || m.Size() != o.Size():
		return celtypes.False
	}
	for name, v := range m.fields {
		ov, found := o.Find(celtypes.String(name))
		if !found || celtypes.Equal(m.of(v), ov) == celtypes.False {
			return celtypes.False
		}
	}
	return celtypes.True
}

func (m *untypedMap) Iterator() traits.Iterator {
	return &sliceIterator[string]{rest: slices.Sorted(maps.Keys(m.fields)), value: func(key string) ref.Val { return celtypes.String(key) }}
}

func (m *untypedMap) Size() ref.Val     { return celtypes.Int(len(m.fields)) }
func (m *untypedMap) Type() ref.Type    { return celtypes.MapType }
func (m *untypedMap) Value() any        { return m.fields }
func (m *untypedMap) IsZeroValue() bool { return len(m.fields) == 0 }
func (m *untypedMap) String() string    { return fmt.Sprint(m.base()) }

func (m *untypedMap) ConvertToNative(t reflect.Type) (any, error) {
	if m.fromGo {
		if err := m.unconvertible(t); err != nil {
			return nil, err
		}
	}
	return m.base().ConvertToNative(t)
}

func (m *untypedMap) ConvertToType(t ref.Type) ref.Val {
	if t == celtypes.MapType {
		return m
	}
	return m.base().ConvertToType(t)
}

type untypedList struct {
	items  []any
	fromGo bool // see FromGo
}

var _ traits.Lister = (*untypedList)(nil)

func (l *untypedList) base() traits.Lister {
	return celtypes.NewDynamicList(celtypes.DefaultTypeAdapter, l.items)
}

func (l *untypedList) Add(other ref.Val) ref.Val { return l.base().Add(other) }

func (l *untypedList) Contains(v ref.Val) ref.Val {
	for _, item := range l.items {
		if v.Equal(Untyped(item)) == celtypes.True {
			return celtypes.True
		}
	}
	return celtypes.False
}

func (l *untypedList) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	switch {
	case !ok && l.fromGo:
		return celtypes.MaybeNoSuchOverloadErr(other)
	case !ok || l.Size() != o.Size():
		return celtypes.False
	}
	for i, item := range l.items {
		if celtypes.Equal(Untyped(item), o.Get(celtypes.Int(i))) == celtypes.False {
			return celtypes.False
		}
	}
	return celtypes.True
}

func (l *untypedList) Get(index ref.Val) ref.Val {
	i, err := celtypes.IndexOrError(index)
	if err != nil || i < 0 || i >= len(l.items) {
		return l.base().Get(index) // the error
	}
	return Untyped(l.items[i])
}

func (l *untypedList) Iterator() traits.Iterator {
	return &sliceIterator[any]{rest: l.items, value: Untyped}
}

func (l *untypedList) Size() ref.Val     { return celtypes.Int(len(l.items)) }
func (l *untypedList) Type() ref.Type    { return celtypes.ListType }
func (l *untypedList) Value() any        { return l.items }
func (l *untypedList) IsZeroValue() bool { return len(l.items) == 0 }
func (l *untypedList) String() string    { return fmt.Sprint(l.base()) }
func (l *untypedList) ConvertToNative(t reflect.Type) (any, error) {
	if l.fromGo && t.Kind() != reflect.Slice {
		return nil, fmt.Errorf("type conversion error from '%s' to '%s'", celtypes.ListType, t)
	}
	return l.base().ConvertToNative(t)
}

func (l *untypedList) ConvertToType(t ref.Type) ref.Val {
	if t == celtypes.ListType {
		return l
	}
	return l.base().ConvertToType(t)
}

type sliceIterator[T any] struct {
	iteratorValue
	rest  []T
	value func(T) ref.Val
}

func (i *sliceIterator[T]) HasNext() ref.Val { return celtypes.Bool(len(i.rest) > 0) }

func (i *sliceIterator[T]) Next() ref.Val {
	if len(i.rest) == 0 {
		return nil
	}
	v := i.value(i.rest[0])
	i.rest = i.rest[1:]
	return v
}

// iteratorValue has the methods of ref.Val that no expression can call on an iterator.
type iteratorValue struct{}

func (iteratorValue) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("type conversion on iterators not supported: %v", t)
}

func (iteratorValue) ConvertToType(ref.Type) ref.Val { return celtypes.NewErr("no such overload") }
func (iteratorValue) Equal(ref.Val) ref.Val          { return celtypes.NewErr("no such overload") }
func (iteratorValue) Type() ref.Type                 { return celtypes.IteratorType }
func (iteratorValue) Value() any                     { return nil }

// A sumValue is the sum of two lists. Value returns the values of the items. They are computed once, because sums can
// share items many times.
type sumValue struct {
	traits.Lister
	values atomic.Pointer[[]any]
}

var (
	_ traits.Lister = (*sumValue)(nil)
	_ traits.Zeroer = (*sumValue)(nil)
)

// NewSum returns the items of two lists as their sum.
func NewSum(items []ref.Val) ref.Val { return &sumValue{Lister: newList(items)} }

func (s *sumValue) IsZeroValue() bool { return s.Size() == celtypes.IntZero }

func (s *sumValue) String() string { return fmt.Sprint(s.Lister) }

func (s *sumValue) Value() any {
	if known := s.values.Load(); known != nil {
		return *known
	}
	var values []any
	for it := s.Iterator(); it.HasNext() == celtypes.True; {
		values = append(values, it.Next().Value())
	}
	s.values.Store(&values)
	return values
}

func (s *sumValue) ConvertToNative(t reflect.Type) (any, error) {
	return celtypes.NewDynamicList(celtypes.DefaultTypeAdapter, s.Value()).ConvertToNative(t)
}

func (s *sumValue) ConvertToType(t ref.Type) ref.Val {
	if t == celtypes.ListType {
		return s
	}
	return s.Lister.ConvertToType(t)
}

var goStructs = []struct {
	name   string
	fields []string
}{
	{"v1.AdmissionRequest", []string{"requestKind", "userInfo"}}, {"v1.GroupVersionKind", []string{"group", "version", "kind"}},
	{"v1.GroupVersionResource", []string{"group", "version", "resource"}}, {"v1.UserInfo", []string{"username"}},
	{"v1.Namespace", []string{"metadata", "spec", "status"}}, {"v1.ObjectMeta", []string{"name"}}, {"v1.NamespaceSpec", []string{"finalizers"}},
	{"v1.NamespaceStatus", []string{"phase"}},
}

// unconvertible returns the server's error of converting the value of a Go struct or map, which can only be
// converted to its own type.
func (m *untypedMap) unconvertible(t reflect.Type) error {
	for _, s := range goStructs {
		if hasAll(m.fields, s.fields...) {
			return fmt.Errorf("type conversion error from struct type %s to %v", s.name, t)
		}
	}
	return fmt.Errorf("type conversion error from '%s' to '%s'", celtypes.MapType, t)
}

// isOptions reports whether an object has the form of a request's options, which are JSON in the
// server, not a struct.
func isOptions(object map[string]any) bool { return hasAll(object, "apiVersion", "kind") }

func hasAll(object map[string]any, fields ...string) bool {
	for _, field := range fields {
		if _, ok := object[field]; !ok {
			return false
		}
	}
	return true
}

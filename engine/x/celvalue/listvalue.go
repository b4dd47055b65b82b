package celvalue

import (
	"fmt"
	"reflect"
	"sync"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/internal/minors"
	"github.com/celadon-cel/celadon/types"
)

type listValue struct {
	items []any
	elem  *types.Decl
}

var _ traits.Lister = (*listValue)(nil)

func (l *listValue) Get(index ref.Val) ref.Val {
	i, ok := index.(celtypes.Int)
	if !ok {
		return celtypes.ValOrErr(index, "unsupported index: %v", index)
	}
	if i < 0 || int(i) >= len(l.items) {
		return celtypes.NewErr("index out of bounds: %v", index)
	}
	return New(l.items[i], l.elem)
}

func (l *listValue) Contains(val ref.Val) ref.Val {
	if celtypes.IsUnknownOrError(val) {
		return val
	}
	var err ref.Val
	for _, item := range l.items {
		eq := New(item, l.elem).Equal(val)
		if eq == celtypes.True {
			return celtypes.True
		}
		if _, ok := eq.(celtypes.Bool); !ok && err == nil {
			err = celtypes.MaybeNoSuchOverloadErr(eq)
		}
	}
	if err != nil {
		return err
	}
	return celtypes.False
}

func (l *listValue) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(other)
	}
	if has(l.elem, jsonSums) {
		return l.addJSON(o)
	}
	return newList(appendAll(l.values(), o))
}

func (l *listValue) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(other)
	}
	if l.Size() != o.Size() {
		return celtypes.False
	}
	for i := range l.items {
		index := celtypes.Int(i)
		if eq := l.Get(index).Equal(o.Get(index)); eq != celtypes.True {
			return eq // false, or an error
		}
	}
	return celtypes.True
}

func (l *listValue) Size() ref.Val  { return celtypes.Int(len(l.items)) }
func (l *listValue) Type() ref.Type { return celtypes.ListType }
func (l *listValue) Value() any     { return l.items }

// values returns the items as CEL values in a new slice.
func (l *listValue) values() []ref.Val {
	vals := make([]ref.Val, len(l.items))
	for i, item := range l.items {
		vals[i] = New(item, l.elem)
	}
	return vals
}

func (l *listValue) Iterator() traits.Iterator { return &itemIterator{listValue: l} }

// ConvertToNative converts lists of strings to []string, which functions such as join require. It
// returns other lists unconverted.
func (l *listValue) ConvertToNative(t reflect.Type) (any, error) {
	if t.Kind() != reflect.Slice {
		return nil, fmt.Errorf("type conversion error from '%s' to '%s'", l.Type(), t)
	}
	if l.elem.Schema.Type != "string" {
		return l.items, nil
	}
	var out []string
	for _, item := range l.items {
		s, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("expected all elements to be of type string, but got %T", item)
		}
		out = append(out, s)
	}
	return out, nil
}

func (l *listValue) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case celtypes.ListType:
		return l
	case celtypes.TypeType:
		return celtypes.ListType
	}
	return celtypes.NewErr("type conversion error from '%s' to '%s'", l.Type(), t.TypeName())
}

// An itemIterator embeds its list, like upstream's, for the other methods of ref.Val.
type itemIterator struct {
	*listValue
	next int
}

func (it *itemIterator) HasNext() ref.Val { return celtypes.Bool(it.next < len(it.items)) }

func (it *itemIterator) Next() ref.Val {
	it.next++
	return New(it.items[it.next-1], it.elem)
}

// setValue is a list with x-kubernetes-list-type set: order is ignored, and + is the union.
type setValue struct {
	listValue
	once sync.Once
	keys map[any]struct{}
	err  ref.Val
}

func (s *setValue) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(other)
	}
	if s.Size() != o.Size() {
		return celtypes.False
	}
	if has(s.elem, jsonSums) {
		return s.equalJSON(o)
	}
	s.once.Do(func() { s.keys, s.err = setKeys(s.values()) })
	if s.err != nil {
		return s.err
	}
	return equalSet(s.keys, o)
}

func (s *setValue) Add(other ref.Val) ref.Val {
	if o, ok := other.(traits.Lister); ok && has(s.elem, jsonSums) {
		return s.addJSON(o)
	}
	return union(s.values(), other)
}

// mapListValue is a list with x-kubernetes-list-type map: items are compared by key, order is
// ignored, and + merges.
type mapListValue struct {
	listValue
	keys  []string
	once  sync.Once
	byKey map[any]any
}

// key returns the key of an item in its raw JSON form, so that key values compare as JSON.
func (m *mapListValue) key(item any) any {
	obj, ok := item.(map[string]any)
	if !ok {
		return celtypes.NewErr("unexpected data format for element of array with x-kubernetes-list-type=map: %T", item)
	}
	format := "%#v"
	if has(m.elem, ambiguousKeys) {
		format = "%v"
	}
	return compositeKey(m.keys, format, func(key string) any { return obj[key] })
}

func (m *mapListValue) index() map[any]any {
	m.once.Do(func() {
		m.byKey = make(map[any]any, len(m.items))
		for _, item := range m.items {
			m.byKey[m.key(item)] = item
		}
	})
	return m.byKey
}

func (m *mapListValue) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(other)
	}
	if m.Size() != o.Size() {
		return celtypes.False
	}
	byKey := m.index()
	seen := make(map[any]struct{}, len(byKey))
	for it := o.Iterator(); it.HasNext() == celtypes.True; {
		v := it.Next()
		key := m.key(v.Value())
		item, ok := byKey[key]
		if !ok {
			return celtypes.False
		}
		if eq := New(item, m.elem).Equal(v); eq != celtypes.True {
			return eq // false, or an error
		}
		seen[key] = struct{}{}
	}
	return celtypes.Bool(len(seen) == len(byKey) || has(m.elem, oneSidedLists))
}

func (m *mapListValue) Add(other ref.Val) ref.Val {
	if o, ok := other.(traits.Lister); ok && has(m.elem, jsonSums) {
		return m.addJSON(o)
	}
	return merge(m.values(), other, m.keys)
}

// How it works: before Kubernetes 1.37, sums and keys of lists are based on the Go values of items:
// decoded JSON or a result of the rule. A Go map or slice as a key panics, as in the API server.
// There, the sum of a list may also share its array with other sums of the list; here, it is a copy.

func (l *listValue) addJSON(other traits.Lister) ref.Val {
	items := append([]any(nil), l.items...)
	for it := other.Iterator(); it.HasNext() == celtypes.True; {
		items = append(items, it.Next().Value())
	}
	return &listValue{items: items, elem: l.elem}
}

// It is computed once, so additions by addJSON remain.
func (s *setValue) goKeys() map[any]struct{} {
	s.once.Do(func() {
		s.keys = make(map[any]struct{}, len(s.items))
		for _, item := range s.items {
			s.keys[item] = struct{}{}
		}
	})
	return s.keys
}

func (s *setValue) equalJSON(other traits.Lister) ref.Val {
	keys := s.goKeys()
	for it := other.Iterator(); it.HasNext() == celtypes.True; {
		if _, ok := keys[it.Next().Value()]; !ok {
			return celtypes.False
		}
	}
	return celtypes.True
}

// As in the API server, later comparisons and additions of s consider the added items as items of s.
func (s *setValue) addJSON(other traits.Lister) ref.Val {
	items, keys := append([]any(nil), s.items...), s.goKeys()
	for it := other.Iterator(); it.HasNext() == celtypes.True; {
		item := it.Next().Value()
		if _, ok := keys[item]; !ok {
			keys[item] = struct{}{}
			items = append(items, item)
		}
	}
	return &setValue{listValue: listValue{items: items, elem: s.elem}}
}

func (m *mapListValue) addJSON(other traits.Lister) ref.Val {
	items := merged(append([]any(nil), m.items...), other, ref.Val.Value, m.key)
	return &mapListValue{listValue: listValue{items: items, elem: m.elem}, keys: m.keys}
}

// The properties of CEL values that only older versions have; see k8s.io/apiserver/pkg/cel/common.
var (
	// jsonSums: the result of + on lists holds decoded JSON that is read with the schema of the first
	// list. Items that a rule computes are Go values, which the schema may reject.
	jsonSums = minors.Until(37) // valuesunstructured.go, Add
	// oneSidedLists: sets and map lists of the same length are equal if the first has each item of
	// the second.
	oneSidedLists = minors.Until(37) // valuesunstructured.go, Equal
	// ambiguousKeys: composite keys of more than three values are not quoted.
	ambiguousKeys = minors.Until(37) // valuesunstructured.go, toMapKey
	// strictFields: objects with a null field are not equal, and a field is compared with the field of
	// the other object for which its name is the identifier.
	strictFields = minors.Until(34) // values.go, unstructuredMap.Equal
)

func has(d *types.Decl, in minors.Range) bool { return in.Include(d.Version().Minor) }

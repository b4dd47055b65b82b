package celvalue

import (
	"fmt"
	"reflect"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// The results of + on sets and map lists keep the equality and + of their operands.

type unionValue struct{ traits.Lister }

func (u *unionValue) Add(other ref.Val) ref.Val { return union(listed(u), other) }

func (u *unionValue) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(other)
	}
	if u.Size() != o.Size() {
		return celtypes.False
	}
	keys, err := setKeys(listed(u))
	if err != nil {
		return err
	}
	return equalSet(keys, o)
}

type mergedValue struct {
	traits.Lister
	keys []string
}

func (m *mergedValue) Add(other ref.Val) ref.Val { return merge(listed(m), other, m.keys) }

func (m *mergedValue) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(other)
	}
	if m.Size() != o.Size() {
		return celtypes.False
	}
	items := listed(m)
	byKey := make(map[any]ref.Val, len(items))
	for _, item := range items {
		byKey[itemKey(item, m.keys)] = item
	}
	seen := make(map[any]struct{}, len(byKey))
	for it := o.Iterator(); it.HasNext() == celtypes.True; {
		v := it.Next()
		key := itemKey(v, m.keys)
		item, ok := byKey[key]
		if !ok {
			return celtypes.False
		}
		if eq := item.Equal(v); eq != celtypes.True {
			return eq // false, or an error
		}
		seen[key] = struct{}{}
	}
	return celtypes.Bool(len(seen) == len(byKey))
}

// union returns left followed by the items of other that it lacks. It takes ownership of left.
func union(left []ref.Val, other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(other)
	}
	keys, err := setKeys(left)
	if err != nil {
		return err
	}
	for it := o.Iterator(); it.HasNext() == celtypes.True; {
		v := it.Next()
		key, err := setKey(v)
		if err != nil {
			return err
		}
		if _, ok := keys[key]; !ok {
			keys[key] = struct{}{}
			left = append(left, v)
		}
	}
	return &unionValue{newList(left)}
}

// merge replaces the items of left that have the same key as an item of other, and appends the
// remaining items of other. It takes ownership of left.
func merge(left []ref.Val, other ref.Val, keys []string) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(other)
	}
	own := func(v ref.Val) ref.Val { return v }
	return &mergedValue{newList(merged(left, o, own, func(v ref.Val) any { return itemKey(v, keys) })), keys}
}

// merged merges the values of the items of other into left, which it takes ownership of.
func merged[T any](left []T, other traits.Lister, value func(ref.Val) T, key func(T) any) []T {
	index := make(map[any]int, len(left))
	for i, item := range left {
		index[key(item)] = i
	}
	for it := other.Iterator(); it.HasNext() == celtypes.True; {
		v := value(it.Next())
		if i, ok := index[key(v)]; ok {
			left[i] = v
		} else {
			left = append(left, v)
		}
	}
	return left
}

func equalSet(keys map[any]struct{}, other traits.Lister) ref.Val {
	seen := make(map[any]struct{}, len(keys))
	for it := other.Iterator(); it.HasNext() == celtypes.True; {
		key, err := setKey(it.Next())
		if err != nil {
			return err
		}
		if _, ok := keys[key]; !ok {
			return celtypes.False
		}
		seen[key] = struct{}{}
	}
	return celtypes.Bool(len(seen) == len(keys))
}

func setKeys(items []ref.Val) (map[any]struct{}, ref.Val) {
	keys := make(map[any]struct{}, len(items))
	for _, item := range items {
		key, err := setKey(item)
		if err != nil {
			return nil, err
		}
		keys[key] = struct{}{}
	}
	return keys, nil
}

func setKey(item ref.Val) (key any, err ref.Val) {
	switch item.(type) {
	case traits.Lister, traits.Mapper:
		return nil, celtypes.NewErr("listSet operations are only supported on lists of scalar values")
	}
	return hashable(item.Value()), nil
}

func itemKey(item ref.Val, keys []string) any {
	return compositeKey(keys, "%#v", func(key string) any {
		m, ok := item.(traits.Mapper)
		if !ok {
			return nil
		}
		v, ok := m.Find(celtypes.String(key))
		if !ok || v == nil || celtypes.IsUnknownOrError(v) {
			return nil
		}
		return hashable(v.Value())
	})
}

func hashable(v any) any {
	if v != nil && !reflect.TypeOf(v).Comparable() {
		return fmt.Sprintf("%#v", v)
	}
	return v
}

func newList(items []ref.Val) traits.Lister {
	return celtypes.NewRefValList(celtypes.DefaultTypeAdapter, items)
}

func listed(l traits.Lister) []ref.Val {
	n, _ := l.Size().(celtypes.Int)
	return appendAll(make([]ref.Val, 0, n), l)
}

func appendAll(items []ref.Val, l traits.Lister) []ref.Val {
	for it := l.Iterator(); it.HasNext() == celtypes.True; {
		items = append(items, it.Next())
	}
	return items
}

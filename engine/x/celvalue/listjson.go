package celvalue

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// How it works: before Kubernetes 1.37, sums and keys of lists are based on the Go values of items:
// decoded JSON or a result of the rule. A Go map or slice as a key panics, as in the API server.
// There, the sum of a list may also share its array with other sums of the list; here, it is a copy.

// addJSON is Add of versions with jsonSums.
func (l *listValue) addJSON(other traits.Lister) ref.Val {
	items := append([]any(nil), l.items...)
	for it := other.Iterator(); it.HasNext() == celtypes.True; {
		items = append(items, it.Next().Value())
	}
	return &listValue{items: items, elem: l.elem}
}

// goKeys returns the items as a set. It is computed once, so additions by addJSON remain.
func (s *setValue) goKeys() map[any]struct{} {
	s.once.Do(func() {
		s.keys = make(map[any]struct{}, len(s.items))
		for _, item := range s.items {
			s.keys[item] = struct{}{}
		}
	})
	return s.keys
}

// equalJSON is Equal of versions with jsonSums, for a list of the same length.
func (s *setValue) equalJSON(other traits.Lister) ref.Val {
	keys := s.goKeys()
	for it := other.Iterator(); it.HasNext() == celtypes.True; {
		if _, ok := keys[it.Next().Value()]; !ok {
			return celtypes.False
		}
	}
	return celtypes.True
}

// addJSON is Add of versions with jsonSums. As in the API server, later comparisons and additions of
// s consider the added items as items of s.
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

// addJSON is Add of versions with jsonSums.
func (m *mapListValue) addJSON(other traits.Lister) ref.Val {
	items := append([]any(nil), m.items...)
	index := make(map[any]int, len(items))
	for i, item := range items {
		index[m.key(item)] = i
	}
	for it := other.Iterator(); it.HasNext() == celtypes.True; {
		item := it.Next().Value()
		if i, ok := index[m.key(item)]; ok {
			items[i] = item
		} else {
			items = append(items, item)
		}
	}
	return &mapListValue{listValue: listValue{items: items, elem: m.elem}, keys: m.keys}
}

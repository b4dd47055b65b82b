package schema

import "strconv"

// OldItems finds the items of an old map list by key, for transition rules and ratcheting. It follows
// MakeMapList in k8s.io/apiserver/pkg/cel/common. It is not safe for concurrent use.
type OldItems struct {
	keys  []string
	byKey map[any]any // the first item of each key
	rest  []any       // items that are not in byKey yet
}

// NewOldItems returns the items of a list with the given keys. It returns nil if there are no keys or no items.
func NewOldItems(keys []string, items []any) *OldItems {
	if len(keys) == 0 || len(items) == 0 {
		return nil
	}
	return &OldItems{keys: keys, byKey: map[any]any{}, rest: items}
}

// Get returns the first old item with the key of item, or nil. l may be nil.
func (l *OldItems) Get(item any) any {
	if l == nil {
		return nil
	}
	key, ok := l.keyOf(item)
	if !ok {
		return nil
	}
	if old, ok := l.byKey[key]; ok {
		return old
	}
	for len(l.rest) > 0 {
		old := l.rest[0]
		l.rest = l.rest[1:]
		oldKey, ok := l.keyOf(old)
		if !ok {
			continue
		}
		if _, known := l.byKey[oldKey]; !known {
			l.byKey[oldKey] = old
		}
		if oldKey == key {
			return old
		}
	}
	return nil
}

// keyOf returns a comparable value. ok is false if the item lacks a field of the key or has one that is not a scalar.
func (l *OldItems) keyOf(item any) (key any, ok bool) {
	fields, ok := item.(map[string]any)
	if !ok {
		return nil, false
	}
	if len(l.keys) == 1 {
		switch v := fields[l.keys[0]].(type) {
		case bool, float64, int64, string:
			return v, true
		}
		return nil, false
	}
	var joined []byte
	for _, name := range l.keys {
		joined = append(joined, 0)
		switch v := fields[name].(type) {
		case bool:
			joined = strconv.AppendBool(joined, v)
		case float64:
			joined = strconv.AppendFloat(joined, v, 'f', 6, 64)
		case int64:
			joined = strconv.AppendInt(joined, v, 10)
		case string:
			joined = strconv.AppendQuote(joined, v)
		default:
			return nil, false
		}
	}
	return string(joined), true
}

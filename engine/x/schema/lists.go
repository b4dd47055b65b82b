package schema

import (
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ListTypes checks that sets have no duplicate items and map lists no duplicate keys. Errors are
// reported below path.
func (s *Schema) ListTypes(path *field.Path, obj map[string]any) field.ErrorList {
	if s.root.distinct(obj) {
		return nil
	}
	r := listReport{base: path}
	r.object(s.root, obj, nil)
	return r.errs
}

// distinct may return false for a value without duplicates.
func (n *node) distinct(value any) bool {
	if n == nil || !n.lists {
		return true
	}
	switch v := value.(type) {
	case map[string]any:
		return n.distinctBelow(v)
	case []any:
		if !n.distinctItems(v) {
			return false
		}
		if n.items == nil || !n.items.lists {
			return true
		}
		for _, item := range v {
			if !n.items.distinct(item) {
				return false
			}
		}
	}
	return true
}

func (n *node) distinctBelow(fields map[string]any) bool {
	for _, p := range n.listed {
		if v, ok := fields[p.name]; ok && !p.node.distinct(v) {
			return false
		}
	}
	if n.additional == nil || !n.additional.lists {
		return true
	}
	for _, v := range fields {
		if !n.additional.distinct(v) {
			return false
		}
	}
	return true
}

func (n *node) distinctItems(items []any) bool {
	switch n.listType {
	case setList:
		return distinct(items, nil)
	case mapList:
		for _, v := range items {
			if _, ok := v.(map[string]any); v != nil && !ok {
				return false
			}
		}
		return distinct(items, n.listMap)
	}
	return true
}

type listReport struct {
	base *field.Path
	errs field.ErrorList
}

func (r *listReport) value(n *node, v any, at *errorPath) {
	if n == nil || !n.lists {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		r.object(n, v, at)
	case []any:
		r.list(n, v, at)
	}
}

// As in the API server, additionalProperties applies even to a field that is a property.
func (r *listReport) object(n *node, fields map[string]any, at *errorPath) {
	here := errorPath{up: at}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		here.name, here.step = name, additional
		r.value(n.additional, fields[name], &here)
		here.step = property
		r.value(n.properties[name], fields[name], &here)
	}
}

func (r *listReport) list(n *node, items []any, at *errorPath) {
	switch n.listType {
	case setList:
		r.twice(items, items, at)
	case mapList:
		r.keys(n.listMap, items, at)
	}
	if n.items == nil {
		return
	}
	here := errorPath{up: at, step: item}
	for i, v := range items {
		here.index = i
		r.value(n.items, v, &here)
	}
}

func (r *listReport) keys(names []string, items []any, at *errorPath) {
	keys, shown := make([]any, len(items)), make([]any, len(items))
	for i, v := range items {
		fields, ok := v.(map[string]any)
		if v != nil && !ok {
			if len(r.errs) < MaxErrors {
				r.errs = append(r.errs, field.Invalid(at.field(r.base).Index(i), v, "must be an object for an array of list-type map"))
			}
			return
		}
		key := map[string]any{}
		for _, name := range names {
			if v, ok := fields[name]; ok {
				key[name] = v
			}
		}
		keys[i], shown[i] = key, key
		if len(names) == 1 { // a single key is compared by its own value
			if v, ok := key[names[0]]; ok {
				keys[i] = v
			} else {
				keys[i] = noKey{}
			}
		}
	}
	r.twice(keys, shown, at)
}

// noKey is the key of an item that lacks its only key.
type noKey struct{}

type encoded string

// twice reports the second occurrence of each key, but not the third and later occurrences.
func (r *listReport) twice(keys, shown []any, at *errorPath) {
	if len(keys) < 2 {
		return
	}
	path := at.field(r.base)
	var errs field.ErrorList
	times := make(map[any]int, len(keys))
	for i, key := range keys {
		switch key.(type) {
		case map[string]any, []any:
			text, err := json.Marshal(key)
			if err != nil {
				r.errs = append(r.errs, field.Invalid(path.Index(i), key, "internal error"))
				return
			}
			key = encoded(text)
		case nil, bool, string, int64, float64, noKey:
		default:
			continue // not decoded JSON
		}
		if times[key]++; times[key] == 2 {
			errs = append(errs, field.Duplicate(path.Index(i), shown[i]))
		}
	}
	r.errs = append(r.errs, errs[:min(len(errs), max(MaxErrors-len(r.errs), 0))]...)
}

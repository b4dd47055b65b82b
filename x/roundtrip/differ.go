package roundtrip

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/crdcopy"
	"github.com/celadon-cel/celadon/x/valuediff"
)

type schemaProps = apiextensionsv1.JSONSchemaProps

type difference struct {
	kind          Kind
	path          []engine.Step
	before, after any
}

type differ struct {
	ignore [][]engine.Step
	found  []difference
}

// differences returns the differences in values that users and controllers write. It ignores labels
// and annotations that only the converter adds.
func differences(before, after map[string]any, s *schemaProps, ignore [][]engine.Step) []difference {
	d := &differ{ignore: ignore}
	was, is := written(before), written(after)
	for _, name := range []string{"labels", "annotations"} {
		theirs, _ := was["metadata"].(map[string]any)[name].(map[string]any)
		maps.DeleteFunc(is["metadata"].(map[string]any)[name].(map[string]any), func(key string, _ any) bool {
			_, ok := theirs[key]
			return !ok
		})
	}
	ordered := d.ordered(nil, was, is, s)
	for c := range valuediff.Values(was, ordered) {
		kind := Changed
		switch {
		case c.Removed:
			kind = Dropped
		case c.Added:
			kind = Added
		}
		d.add(kind, c.Path, c.Before, c.After)
	}
	return d.found
}

func written(obj map[string]any) map[string]any {
	out := maps.Clone(obj)
	delete(out, "apiVersion")
	delete(out, "kind")
	meta, _ := obj["metadata"].(map[string]any)
	kept := map[string]any{}
	for _, name := range []string{"labels", "annotations"} {
		texts, _ := meta[name].(map[string]any)
		kept[name] = map[string]any{}
		maps.Copy(kept[name].(map[string]any), texts)
	}
	out["metadata"] = kept
	return out
}

func (d *differ) add(kind Kind, path []engine.Step, before, after any) {
	if !slices.ContainsFunc(d.ignore, func(p []engine.Step) bool { return covers(p, path) }) {
		d.found = append(d.found, difference{kind, slices.Clone(path), before, after})
	}
}

func covers(pattern, path []engine.Step) bool {
	if len(path) < len(pattern) {
		return false
	}
	for i, p := range pattern {
		if !p.Any && p != path[i] {
			return false
		}
	}
	return true
}

// ordered returns after with reordered lists in the order of before, so that only other differences
// remain. It adds a difference for reordered lists whose order is significant.
func (d *differ) ordered(path []engine.Step, before, after any, s *schemaProps) any {
	switch is := after.(type) {
	case map[string]any:
		was, _ := before.(map[string]any)
		out := make(map[string]any, len(is))
		for name, v := range is {
			if old, ok := was[name]; ok {
				v = d.ordered(append(slices.Clip(path), engine.Step{Name: name}), old, v, crdcopy.At(s, engine.Step{Name: name}))
			}
			out[name] = v
		}
		return out
	case []any:
		was, ok := before.([]any)
		if !ok || reflect.DeepEqual(was, is) {
			return is
		}
		return d.list(path, was, is, s)
	}
	return after
}

func (d *differ) list(path []engine.Step, was, is []any, s *schemaProps) []any {
	free := s != nil && s.XListType != nil && (*s.XListType == "set" || *s.XListType == "map")
	if sameItems(was, is) {
		if !free {
			d.add(Order, path, was, is)
		}
		return was
	}
	if free && *s.XListType == "map" {
		is = byKeys(was, is, s.XListMapKeys)
	}
	if len(was) != len(is) {
		return is
	}
	out := make([]any, len(is))
	for i := range is {
		out[i] = d.ordered(append(slices.Clip(path), engine.Step{Item: true, Index: i}), was[i], is[i], crdcopy.At(s, engine.Step{Item: true}))
	}
	return out
}

func sameItems(a, b []any) bool {
	return len(a) == len(b) && reflect.DeepEqual(sorted(a), sorted(b))
}

func sorted(list []any) []any {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b any) int { return strings.Compare(compact(a), compact(b)) })
	return list
}

func compact(v any) string {
	data, _ := json.Marshal(v) // cannot fail for decoded JSON
	return string(data)
}

func byKeys(was, is []any, keys []string) []any {
	key := func(v any) string {
		m, _ := v.(map[string]any)
		var parts []any
		for _, name := range keys {
			parts = append(parts, m[name])
		}
		return compact(parts)
	}
	index := map[string]int{}
	for i, v := range was {
		index[key(v)] = i
	}
	at := func(v any) int {
		if i, ok := index[key(v)]; ok {
			return i
		}
		return len(was)
	}
	is = slices.Clone(is)
	slices.SortStableFunc(is, func(a, b any) int { return at(a) - at(b) })
	return is
}

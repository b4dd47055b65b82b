package kube

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

type mutant struct {
	title string
	raw   []byte
}

// A route leads to a value in an object: keys of maps and indexes of lists.
type route []any

func (r route) String() string {
	var out strings.Builder
	for _, step := range r {
		fmt.Fprintf(&out, "/%v", step)
	}
	return out.String()
}

func routes(v any, at route) (all []route) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			next := append(slices.Clone(at), key)
			all = append(append(all, next), routes(v[key], next)...)
		}
	case []any:
		for i, item := range v {
			next := append(slices.Clone(at), i)
			all = append(append(all, next), routes(item, next)...)
		}
	}
	return all
}

func follow(v any, r route) any {
	for _, step := range r {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// removed, as a value, removes a key or an item.
type removed struct{}

// with returns v with another value at a route. Maps and lists on the way are created.
func with(v any, r route, value any) any {
	if len(r) == 0 {
		return value
	}
	switch step := r[0].(type) {
	case string:
		m, _ := v.(map[string]any)
		if m = maps.Clone(m); m == nil {
			m = map[string]any{}
		}
		if changed := with(m[step], r[1:], value); changed == (removed{}) {
			delete(m, step)
		} else {
			m[step] = changed
		}
		return m
	case int:
		list, _ := v.([]any)
		list = slices.Clone(list)
		for step >= len(list) {
			list = append(list, nil)
		}
		if changed := with(list[step], r[1:], value); changed == (removed{}) {
			return slices.Delete(list, step, step+1)
		} else {
			list[step] = changed
		}
		return list
	}
	return v
}

func edits(v any) []any {
	out := []any{removed{}, nil, map[string]any{"celadon": "x"}, []any{"x", int64(1)}}
	switch v := v.(type) {
	case string:
		return append(out, "", "Not_Valid!", v+"-x", strings.Repeat("x", 300), int64(5), true, "-1", "1Gi", "v1", "${x}", " "+v)
	case int64:
		return append(out, v+1, -v-1, int64(0), int64(70000), int64(math.MaxInt32)+1, 1.5, "5", "x")
	case float64:
		return append(out, v+1, -v, "x")
	case bool:
		return append(out, !v, "true", int64(1))
	case []any:
		out = append(out, []any{}, "x")
		if len(v) > 0 {
			out = append(out, append(slices.Clone(v), v[0]), append(slices.Clone(v), nil))
		}
		return out
	case map[string]any:
		more := maps.Clone(v)
		more["celadonUnknown"] = "x"
		odd := maps.Clone(v)
		odd["Not Valid"] = "x y!"
		return append(out, map[string]any{}, "x", more, odd)
	}
	return out
}

func edited(object map[string]any, keep func(route) bool) (all []mutant) {
	for _, r := range routes(object, nil) {
		if !keep(r) {
			continue
		}
		for _, value := range edits(follow(object, r)) {
			all = append(all, newMutant(fmt.Sprintf("%v = %.40s", r, encodedAny(value)), with(object, r, value)))
		}
	}
	return all
}

// grafted returns objects in which one value comes from full, an object with a value in every field. Where the
// object already has a list, the value becomes part of its first item.
func grafted(object, full map[string]any, keep func(route) bool) (all []mutant) {
	for _, r := range routes(full, nil) {
		value := follow(full, r)
		if !keep(r) || encodedAny(follow(object, r)) == encodedAny(value) {
			continue
		}
		all = append(all, newMutant(fmt.Sprintf("%v from a full object", r), with(object, r, value)))
		if _, isText := value.(string); isText {
			all = append(all, newMutant(fmt.Sprintf("%v = a name", r), with(object, r, "celadon")))
		}
	}
	return all
}

func newMutant(title string, object any) mutant {
	return mutant{title, []byte(encodedAny(object))}
}

func encodedAny(v any) string {
	if v == (removed{}) {
		return "(removed)"
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func generic(object map[string]any) (all []mutant) {
	add := func(title string, r route, value any) { all = append(all, newMutant(title, with(object, r, value))) }
	meta := func(title, field string, value any) { add(title, route{"metadata", field}, value) }
	add("unchanged", route{"kind"}, object["kind"])
	meta("labels", "labels", map[string]any{"app": "web", "example.com/tier": ""})
	meta("annotations", "annotations", map[string]any{"example.com/Note_1": "any text\n"})
	meta("a finalizer", "finalizers", []any{"example.com/wait"})
	meta("an owner", "ownerReferences", []any{map[string]any{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}})
	meta("a null time", "creationTimestamp", nil)
	meta("a generation", "generation", int64(7))
	meta("no managed fields", "managedFields", []any{})
	meta("a link", "selfLink", "/x")
	meta("a UID", "uid", "b5a4b8a4-0000-4000-8000-000000000000")
	meta("a deletion", "deletionTimestamp", "2020-01-01T00:00:00Z")
	meta("a grace period", "deletionGracePeriodSeconds", int64(5))
	meta("a null label", "labels", map[string]any{"app": nil})
	meta("a name before all", "generateName", "web-")
	meta("no name", "name", removed{})
	meta("a bad name", "name", "Bad_Name!")
	meta("a slash", "name", "a/b")
	meta("a long name", "name", strings.Repeat("x", 300))
	meta("another namespace", "namespace", "elsewhere")
	meta("a bad namespace", "namespace", "Else where")
	meta("a bad label", "labels", map[string]any{"-bad": "x"})
	meta("a bad value", "labels", map[string]any{"app": "no spaces"})
	meta("a number as a label", "labels", map[string]any{"app": int64(1)})
	meta("labels as a list", "labels", []any{"app"})
	meta("a bad annotation", "annotations", map[string]any{"bad key": "x"})
	meta("large annotations", "annotations", map[string]any{"a": strings.Repeat("x", 300000)})
	meta("a bad finalizer", "finalizers", []any{"bad finalizer"})
	meta("a short finalizer", "finalizers", []any{"wait"})
	meta("an incomplete owner", "ownerReferences", []any{map[string]any{"name": "n"}})
	meta("managed fields", "managedFields", []any{map[string]any{"manager": "x", "operation": "Break"}})
	meta("an unknown field", "nam", "x")
	meta("a resource version", "resourceVersion", "7")
	meta("a bad time", "creationTimestamp", "yesterday")
	add("metadata as a list", route{"metadata"}, []any{})
	add("no metadata", route{"metadata"}, removed{})
	add("an unknown field", route{"specs"}, map[string]any{})
	add("another case", route{"Metadata"}, map[string]any{})
	add("another kind", route{"kind"}, "Other")
	add("no kind", route{"kind"}, removed{})
	add("no apiVersion", route{"apiVersion"}, removed{})
	add("another version", route{"apiVersion"}, "example.com/v1")
	add("a number as kind", route{"kind"}, int64(5))
	text := encodedAny(object)
	unnamed := encodedAny(with(with(object, route{"metadata", "name"}, removed{}), route{"metadata", "generateName"}, "web-"))
	return append(all,
		mutant{"generateName", []byte(unnamed)},
		mutant{"a duplicate key", []byte(`{"kind":"x",` + text[1:])},
		mutant{"duplicate metadata", []byte(text[:len(text)-1] + `,"metadata":{"labels":{"a":"b","a":"c"}}}`)},
		mutant{"cut off", []byte(text[:len(text)/2])},
		mutant{"more after it", []byte(text + "{}")},
		mutant{"a list", []byte("[" + text + "]")},
		mutant{"null", []byte("null")},
		mutant{"nothing", []byte{}},
		mutant{"YAML", []byte("kind: x")},
	)
}

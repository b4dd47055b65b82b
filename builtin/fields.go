package builtin

import (
	_ "embed"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
)

// fieldTexts holds a line "group/version.Type field minor" for each field that a newer minor added to a type.
// Command conformance/kube/fields writes it.
//
//go:embed fields.txt
var fieldTexts string

var newerFields = sync.OnceValue(func() map[string]map[string]int {
	all := map[string]map[string]int{}
	for line := range strings.Lines(fieldTexts) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		field, text, _ := strings.Cut(rest, " ")
		minor, err := strconv.Atoi(text)
		if err != nil {
			panic(fmt.Sprintf("fields.txt: %q", line))
		}
		if all[name] == nil {
			all[name] = map[string]int{}
		}
		all[name][field] = minor
	}
	return all
})

// below returns the type of the field, item, or map value at a step below a value of type of, or
// nil. minor is the first whose servers have the field, or 0 if all supported minors have it.
func below(of reflect.Type, step engine.Step) (next reflect.Type, minor int) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case of.Kind() == reflect.Map || of.Kind() == reflect.Slice && step.Item:
		return of.Elem(), 0
	case of.Kind() != reflect.Struct || step.Item:
		return nil, 0
	}
	for i := range of.NumField() {
		f := of.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == step.Name {
			return f.Type, newerFields()[strings.TrimPrefix(of.PkgPath(), "k8s.io/api/")+"."+of.Name()][tag]
		}
		if tag == "" && f.Anonymous {
			if next, minor := below(f.Type, step); next != nil {
				return next, minor
			}
		}
	}
	return nil, 0
}

// FieldIntroduced returns the first minor whose servers have a field of a kind, or 0 if the field is unknown or all
// supported minors have it.
func FieldIntroduced(kind schema.GroupVersionKind, field string) (minor int) {
	r := Lookup(kind)
	steps, err := engine.ParsePath(field)
	if r == nil || err != nil {
		return 0
	}
	at := r.Type
	for _, step := range steps {
		next, since := below(at, step)
		if next == nil {
			return 0
		}
		at, minor = next, max(minor, since)
	}
	return minor
}

// withoutNewer returns a copy of an object without the fields that servers of Kubernetes 1.minor do not have, and the
// paths of these fields. It returns the object itself if it has none of them.
func withoutNewer(object map[string]any, of reflect.Type, minor int) (without map[string]any, newer []string) {
	if newer = newerIn(object, of, minor, nil, false); newer == nil {
		return object, nil
	}
	without = runtime.DeepCopyJSON(object)
	newerIn(without, of, minor, nil, true)
	return without, newer
}

// newerIn returns the paths of newer fields in v, which is at path. It removes the fields if remove is set.
func newerIn(v any, of reflect.Type, minor int, path []engine.Step, remove bool) (newer []string) {
	visit := func(v any, step engine.Step) (isNewer bool) {
		at := append(slices.Clip(path), step)
		next, since := below(of, step)
		if isNewer = since > minor; isNewer {
			newer = append(newer, engine.FormatPath(at))
		} else if next != nil {
			newer = append(newer, newerIn(v, next, minor, at, remove)...)
		}
		return isNewer
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if visit(v[name], engine.Step{Name: name}) && remove {
				delete(v, name)
			}
		}
	case []any:
		for i, item := range v {
			visit(item, engine.Step{Item: true, Index: i})
		}
	}
	return newer
}

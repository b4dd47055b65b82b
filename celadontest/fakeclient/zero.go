package fakeclient

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// zeroField returns an explanation if the value at a path of a Go object is the zero value of a field
// that is sent because its JSON tag has neither omitempty nor omitzero. Otherwise, it returns "".
func zeroField(obj any, path string) string {
	if _, untyped := obj.(runtime.Unstructured); untyped || obj == nil {
		return ""
	}
	v := reflect.ValueOf(obj)
	var of reflect.StructField
	for _, name := range elements(path) {
		of = reflect.StructField{}
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Struct:
			if of, v = jsonField(v, name); of.Name == "" {
				return ""
			}
		case reflect.Slice:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= v.Len() {
				return ""
			}
			v = v.Index(i)
		case reflect.Map:
			if v.Type().Key().Kind() != reflect.String {
				return ""
			}
			v = v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key()))
		default:
			return ""
		}
	}
	_, options, _ := strings.Cut(of.Tag.Get("json"), ",")
	if of.Name == "" || !v.IsValid() || !v.IsZero() || strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") {
		return ""
	}
	sent, err := json.Marshal(v.Interface())
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s is the zero value of the Go field %s; clients send it because its JSON tag has no omitempty", sent, of.Name)
}

// elements splits a field path, such as spec.list[0].labels[a.b].
func elements(path string) (names []string) {
	for path != "" {
		if rest, ok := strings.CutPrefix(path, "["); ok {
			name, rest, _ := strings.Cut(rest, "]")
			names, path = append(names, name), strings.TrimPrefix(rest, ".")
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			return append(names, path)
		}
		names, path = append(names, path[:end]), strings.TrimPrefix(path[end:], ".")
	}
	return names
}

// jsonField returns the field that encodes as name, in v or in its embedded structs.
func jsonField(v reflect.Value, name string) (reflect.StructField, reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag == name && field.IsExported() {
			return field, v.Field(i)
		}
		if tag == "" && field.Anonymous && field.Type.Kind() == reflect.Struct {
			if found, value := jsonField(v.Field(i), name); found.Name != "" {
				return found, value
			}
		}
	}
	return reflect.StructField{}, reflect.Value{}
}

package editor

import (
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/spell"
)

// CRDHint returns a question such as "did you mean rule?" for an unknown field of a CRD at a path such as
// spec.versions[0].schema, or "".
func CRDHint(path string) string {
	steps, err := engine.ParsePath(path)
	if err != nil || len(steps) == 0 {
		return ""
	}
	at := reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]()
	for _, step := range steps[:len(steps)-1] {
		if at = stepInto(at, step.Name); at == nil {
			return ""
		}
	}
	if at = structOf(at); at == nil {
		return ""
	}
	name, names := steps[len(steps)-1].Name, fieldNames(at)
	if near := spell.Nearest(name, names); near != "" && !slices.Contains(names, name) {
		return "did you mean " + near + "?"
	}
	return ""
}

// stepInto returns the type of a field, of a map's values, or of a list's items. It returns nil if t has no such field.
func stepInto(t reflect.Type, name string) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		return t.Elem()
	case reflect.Struct:
		if t == reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]() || t == reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]() {
			return stepInto(reflect.TypeFor[apiextensionsv1.JSONSchemaProps](), name)
		}
		for i := range t.NumField() {
			if jsonName(t.Field(i)) == name {
				return t.Field(i).Type
			}
		}
	}
	return nil
}

// structOf returns the struct that describes the fields of t, or nil.
func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray](), reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():
		return reflect.TypeFor[apiextensionsv1.JSONSchemaProps]()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

func fieldNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		switch name := jsonName(t.Field(i)); {
		case name != "":
			names = append(names, name)
		case t.Field(i).Anonymous:
			names = append(names, fieldNames(t.Field(i).Type)...)
		}
	}
	return names
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

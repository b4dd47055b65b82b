package crdobject

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

const head = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "as.b.c"},
	"spec": {"group": "b.c", "scope": "Cluster", "names": {"kind": "A", "plural": "as"}, "versions": [
		{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": `

const all = `{"type": "object", "description": "d", "title": "t", "nullable": true, "required": ["a", "b"], "properties": {
	"a": {"type": "string", "format": "date", "minLength": 1, "maxLength": 2, "pattern": "^a\u00e4<>$", "enum": ["x", "<", 1, 1.5, {"k": [null]}], "default": "\u2028<"},
	"b": {"type": "array", "items": {"type": "number", "minimum": 1, "maximum": 2.5, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": 0.5}, "minItems": 0, "maxItems": 9007199254740993, "uniqueItems": true, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]},
	"c": {"type": "object", "additionalProperties": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer", "description": "kept"}, {"not": {"type": "string"}}], "allOf": [{}], "oneOf": [{}]}, "minProperties": 1, "maxProperties": 2, "x-kubernetes-map-type": "atomic"},
	"d": {"type": "object", "additionalProperties": true, "x-kubernetes-preserve-unknown-fields": false, "x-kubernetes-embedded-resource": true, "properties": {}, "enum": [], "required": []},
	"e": {"additionalProperties": false, "default": {"b": 1, "a": [0.25]}, "x-kubernetes-validations": []}},
	"x-kubernetes-validations": [{"rule": "true", "message": "m", "messageExpression": "'m'", "reason": "FieldValueInvalid", "fieldPath": ".a", "optionalOldSelf": false}, {"rule": "self == 1"}]}`

func crdWith(schema string) string { return head + schema + `}}]}}` }

// want returns the result of the server's decoder, and whether it reports nothing.
func want(t testing.TB, obj map[string]any) (crd *apiextensionsv1.CustomResourceDefinition, ok bool) {
	t.Helper()
	data, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	crd = &apiextensionsv1.CustomResourceDefinition{}
	strict, err := kjson.UnmarshalStrict(data, crd)
	return crd, err == nil && len(strict) == 0
}

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var obj map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &obj); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return obj
}

func TestConvert(t *testing.T) {
	for _, schema := range []string{"{}", all, `{"type": "object"}`} {
		obj := object(t, crdWith(schema))
		got, ok := Convert(obj, Options{MaxSize: math.MaxInt32})
		if !ok {
			t.Fatal("not converted:", schema)
		}
		strict, _ := want(t, obj)
		if diff := cmp.Diff(strict, got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestConvertUnusual checks that whatever the server's decoder reports or changes is left to it.
func TestConvertUnusual(t *testing.T) {
	for name, schema := range map[string]string{
		"unknown keyword":         `{"maxlength": 1}`,
		"unknown in items":        `{"items": {"unknown": 1}}`,
		"unknown in a rule":       `{"x-kubernetes-validations": [{"rule": "true", "name": "n"}]}`,
		"wrong type":              `{"type": 1}`,
		"fraction":                `{"maxLength": 1.5}`,
		"float":                   `{"maxLength": 1e2}`,
		"too large":               `{"maxLength": 9223372036854775808}`,
		"null":                    `{"description": null}`,
		"null default":            `{"default": null}`,
		"null in enum":            `{"enum": ["a", null]}`,
		"null property":           `{"properties": {"a": null}}`,
		"null items":              `{"items": null}`,
		"items as a list":         `{"items": [{}]}`,
		"additionalItems":         `{"additionalItems": true}`,
		"definitions":             `{"definitions": {}}`,
		"$ref":                    `{"$ref": "#/a"}`,
		"example":                 `{"example": 1}`,
		"properties as a list":    `{"properties": []}`,
		"required as a string":    `{"required": "a"}`,
		"additionalProperties":    `{"additionalProperties": "true"}`,
		"rules as an object":      `{"x-kubernetes-validations": {}}`,
		"nullable as a string":    `{"nullable": "true"}`,
		"not as a list":           `{"not": []}`,
		"schema as a list":        `[]`,
		"null in place of schema": `null`,
	} {
		t.Run(name, func(t *testing.T) {
			obj := object(t, crdWith(schema))
			got, ok := Convert(obj, Options{MaxSize: math.MaxInt32})
			if strict, fine := want(t, obj); ok && (!fine || cmp.Diff(strict, got) != "") {
				t.Error("converted to", got)
			} else if ok && name != "null in place of schema" {
				t.Error("converted")
			}
		})
	}
	for name, text := range map[string]string{
		"another kind":        strings.Replace(crdWith("{}"), `"CustomResourceDefinition"`, `"List"`, 1),
		"beta":                strings.Replace(crdWith("{}"), "k8s.io/v1", "k8s.io/v1beta1", 1),
		"unknown outside":     strings.Replace(crdWith("{}"), `"scope"`, `"validation": {}, "scope"`, 1),
		"no versions":         `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}`,
		"versions as strings": `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"versions": ["a"]}}`,
	} {
		if _, ok := Convert(object(t, text), Options{MaxSize: math.MaxInt32}); ok {
			t.Errorf("%s: converted", name)
		}
	}
}

// TestConvertLarge checks that the limit applies to everything but descriptions.
func TestConvertLarge(t *testing.T) {
	for _, schema := range []string{
		`{"properties": {"` + strings.Repeat("p", 1000) + `": {}}}`, `{"pattern": "` + strings.Repeat("p", 1000) + `"}`,
		`{"enum": ["` + strings.Repeat("p", 1000) + `"]}`, `{"allOf": [` + strings.Repeat("{},", 400) + `{}]}`,
		`{"required": [` + strings.Repeat(`"",`, 400) + `""]}`,
	} {
		if _, ok := Convert(object(t, crdWith(schema)), Options{MaxSize: 1200}); ok {
			t.Error("converted:", schema)
		}
	}
	if _, ok := Convert(object(t, crdWith(`{"description": "`+strings.Repeat("d", 9000)+`"}`)), Options{MaxSize: 1200}); !ok {
		t.Error("descriptions count")
	}
}

// TestConvertCorpus checks the CRDs of real projects.
func TestConvertCorpus(t *testing.T) {
	converted, number := 0, 0
	for _, folder := range corpus.Folders(t) {
		paths, err := filepath.Glob(filepath.Join(folder, "crds", "*", "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for i, path := range paths {
			if testing.Short() && i%20 > 0 {
				continue
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if data, err = yaml.YAMLToJSON(data); err != nil {
				t.Fatal(err)
			}
			obj := object(t, string(data))
			number++
			got, ok := Convert(obj, Options{MaxSize: 3 << 19})
			if !ok {
				continue
			}
			converted++
			if strict, fine := want(t, obj); !fine || cmp.Diff(strict, got) != "" {
				t.Errorf("%s: %s", path, cmp.Diff(strict, got))
			}
		}
	}
	if converted < number*9/10 {
		t.Errorf("converted %d of %d CRDs", converted, number)
	}
}

// FuzzConvert compares Convert with the server's decoder.
func FuzzConvert(f *testing.F) {
	f.Add(all)
	f.Add(`{"type": "object", "properties": {"a": {"items": {"type": "string"}}}}`)
	f.Add(`{"enum": [null], "default": {"a": null}}`)
	f.Fuzz(func(t *testing.T, schema string) {
		var obj map[string]any
		if len(schema) > 4<<10 { // the server's decoder takes quadratic time
			return
		}
		if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(crdWith(schema)), &obj); err != nil {
			return
		}
		got, ok := Convert(obj, Options{MaxSize: 1 << 20})
		if !ok {
			return
		}
		if strict, fine := want(t, obj); !fine {
			t.Error("the server reports something")
		} else if diff := cmp.Diff(strict, got); diff != "" {
			t.Error(diff)
		}
	})
}

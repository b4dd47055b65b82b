// Package secret finds passwords in objects and hides them in output. A password is a string, number, or
// boolean whose schema has format: password.
package secret

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/types/path"
)

// Secrets holds the passwords of an object.
type Secrets struct {
	Texts Texts
	Paths [][]path.Step // the paths of the passwords
}

// Of finds the passwords of an object by the schema of its version, or by the schemas of all
// versions if the CRD does not have that version. If crd is nil, the result is empty.
func Of(crd *apiextensionsv1.CustomResourceDefinition, obj map[string]any) *Secrets {
	found := &Secrets{}
	if crd == nil {
		return found
	}
	apiVersion, _ := obj["apiVersion"].(string)
	_, version, _ := strings.Cut(apiVersion, "/")
	known := slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version })
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Schema != nil && (v.Name == version || !known) {
			found.add(v.Schema.OpenAPIV3Schema, obj, nil)
		}
	}
	return found
}

// PathStrings returns the paths of the passwords in string form.
func (s *Secrets) PathStrings() (paths []string) {
	for _, steps := range s.Paths {
		paths = append(paths, path.Format(steps))
	}
	return paths
}

// Hide replaces the passwords in obj. It modifies obj.
func (s *Secrets) Hide(obj map[string]any) {
	for _, steps := range s.Paths {
		var v any = obj
		for i, step := range steps {
			last := i == len(steps)-1
			switch parent := v.(type) {
			case map[string]any:
				var ok bool
				if v, ok = parent[step.Name]; ok && last {
					parent[step.Name] = Hidden
				}
			case []any:
				if v = parent[step.Index]; last {
					parent[step.Index] = Hidden
				}
			}
		}
	}
}

func (s *Secrets) add(schema *apiextensionsv1.JSONSchemaProps, v any, steps []path.Step) {
	if schema == nil {
		return
	}
	switch v := v.(type) {
	case string:
		if v != "" && schema.Format == "password" {
			s.Texts = append(s.Texts, forms(v)...)
			s.Paths = append(s.Paths, slices.Clone(steps))
		}
	case int64, float64, bool:
		if schema.Format == "password" {
			s.scalar(v, steps)
		}
	case []any:
		if schema.Items != nil {
			for i, item := range v {
				s.add(schema.Items.Schema, item, append(steps, path.Step{Item: true, Index: i}))
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner := append(steps, path.Step{Name: name})
			if prop, ok := schema.Properties[name]; ok {
				s.add(&prop, v[name], inner)
			} else if schema.AdditionalProperties != nil {
				s.add(schema.AdditionalProperties.Schema, v[name], inner)
			}
		}
	}
}

// shortest is the minimum length of a number that is also hidden in other fields. A shorter number
// occurs in too many unrelated values, so it is only hidden in its own field.
const shortest = 4

// scalar adds a password that is not a string.
func (s *Secrets) scalar(v any, steps []path.Step) {
	s.Paths = append(s.Paths, slices.Clone(steps))
	if text, err := json.Marshal(v); err == nil && len(text) >= shortest && string(text) != "true" && string(text) != "false" {
		s.Texts = append(s.Texts, string(text))
	}
}

// forms returns text and its escaped forms inside JSON that is itself a string, such as the
// annotation of kubectl apply, with and without HTML escaping.
func forms(text string) []string {
	all := []string{text}
	for _, html := range []bool{true, false} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if err := enc.Encode(text); err != nil {
			continue // strings cannot fail to encode
		}
		if quoted := strings.TrimSpace(b.String()); len(quoted) > 2 && !slices.Contains(all, quoted[1:len(quoted)-1]) {
			all = append(all, quoted[1:len(quoted)-1])
		}
	}
	return all
}

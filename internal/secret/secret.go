// Package secret finds the passwords in objects, the strings whose schema says
// format: password, and hides them in what is shown.
package secret

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
)

// Secrets are the strings of an object that the schema calls passwords.
type Secrets struct {
	Texts Texts
	Paths [][]engine.Step // where they stand
}

// Of finds those of an object, by the schema of its version; without a CRD
// there are none.
func Of(crd *apiextensionsv1.CustomResourceDefinition, obj map[string]any) *Secrets {
	found := &Secrets{}
	if crd == nil {
		return found
	}
	apiVersion, _ := obj["apiVersion"].(string)
	_, version, _ := strings.Cut(apiVersion, "/")
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Name == version && v.Schema != nil {
			found.add(v.Schema.OpenAPIV3Schema, obj, nil)
		}
	}
	return found
}

// Places are where they stand.
func (s *Secrets) Places() (paths []string) {
	for _, path := range s.Paths {
		paths = append(paths, engine.FormatPath(path))
	}
	return paths
}

// Hide puts a word in their places, in an object that may be changed.
func (s *Secrets) Hide(obj map[string]any) {
	for _, path := range s.Paths {
		var v any = obj
		for i, step := range path {
			last := i == len(path)-1
			switch parent := v.(type) {
			case map[string]any:
				if v = parent[step.Name]; last {
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

func (s *Secrets) add(schema *apiextensionsv1.JSONSchemaProps, v any, path []engine.Step) {
	if schema == nil {
		return
	}
	switch v := v.(type) {
	case string:
		if v != "" && schema.Format == "password" {
			s.Texts = append(s.Texts, forms(v)...)
			s.Paths = append(s.Paths, slices.Clone(path))
		}
	case []any:
		if schema.Items != nil {
			for i, item := range v {
				s.add(schema.Items.Schema, item, append(path, engine.Step{Item: true, Index: i}))
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner := append(path, engine.Step{Name: name})
			if prop, ok := schema.Properties[name]; ok {
				s.add(&prop, v[name], inner)
			} else if schema.AdditionalProperties != nil {
				s.add(schema.AdditionalProperties.Schema, v[name], inner)
			}
		}
	}
}

// forms are a text, and how it stands within JSON that is a text itself, as in the
// annotation of kubectl apply: with and without what is escaped for HTML.
func forms(text string) []string {
	all := []string{text}
	for _, html := range []bool{true, false} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if err := enc.Encode(text); err != nil {
			continue // no text fails
		}
		if quoted := strings.TrimSpace(b.String()); len(quoted) > 2 && !slices.Contains(all, quoted[1:len(quoted)-1]) {
			all = append(all, quoted[1:len(quoted)-1])
		}
	}
	return all
}

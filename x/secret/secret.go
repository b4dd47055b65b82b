// Package secret finds passwords in objects and hides them in output. A password is a nonempty string, a
// number, or a boolean whose schema has format: password.
package secret

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/types/path"
	"github.com/celadon-cel/celadon/x/crdcopy"
	"github.com/celadon-cel/celadon/x/valuediff"
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
		last := steps[len(steps)-1]
		switch parent, _ := valuediff.At(obj, steps[:len(steps)-1]...); parent := parent.(type) {
		case map[string]any:
			if _, ok := parent[last.Name]; ok {
				parent[last.Name] = Hidden
			}
		case []any:
			parent[last.Index] = Hidden
		}
	}
}

func (s *Secrets) add(schema *apiextensionsv1.JSONSchemaProps, v any, steps []path.Step) {
	if schema == nil {
		return
	}
	switch v.(type) {
	case string, int64, float64, bool:
		if v != "" && schema.Format == "password" {
			s.Texts = append(s.Texts, forms(v)...)
			s.Paths = append(s.Paths, slices.Clone(steps))
		}
	}
	for step, child := range valuediff.Children(v) {
		s.add(crdcopy.At(schema, step), child, append(steps, step))
	}
}

// shortest is the minimum length of a number that is also hidden in other fields. A shorter number
// occurs in too many unrelated values, so it is only hidden in its own field.
const shortest = 4

// forms returns a string and its escaped forms inside JSON that is itself a string, such as the
// annotation of kubectl apply, with and without HTML escaping. It returns the JSON of a long number.
func forms(v any) (all []string) {
	text, isString := v.(string)
	if isString {
		all = append(all, text)
	}
	for _, html := range []bool{true, false} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if _, isBool := v.(bool); isBool || enc.Encode(v) != nil { // the values cannot fail to encode
			continue
		}
		form := strings.TrimSpace(b.String())
		if isString {
			form = form[1 : len(form)-1]
		} else if len(form) < shortest {
			continue
		}
		if !slices.Contains(all, form) {
			all = append(all, form)
		}
	}
	return all
}

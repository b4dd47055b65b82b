package main

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/engine"
)

// secrets are the strings of an object that the schema calls passwords.
type secrets struct {
	texts report.Secrets
	paths [][]engine.Step
}

// secrets finds those of an object, by the schema of its version.
func (def *definition) secrets(obj map[string]any) *secrets {
	found := &secrets{}
	if def.crd == nil {
		return found // the shell's: its user has the object open
	}
	_, version, _ := strings.Cut(identify(obj).APIVersion, "/")
	for i := range def.crd.Spec.Versions {
		if v := &def.crd.Spec.Versions[i]; v.Name == version && v.Schema != nil {
			found.add(v.Schema.OpenAPIV3Schema, obj, nil)
		}
	}
	return found
}

func (s *secrets) add(schema *apiextensionsv1.JSONSchemaProps, v any, path []engine.Step) {
	if schema == nil {
		return
	}
	switch v := v.(type) {
	case string:
		if v != "" && schema.Format == "password" {
			s.texts = append(s.texts, v)
			s.paths = append(s.paths, slices.Clone(path))
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

// excerpts are lines of a document, without the secrets that stand on them.
type excerpts struct {
	doc   *input.Document
	width int
	texts report.Secrets
	spans []input.Span
}

func (s *secrets) excerpts(doc *input.Document, width int, more report.Secrets) *excerpts {
	return &excerpts{doc, width, slices.Concat(s.texts, more), doc.Spans(s.paths)}
}

func (e *excerpts) at(place input.Position) report.Excerpt {
	line, index, ok := e.doc.SourceLine(place)
	if !ok {
		return report.Excerpt{}
	}
	hide := len(line)
	for _, s := range e.spans {
		switch {
		case s.Line == place.Line:
			hide = min(hide, index+s.Column-place.Column)
		case s.Line < place.Line && place.Line <= s.Last:
			return report.Excerpt{}
		}
	}
	return report.NewExcerpt(line, index, hide, e.width, e.texts)
}

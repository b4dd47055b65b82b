package lsp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/schemawords"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/assist"
)

// An objectAt is an object around a position of a text, with its CRD.
type objectAt struct {
	crd     *part
	version int
	root    *apiextensionsv1.JSONSchemaProps
}

// objectAt returns the object in a document, or nil if its schema is not known.
func (v *view) objectAt(p editor.Piece) *objectAt {
	if p.Tree.Root == nil {
		return nil
	}
	text := func(key string) string {
		if _, value := p.Tree.Root.Get(key); value != nil {
			return value.Value
		}
		return ""
	}
	id := input.Identity{APIVersion: text("apiVersion"), Kind: text("kind")}
	if !v.crds.live().Knows(id.GroupKind()) {
		return nil
	}
	c := v.crdOf(id.GroupKind())
	if c == nil {
		return nil
	}
	crd := c.crd.described()
	if crd == nil {
		return nil
	}
	i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == id.Version()
	})
	if i < 0 || crd.Spec.Versions[i].Schema == nil {
		return nil
	}
	return &objectAt{crd: c, version: i, root: crd.Spec.Versions[i].Schema.OpenAPIV3Schema}
}

func stepsOf(path position.Path) (steps []engine.Step) {
	for _, step := range path {
		if name, ok := step.Name(); ok {
			steps = append(steps, engine.Step{Name: name})
		} else {
			steps = append(steps, engine.Step{Item: true, Index: step.Index()})
		}
	}
	return steps
}

func (v *view) schemaHover(offset int) *protocol.Hover {
	p, within := v.trees.At(v.text.bytes, offset)
	at := p.Tree.At(within)
	o := v.objectAt(p)
	if o == nil || len(at.Path) == 0 {
		return nil
	}
	steps := stepsOf(at.Path)
	s := assist.SchemaAt(o.root, steps)
	if s == nil {
		return nil
	}
	lines := []string{engine.FormatPath(steps) + ": " + schemaType(s)}
	if bounds := o.bounds(steps, s); bounds != "" {
		lines = append(lines, bounds)
	}
	if s.Default != nil {
		lines = append(lines, "default: "+asJSON(s.Default.Raw))
	}
	if s.Description != "" {
		lines = append(lines, s.Description)
	}
	for i := range s.XValidations {
		lines = append(lines, "rule: "+lex.Flat(s.XValidations[i].Rule))
	}
	rng := v.text.rangeOf(p.Start+at.Node.Start, p.Start+max(at.Node.Start, at.Node.End))
	return &protocol.Hover{Contents: plainText(strings.Join(lines, "\n")), Range: &rng}
}

func (o *objectAt) bounds(steps []engine.Step, s *apiextensionsv1.JSONSchemaProps) string {
	e, _ := o.crd.crd.compiled()
	if e == nil {
		return ""
	}
	node, err := e.At(o.crd.crd.CRD.Spec.Versions[o.version].Name, engine.FormatPath(steps))
	if err != nil {
		return ""
	}
	return assist.Bounds(node.Decl, s)
}

// schemaType returns the type of a value in the terms of celadon docs and find.
func schemaType(s *apiextensionsv1.JSONSchemaProps) string {
	text := wordsOf(s).Kind()
	if s.Nullable {
		text += ", or null"
	}
	return text
}

func wordsOf(s *apiextensionsv1.JSONSchemaProps) schemawords.Node {
	n := schemawords.Node{"type": s.Type, "format": s.Format, "x-kubernetes-int-or-string": s.XIntOrString}
	if s.XListType != nil {
		n["x-kubernetes-list-type"] = *s.XListType
	}
	if s.Items != nil && s.Items.Schema != nil {
		n["items"] = map[string]any(wordsOf(s.Items.Schema))
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		n["additionalProperties"] = map[string]any(wordsOf(s.AdditionalProperties.Schema))
	}
	return n
}

// schemaCompletion offers the fields of an object, or the values of a field.
func (v *view) schemaCompletion(offset int) *protocol.CompletionList {
	p, within := v.trees.At(v.text.bytes, offset)
	o := v.objectAt(p)
	if o == nil {
		return nil
	}
	w := wordAt(v.text.bytes[p.Start:], within)
	if w == nil {
		return nil
	}
	s := assist.SchemaAt(o.root, w.steps)
	if s == nil {
		return nil
	}
	list := &protocol.CompletionList{Items: []protocol.CompletionItem{}}
	rng := v.text.rangeOf(p.Start+w.from, p.Start+within)
	add := func(text, insert, detail, doc string, kind int) {
		list.Items = append(list.Items, protocol.CompletionItem{
			Label: shown(text), Kind: kind, Detail: shown(detail), Doc: plainText(doc),
			SortText: order(len(list.Items)), Filter: text, TextEdit: &protocol.TextEdit{Range: rng, NewText: insert},
		})
	}
	if w.value {
		for _, text := range values(s) {
			add(text, text, "", "", protocol.KindValue)
		}
		return list
	}
	for _, name := range fieldNames(s) {
		if below := s.Properties[name]; !w.otherKeys[name] {
			detail := schemaType(&below)
			if slices.Contains(s.Required, name) {
				detail += ", required"
			}
			end := ": "
			if below.Type == "object" || below.Type == "array" {
				end = ":"
			}
			add(name, position.Word(name)+end, detail, below.Description, protocol.KindField)
		}
	}
	return list
}

func asJSON(raw []byte) string {
	var v any
	var b strings.Builder
	if json.Unmarshal(raw, &v) != nil || print.Encoder(&b).Encode(v) != nil {
		return string(raw)
	}
	return strings.TrimSpace(b.String())
}

// fieldNames returns the names of a schema's fields, required fields first.
func fieldNames(s *apiextensionsv1.JSONSchemaProps) []string {
	names := slices.Sorted(maps.Keys(s.Properties))
	isRequired := func(name string) bool { return slices.Contains(s.Required, name) }
	optional := slices.DeleteFunc(slices.Clone(names), isRequired)
	required := slices.DeleteFunc(names, func(name string) bool { return !isRequired(name) })
	return append(required, optional...)
}

// values returns the values that an enum or boolean permits.
func values(s *apiextensionsv1.JSONSchemaProps) (texts []string) {
	for _, v := range s.Enum {
		word := string(v.Raw)
		if text := ""; json.Unmarshal(v.Raw, &text) == nil {
			word = position.Word(text)
		}
		texts = append(texts, word)
	}
	if s.Type == "boolean" {
		texts = append(texts, "false", "true")
	}
	return texts
}

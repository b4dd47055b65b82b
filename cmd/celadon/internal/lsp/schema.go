package lsp

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
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

type objectAt struct {
	editor.Piece
	within  int
	crd     *part
	version int
	root    *apiextensionsv1.JSONSchemaProps
}

// objectAt returns nil if the schema of the object at offset is unknown.
func (v *view) objectAt(offset int) *objectAt {
	p, within := v.trees.At(v.text.bytes, offset)
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
	return &objectAt{p, within, c, i, crd.Spec.Versions[i].Schema.OpenAPIV3Schema}
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
	o := v.objectAt(offset)
	if o == nil {
		return nil
	}
	at := o.Tree.At(o.within)
	steps := stepsOf(at.Path)
	s := assist.SchemaAt(o.root, steps)
	if s == nil || len(steps) == 0 {
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
	rng := v.text.rangeOf(o.Start+at.Node.Start, o.Start+max(at.Node.Start, at.Node.End))
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

func (v *view) schemaCompletion(offset int) *protocol.CompletionList {
	o := v.objectAt(offset)
	if o == nil {
		return nil
	}
	w := wordAt(v.text.bytes[o.Start:], o.within)
	if w == nil {
		return nil
	}
	s := assist.SchemaAt(o.root, w.steps)
	if s == nil {
		return nil
	}
	list := &protocol.CompletionList{Items: []protocol.CompletionItem{}}
	rng := v.text.rangeOf(o.Start+w.from, o.Start+o.within)
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

func fieldNames(s *apiextensionsv1.JSONSchemaProps) []string {
	names := slices.Sorted(maps.Keys(s.Properties))
	isRequired := func(name string) bool { return slices.Contains(s.Required, name) }
	optional := slices.DeleteFunc(slices.Clone(names), isRequired)
	required := slices.DeleteFunc(names, func(name string) bool { return !isRequired(name) })
	return append(required, optional...)
}

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

// written is the word before the cursor in block YAML, which the user is typing.
type written struct {
	from      int
	steps     []engine.Step // path of the mapping that gets the key, or of the value
	value     bool
	otherKeys map[string]bool
}

// unfinished matches a line up to the cursor: item indicators, perhaps a key, and the word.
var unfinished = regexp.MustCompile(`^ *(?:- +)*([^ {}\[\]#&*][^{}\[\]#&*]*?: +)?([^ :{}\[\]"'#&*|>]*)$`)

// placeholder replaces the word, so that the text around it is YAML.
const placeholder = "celadon-cursor"

// wordAt returns nil if the cursor, which is at offset, is neither in a key nor in a value.
func wordAt(text []byte, offset int) *written {
	begin := bytes.LastIndexByte(text[:offset], '\n') + 1
	found := unfinished.FindSubmatchIndex(text[begin:offset])
	if found == nil || string(text[begin+found[4]:offset]) == "-" {
		return nil
	}
	w := &written{from: begin + found[4], value: found[2] >= 0, otherKeys: map[string]bool{}}
	word := placeholder + ":\n"
	if w.value {
		word = placeholder + "\n"
	}
	_, rest, _ := bytes.Cut(text[offset:], []byte("\n"))
	tree := position.ParseTolerant(slices.Concat(text[:w.from], []byte(word), rest))
	spot := tree.At(w.from)
	if spot.Node == nil || spot.Node.Value != placeholder || spot.Key == w.value {
		return nil
	}
	path := spot.Path
	if !w.value {
		path = path[:len(path)-1]
	}
	w.steps = stepsOf(path)
	if _, mapping := tree.Find(path); mapping != nil && !w.value {
		for _, key := range mapping.Keys {
			w.otherKeys[key.Value] = true
		}
	}
	return w
}

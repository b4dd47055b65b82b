package output

import (
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/crdedit"
)

// Sources are the texts of the CRDs that were measured.
type Sources struct {
	crds []*source
}

// source is a CRD as it stands in a file.
type source struct {
	file     string
	line     int // of the text's first
	text     []byte
	name     string
	versions []string
	edit     *crdedit.CRD
	doc      *position.Document
}

// ReadSources reads the files that have the CRDs. One that cannot be read any
// more is left out: then no more is known of its rules than what they say.
func ReadSources(files []string) *Sources {
	s := &Sources{}
	for i, name := range files {
		if slices.Contains(files[:i], name) {
			continue
		}
		data, err := input.ReadFile(name, input.MaxFile)
		if err != nil {
			continue
		}
		input.SplitText(name, data, func(c input.Chunk) bool {
			return c.Each(func(doc *input.Document) bool {
				s.add(doc)
				return true
			})
		})
	}
	return s
}

func (s *Sources) add(doc *input.Document) {
	text, line, inList := doc.Source()
	resource.Complete(doc)
	if text == nil || doc.Err != nil || doc.Object["kind"] != resource.Kind {
		return
	}
	edit, err := crdedit.Parse(text, inList, doc.Item)
	if err != nil {
		return
	}
	one := &source{file: doc.File, line: line, text: text, edit: edit}
	one.doc, _ = edit.Schema(crdedit.Place{})
	meta, _ := doc.Object["metadata"].(map[string]any)
	one.name, _ = meta["name"].(string)
	spec, _ := doc.Object["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		one.versions = append(one.versions, name)
	}
	s.crds = append(s.crds, one)
}

// schema is the node of a schema; nil where the text has none.
func (s *source) schema(version, path string) *position.Node {
	at := slices.Index(s.versions, version)
	steps, err := engine.ParsePath(path)
	if at < 0 || err != nil {
		return nil
	}
	_, node := s.edit.Schema(crdedit.Place{Version: at, Steps: steps})
	return node
}

// rule is the scalar of a rule's text; nil where the CRD has another one there.
func (s *source) rule(version, path string, index int, text string) *position.Node {
	node := s.schema(version, path)
	if node == nil {
		return nil
	}
	_, rules := node.Get("x-kubernetes-validations")
	if rules == nil {
		return nil
	}
	item := rules.Resolve().Item(index)
	if item == nil {
		return nil
	}
	_, rule := item.Get("rule")
	if rule == nil || rule.Resolve().Value != text {
		return nil
	}
	return rule.Resolve()
}

// find gives the first file that has a rule, and its place there.
func (s *Sources) find(crd, version, path string, index int, text string) (*source, *position.Node) {
	for _, one := range s.crds {
		if one.name == crd {
			if node := one.rule(version, path, index, text); node != nil {
				return one, node
			}
		}
	}
	return nil, nil
}

// lineOf is the line in the file.
func (s *source) lineOf(node *position.Node) int {
	return s.doc.Position(node.Start).Line + s.line - 1
}

// span is where a part of a rule, in code points, stands in the text; all of the
// scalar where that is not known.
func (s *source) span(node *position.Node, start, end int) (from, to int) {
	t, ok := s.doc.Text(node)
	if !ok {
		return node.Start, max(node.Start, node.End)
	}
	runes := []rune(node.Value)
	start, end = min(start, len(runes)), min(end, len(runes))
	return t.Source(len(string(runes[:start]))), t.Source(len(string(runes[:end])))
}

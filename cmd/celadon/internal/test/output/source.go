package output

import (
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/crdedit"
)

// Sources holds the source files of the measured CRDs.
type Sources struct {
	crds []*source
}

// source is a CRD in a file.
type source struct {
	file     string
	line     int // line of the file where text starts
	text     []byte
	name     string
	versions []string
	edit     *crdedit.CRD
	doc      *position.Document
}

// ReadSources reads the files that contain the CRDs. Files that can no longer be read are skipped.
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
	one.doc, _ = edit.Schema(crdedit.SchemaNode{})
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

// schema returns the node of the schema at path in a version, or nil if it is not in the source.
func (s *source) schema(version, path string) *position.Node {
	at := slices.Index(s.versions, version)
	steps, err := engine.ParsePath(path)
	if at < 0 || err != nil {
		return nil
	}
	_, node := s.edit.Schema(crdedit.SchemaNode{Version: at, Steps: steps})
	return node
}

// rule returns the scalar node of the rule text at index, or nil if the CRD has another rule there.
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

// find returns the first source that contains a rule, and the rule's node in it.
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

// lineOf returns the node's line in the file.
func (s *source) lineOf(node *position.Node) int {
	return s.doc.Position(node.Start).Line + s.line - 1
}

// span returns the range of the source that holds the code points start to end of the rule in node. If
// it is unknown, span returns the range of the whole scalar.
func (s *source) span(node *position.Node, start, end int) (from, to int) {
	t, ok := s.doc.Text(node)
	if !ok {
		return node.Start, max(node.Start, node.End)
	}
	runes := []rune(node.Value)
	start, end = min(start, len(runes)), min(end, len(runes))
	return t.Source(len(string(runes[:start]))), t.Source(len(string(runes[:end])))
}

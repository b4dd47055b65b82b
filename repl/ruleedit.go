package repl

import (
	"encoding/json"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/celadon-cel/celadon/engine"
)

const validations = "x-kubernetes-validations"

// ruleEdit is one change to the rules at one place of a CRD's text.
type ruleEdit struct {
	op      ruleOp
	version int // of spec.versions
	steps   []engine.Step
	index   int
	// field is a part of the rule: "rule", "message" and so on.
	field, value string
}

type ruleOp uint8

const (
	addRule ruleOp = iota
	dropRule
	setField
	dropField
)

// apply changes a document's text. What comes out reads as the document before
// but for the edit, or it is an error.
func (e ruleEdit) apply(doc Document) (Document, error) {
	t, err := parseYAML(doc.Text)
	if err != nil {
		return doc, err
	}
	path, err := e.path(t, doc)
	if err != nil {
		return doc, err
	}
	node, err := t.find(path...)
	if err != nil {
		return doc, err
	}
	change, err := e.splice(t, node)
	if err != nil {
		return doc, err
	}
	edited, err := doc.convert([]byte(change.in(t.text)))
	if err != nil {
		return doc, fmt.Errorf("the text cannot be edited here: %w", err)
	}
	return edited, e.verify(doc, edited, path)
}

func (e ruleEdit) splice(t *yamlText, node *yaml.Node) (splice, error) {
	if node.Kind != yaml.MappingNode {
		return splice{}, fmt.Errorf("line %d: the schema is no mapping", node.Line)
	}
	if e.op == addRule {
		return t.appendRule(node, validations, pair{key: "rule", value: e.value})
	}
	_, list, _ := get(node, validations)
	if list == nil || list.Kind != yaml.SequenceNode || e.index >= len(list.Content) {
		return splice{}, fmt.Errorf("line %d: %s cannot be edited as a list: edit it by hand", node.Line, validations)
	}
	rule := list.Content[e.index]
	switch {
	case e.op == dropRule && len(list.Content) == 1:
		return t.removePair(node, validations)
	case e.op == dropRule:
		return t.removeItem(list, e.index)
	case rule.Kind != yaml.MappingNode:
		return splice{}, fmt.Errorf("line %d: the rule is no mapping: edit it by hand", rule.Line)
	case e.op == dropField:
		return t.removePair(rule, e.field)
	}
	return t.setScalar(rule, pair{key: e.field, value: e.value, yes: e.decoded() == true})
}

// path leads from the document to the schema node.
func (e ruleEdit) path(t *yamlText, doc Document) ([]any, error) {
	var path []any
	if doc.InList {
		path = append(path, "items", doc.Item)
	}
	path = append(path, "spec", "versions", e.version, "schema", "openAPIV3Schema")
	for i, step := range e.steps {
		node, err := t.find(path...)
		if err != nil {
			return nil, err
		}
		below := schemaStep(node, step)
		if below == nil {
			return nil, fmt.Errorf("%s: the CRD does not declare it, so no rule can stand there", engine.FormatPath(e.steps[:i+1]))
		}
		path = append(path, below...)
	}
	return path, nil
}

func schemaStep(node *yaml.Node, step engine.Step) []any {
	if !step.Item && !step.Any {
		if _, properties, _ := get(node, "properties"); properties != nil {
			if _, v, _ := get(properties, step.Name); v != nil {
				return []any{"properties", step.Name}
			}
		}
	}
	if _, v, _ := get(node, "additionalProperties"); v != nil && !step.Item {
		return []any{"additionalProperties"}
	}
	if _, v, _ := get(node, "items"); v != nil {
		return []any{"items"}
	}
	return nil
}

// verify holds that the edited text says what the edit asked for, and nothing
// else.
func (e ruleEdit) verify(before, after Document, path []any) error {
	var was, is any
	if err := json.Unmarshal(before.JSON, &was); err != nil {
		return err
	}
	if err := json.Unmarshal(after.JSON, &is); err != nil {
		return err
	}
	if before.InList {
		path = path[2:]
	}
	e.do(descend(was, path))
	if !reflect.DeepEqual(was, is) {
		return fmt.Errorf("the text cannot be edited here without changing more than the rule: edit it by hand")
	}
	return nil
}

// descend is the schema node in the decoded document.
func descend(v any, path []any) map[string]any {
	for _, step := range path {
		switch at := v.(type) {
		case map[string]any:
			v = at[fmt.Sprint(step)]
		case []any:
			v = at[step.(int)]
		}
	}
	node, _ := v.(map[string]any)
	return node
}

// do makes the edit on a decoded schema node.
func (e ruleEdit) do(node map[string]any) {
	if node == nil {
		return
	}
	list, _ := node[validations].([]any)
	switch e.op {
	case addRule:
		node[validations] = append(list, map[string]any{"rule": e.value})
	case dropRule:
		if list = append(list[:e.index:e.index], list[e.index+1:]...); len(list) == 0 {
			delete(node, validations)
			return
		}
		node[validations] = list
	case setField:
		list[e.index].(map[string]any)[e.field] = e.decoded()
	case dropField:
		delete(list[e.index].(map[string]any), e.field)
	}
}

func (e ruleEdit) decoded() any {
	if e.field == "optionalOldSelf" {
		return true
	}
	return e.value
}

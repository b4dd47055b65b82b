// Package crdedit edits rules, bounds, list types, and keys in the text of a CRD. It does not change other bytes.
package crdedit

import (
	"fmt"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// CRD is a text that contains a CRD. It is immutable.
type CRD struct {
	doc  *position.Document
	root position.Path
}

// Parse parses a YAML document or JSON value. It is a CRD, or a List with the CRD at index item if inList is set.
func Parse(text []byte, inList bool, item int) (*CRD, error) {
	doc, err := position.Parse(text)
	if err != nil {
		return nil, err
	}
	return Of(doc, inList, item), nil
}

// Of is like Parse for a parsed document.
func Of(doc *position.Document, inList bool, item int) *CRD {
	c := &CRD{doc: doc}
	if inList {
		c.root = position.Path{position.Key("items"), position.Item(item)}
	}
	return c
}

// SchemaNode is a schema node. Version is the index in spec.versions, and Steps is the path of the
// node's values in objects.
type SchemaNode struct {
	Version int
	Steps   []engine.Step
}

const validations = "x-kubernetes-validations"

// AddRule appends a rule to the rules of a schema node.
func (c *CRD) AddRule(at SchemaNode, rule string) ([]byte, error) {
	return c.edit(at, func(list position.Path) position.Change {
		_, v := c.doc.Find(list)
		item := position.Map{{Key: "rule", Value: rule}}
		if v == nil || v.Kind == position.Scalar && v.Tag == "!!null" {
			return position.Set(list, []any{item})
		}
		return position.Insert(append(list, position.Item(len(v.Items))), item)
	})
}

// DropRule removes a rule. With the last rule, it also removes the list of rules.
func (c *CRD) DropRule(at SchemaNode, index int) ([]byte, error) {
	return c.edit(at, func(list position.Path) position.Change {
		if _, v := c.doc.Find(list); v == nil || len(v.Items) > 1 {
			list = append(list, position.Item(index))
		}
		return position.Remove(list)
	})
}

// SetPart sets a field of a rule, such as its message.
func (c *CRD) SetPart(at SchemaNode, index int, part string, value any) ([]byte, error) {
	return c.edit(at, func(list position.Path) position.Change {
		return position.Set(append(list, position.Item(index), position.Key(part)), value)
	})
}

// DropPart removes a field of a rule.
func (c *CRD) DropPart(at SchemaNode, index int, part string) ([]byte, error) {
	return c.edit(at, func(list position.Path) position.Change {
		return position.Remove(append(list, position.Item(index), position.Key(part)))
	})
}

func (c *CRD) edit(at SchemaNode, change func(list position.Path) position.Change) ([]byte, error) {
	list, err := c.rules(at)
	if err != nil {
		return nil, err
	}
	return c.doc.Edit(change(list))
}

// ReplaceByListType removes a rule and sets the type of a list: a map with the given keys, or a set if
// there are no keys.
func (c *CRD) ReplaceByListType(list SchemaNode, keys []string, rule SchemaNode, index int) ([]byte, error) {
	path, err := c.schema(list)
	if err != nil {
		return nil, err
	}
	text, err := c.DropRule(rule, index)
	set := func(key string, value any) { // one by one, because the changes can be at the same position
		var doc *position.Document
		if err == nil {
			doc, err = position.Parse(text)
		}
		if err == nil {
			text, err = doc.Edit(position.Set(append(path, position.Key(key)), value))
		}
	}
	if len(keys) == 0 {
		set("x-kubernetes-list-type", "set")
		return text, err
	}
	names := make([]any, len(keys))
	for i, key := range keys {
		names[i] = key
	}
	set("x-kubernetes-list-type", "map")
	set("x-kubernetes-list-map-keys", names)
	return text, err
}

// Text is a new expression for a rule.
type Text struct {
	At    SchemaNode
	Index int
	Rule  string
}

// Follow sets all bounds that a report on the CRD advises, and replaces the expressions of rules.
// It returns the new text and the number of bounds.
func (c *CRD) Follow(r *vet.Report, rules ...Text) (text []byte, n int, err error) {
	var changes []position.Change
	for _, t := range rules {
		list, err := c.rules(t.At)
		if err != nil {
			return nil, 0, err
		}
		changes = append(changes, position.Set(append(list, position.Item(t.Index), position.Key("rule")), t.Rule))
	}
	for i, v := range r.Versions {
		for _, a := range v.Advice {
			steps, err := engine.ParsePath(a.Path)
			if err != nil {
				return nil, 0, err
			}
			path, err := c.schema(SchemaNode{i, steps})
			if err != nil {
				return nil, 0, fmt.Errorf("version %s: %s: %w", v.Name, a.Path, err)
			}
			changes = append(changes, position.Set(append(path, position.Key(a.Set)), a.Value))
		}
	}
	text, err = c.doc.Edit(changes...)
	return text, len(changes) - len(rules), err
}

// CorrectKeys renames the unknown keys that have a known key. It returns the new text and the number of keys.
func (c *CRD) CorrectKeys(keys []vet.UnknownKey) (text []byte, n int, err error) {
	var changes []position.Change
	for _, key := range keys {
		steps, err := engine.ParsePath(key.Path)
		if err != nil {
			return nil, 0, err
		}
		path := c.root[:len(c.root):len(c.root)]
		for _, s := range steps {
			if s.Item {
				path = append(path, position.Item(s.Index))
			} else {
				path = append(path, position.Key(s.Name))
			}
		}
		if key.Known != "" {
			changes = append(changes, position.Rename(path, key.Known))
		}
	}
	text, err = c.doc.Edit(changes...)
	return text, len(changes), err
}

// Schema returns the node of a schema and its document. The node is nil if the CRD does not declare the schema.
func (c *CRD) Schema(at SchemaNode) (*position.Document, *position.Node) {
	path, err := c.schema(at)
	if err != nil {
		return c.doc, nil
	}
	_, node := c.doc.Find(path)
	return c.doc, node
}

// rules returns the path to the rules of a schema node. Like schema, it returns a slice without spare
// capacity, so appending to it copies.
func (c *CRD) rules(at SchemaNode) (position.Path, error) {
	path, err := c.schema(at)
	if err != nil {
		return nil, err
	}
	path = append(path, position.Key(validations))
	return path[:len(path):len(path)], nil
}

func (c *CRD) schema(at SchemaNode) (position.Path, error) {
	path := append(c.top(at.Version), position.Key("openAPIV3Schema"))
	_, node := c.doc.Find(path)
	for i, step := range at.Steps {
		if node == nil {
			break
		}
		below := stepBelow(node, step)
		if below == nil {
			return nil, fmt.Errorf("%s: the CRD does not declare this path, so it cannot have a rule", engine.FormatPath(at.Steps[:i+1]))
		}
		path = append(path, below...)
		_, node = c.doc.Find(path)
	}
	if node == nil {
		return nil, fmt.Errorf("%s is missing at the expected position in the file", path)
	}
	return path[:len(path):len(path)], nil
}

// top returns the path to the parent of a version's schema. A v1beta1 CRD can have one schema for all versions.
func (c *CRD) top(version int) position.Path {
	spec := append(c.root[:len(c.root):len(c.root)], position.Key("spec"))
	spec = spec[:len(spec):len(spec)]
	_, apiVersion := c.doc.Find(append(c.root[:len(c.root):len(c.root)], position.Key("apiVersion")))
	shared := append(spec, position.Key("validation"))
	if apiVersion != nil && apiVersion.Value == catalog.APIVersionBeta {
		if _, v := c.doc.Find(shared); v != nil {
			return shared
		}
	}
	return append(spec, position.Key("versions"), position.Item(version), position.Key("schema"))
}

func stepBelow(schema *position.Node, step engine.Step) position.Path {
	if !step.Item && !step.Any {
		if _, properties := schema.Get("properties"); properties != nil {
			if _, v := properties.Get(step.Name); v != nil {
				return position.Path{position.Key("properties"), position.Key(step.Name)}
			}
		}
	}
	if _, v := schema.Get("additionalProperties"); v != nil && !step.Item {
		return position.Path{position.Key("additionalProperties")}
	}
	if _, v := schema.Get("items"); v != nil {
		return position.Path{position.Key("items")}
	}
	return nil
}

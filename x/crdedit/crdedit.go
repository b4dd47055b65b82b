// Package crdedit changes the text of a CRD at a place in its schema: rules, and
// the bounds that make rules fit. Every other byte stays as it is.
package crdedit

import (
	"fmt"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// CRD is a text with a CRD in it. It is immutable.
type CRD struct {
	doc  *position.Document
	root position.Path
}

// Parse reads a YAML document or JSON value that is a CRD, or a List where inList
// is set, with the CRD at item.
func Parse(text []byte, inList bool, item int) (*CRD, error) {
	doc, err := position.Parse(text)
	if err != nil {
		return nil, err
	}
	return Of(doc, inList, item), nil
}

// Of is Parse of a text that is parsed.
func Of(doc *position.Document, inList bool, item int) *CRD {
	c := &CRD{doc: doc}
	if inList {
		c.root = position.Path{position.Key("items"), position.Item(item)}
	}
	return c
}

// Place is a place in a schema: Version is the position in spec.versions, Steps
// lead there in objects.
type Place struct {
	Version int
	Steps   []engine.Step
}

const validations = "x-kubernetes-validations"

// AddRule adds a rule behind those at a place.
func (c *CRD) AddRule(at Place, rule string) ([]byte, error) {
	list, err := c.rules(at)
	if err != nil {
		return nil, err
	}
	_, v := c.doc.Find(list)
	item := position.Map{{Key: "rule", Value: rule}}
	if v == nil || v.Kind == position.Scalar && v.Tag == "!!null" {
		return c.doc.Edit(position.Set(list, []any{item}))
	}
	return c.doc.Edit(position.Insert(append(list, position.Item(len(v.Items))), item))
}

// DropRule removes a rule, and with the last the list of rules.
func (c *CRD) DropRule(at Place, index int) ([]byte, error) {
	list, err := c.rules(at)
	if err != nil {
		return nil, err
	}
	if _, v := c.doc.Find(list); v == nil || len(v.Items) > 1 {
		list = append(list, position.Item(index))
	}
	return c.doc.Edit(position.Remove(list))
}

// SetPart gives a part of a rule, as its message, a value.
func (c *CRD) SetPart(at Place, index int, part string, value any) ([]byte, error) {
	list, err := c.rules(at)
	if err != nil {
		return nil, err
	}
	return c.doc.Edit(position.Set(append(list, position.Item(index), position.Key(part)), value))
}

// DropPart removes a part of a rule.
func (c *CRD) DropPart(at Place, index int, part string) ([]byte, error) {
	list, err := c.rules(at)
	if err != nil {
		return nil, err
	}
	return c.doc.Edit(position.Remove(append(list, position.Item(index), position.Key(part))))
}

// Text is another text for a rule.
type Text struct {
	At    Place
	Index int
	Rule  string
}

// Follow sets all bounds that a report on the CRD advises, and texts of rules; n is
// the number of bounds.
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
			path, err := c.schema(Place{i, steps})
			if err != nil {
				return nil, 0, fmt.Errorf("version %s: %s: %w", v.Name, a.Path, err)
			}
			changes = append(changes, position.Set(append(path, position.Key(a.Set)), a.Value))
		}
	}
	text, err = c.doc.Edit(changes...)
	return text, len(changes) - len(rules), err
}

// Schema is the node of a place's schema, in the document that it stands in; nil
// where there is none.
func (c *CRD) Schema(at Place) (*position.Document, *position.Node) {
	path, err := c.schema(at)
	if err != nil {
		return c.doc, nil
	}
	_, node := c.doc.Find(path)
	return c.doc, node
}

// rules is the path to the rules at a place. All paths here have room of their
// own behind them.
func (c *CRD) rules(at Place) (position.Path, error) {
	path, err := c.schema(at)
	if err != nil {
		return nil, err
	}
	path = append(path, position.Key(validations))
	return path[:len(path):len(path)], nil
}

// schema is the path to the schema of a place.
func (c *CRD) schema(at Place) (position.Path, error) {
	path := append(c.top(at.Version), position.Key("openAPIV3Schema"))
	_, node := c.doc.Find(path)
	for i, step := range at.Steps {
		if node == nil {
			break
		}
		below := stepBelow(node, step)
		if below == nil {
			return nil, fmt.Errorf("%s: the CRD does not declare it, so no rule can stand there", engine.FormatPath(at.Steps[:i+1]))
		}
		path = append(path, below...)
		_, node = c.doc.Find(path)
	}
	if node == nil {
		return nil, fmt.Errorf("the text has no %s where it should", path)
	}
	return path[:len(path):len(path)], nil
}

// top is the path to what holds the schema of a version; a CRD of v1beta1 may
// have one for all versions.
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

// stepBelow leads from a schema to that of what it holds; nil where there is none.
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

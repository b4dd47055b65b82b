package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine/x/structural"
)

type compiler struct {
	server   server
	types    map[string][]string
	patterns map[string]*pattern
	marked   bool
	// unsettled is set if preparing a default would change it again.
	unsettled bool
}

// s is nil for schemas that are not structural: under allOf, anyOf, oneOf, and not, and below the root of a schema
// that structural.Open cannot convert.
func (c *compiler) node(p *apiextensionsv1.JSONSchemaProps, s *structuralschema.Structural) (*node, error) {
	if err := supported(p); err != nil {
		return nil, err
	}
	n := &node{types: c.typesOf(p), nullable: p.Nullable, isArray: p.Type == "array"}
	if c.server.checksFormat(p.Format, n.types) {
		n.format = p.Format
	}
	for _, k := range allKinds {
		if _, _, bad := n.mistyped(k); !bad {
			n.accept |= k
		}
	}
	var err error
	if n.enum, err = newEnum(p.Enum); err != nil {
		return nil, err
	}
	n.text = c.text(n, p)
	n.number = newNumber(n, p, c.server.has(numberRanges))
	properties, err := c.children(n, p, s)
	if err != nil {
		return nil, err
	}
	n.array = newArray(n, p)
	n.object = newObject(n, p, properties)
	if n.logic, err = c.logic(p); err != nil {
		return nil, err
	}
	n.structure(s, properties)
	c.unsettled = c.unsettled || !n.settled()
	n.free = n.accept == ^kinds(0) && n.enum == nil && n.text == nil && n.number == nil && n.array == nil && n.object == nil && n.logic == nil
	return n, nil
}

// CRDs cannot use these features, and no check implements them.
func supported(p *apiextensionsv1.JSONSchemaProps) error {
	switch {
	case p.Ref != nil && *p.Ref != "":
		return errors.New("$ref is not supported")
	case len(p.PatternProperties) > 0:
		return errors.New("patternProperties is not supported")
	case len(p.Dependencies) > 0:
		return errors.New("dependencies is not supported")
	case p.AdditionalItems != nil:
		return errors.New("additionalItems is not supported")
	case p.Items != nil && len(p.Items.JSONSchemas) > 0:
		return errors.New("items: want one schema, not a list")
	}
	return nil
}

func (c *compiler) typesOf(p *apiextensionsv1.JSONSchemaProps) []string {
	names := p.Type
	if p.XIntOrString {
		names = "integer,string"
	}
	if names == "" {
		return nil
	}
	if c.types[names] == nil {
		c.types[names] = strings.Split(names, ",")
	}
	return c.types[names]
}

func (n *node) typeNames() string { return strings.Join(n.types, ",") }

func (c *compiler) children(n *node, p *apiextensionsv1.JSONSchemaProps, s *structuralschema.Structural) (properties []named, err error) {
	if s == nil {
		s = &structuralschema.Structural{}
	}
	if n.properties, properties, err = c.properties(p.Properties, s.Properties); err != nil {
		return nil, err
	}
	if p.Items != nil && p.Items.Schema != nil {
		if n.items, err = c.node(p.Items.Schema, s.Items); err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
	}
	n.hasAdditional = p.AdditionalProperties != nil
	if n.hasAdditional && p.AdditionalProperties.Schema != nil {
		var below *structuralschema.Structural
		if s.AdditionalProperties != nil {
			below = s.AdditionalProperties.Structural
		}
		if n.additional, err = c.node(p.AdditionalProperties.Schema, below); err != nil {
			return nil, fmt.Errorf("additionalProperties: %w", err)
		}
	}
	return properties, nil
}

func (c *compiler) properties(props map[string]apiextensionsv1.JSONSchemaProps, structurals map[string]structuralschema.Structural) (map[string]*node, []named, error) {
	if len(props) == 0 {
		return nil, nil, nil
	}
	nodes := make(map[string]*node, len(props))
	properties := make([]named, 0, len(props))
	var p apiextensionsv1.JSONSchemaProps
	var own structuralschema.Structural
	for name := range props {
		properties = append(properties, named{name: name})
	}
	slices.SortFunc(properties, func(a, b named) int { return strings.Compare(a.name, b.name) })
	for i, property := range properties {
		var s *structuralschema.Structural
		var ok bool
		if own, ok = structurals[property.name]; ok {
			s = &own
		}
		p = props[property.name]
		n, err := c.node(&p, s)
		if err != nil {
			return nil, nil, fmt.Errorf("properties[%s]: %w", property.name, err)
		}
		properties[i].node, nodes[property.name] = n, n
		c.marked = c.marked || strings.HasPrefix(property.name, mark)
	}
	return nodes, properties, nil
}

func (n *node) structure(s *structuralschema.Structural, properties []named) {
	if s == nil {
		return
	}
	n.preserve, n.embedded = s.XPreserveUnknownFields, s.XEmbeddedResource
	if s.Default.Object != nil {
		n.standard = runtime.DeepCopyJSONValue(s.Default.Object)
		structural.Default(n.standard, s)
	}
	if s.XListType != nil {
		switch *s.XListType {
		case "set":
			n.listType = setList
		case "map":
			n.listType, n.listMap = mapList, append([]string{}, s.XListMapKeys...)
		}
	}
	n.lists, n.embeds = n.listType != atomicList, n.embedded
	for _, p := range properties {
		n.adopt(p.node)
		if p.node.standard != nil {
			n.defaults = append(n.defaults, p)
		}
		if p.node.lists {
			n.listed = append(n.listed, p)
		}
	}
	n.adopt(n.items)
	n.adopt(n.additional)
}

func (n *node) settled() bool {
	p := preparer{Preparation: Preparation{Prune: true, Default: true}}
	if n.standard == nil {
		return true
	}
	_, changed := p.value(n.standard, n, n.mode(dropUnknown), &errorPath{})
	return !changed
}

func (n *node) adopt(child *node) {
	if child != nil {
		n.lists = n.lists || child.lists
		n.embeds = n.embeds || child.embeds
	}
}

type logic struct {
	anyOf, oneOf, allOf []*node
	not                 *node
}

func (c *compiler) logic(p *apiextensionsv1.JSONSchemaProps) (_ *logic, err error) {
	l := &logic{}
	for _, part := range []struct {
		name string
		to   *[]*node
		from []apiextensionsv1.JSONSchemaProps
	}{{"anyOf", &l.anyOf, p.AnyOf}, {"oneOf", &l.oneOf, p.OneOf}, {"allOf", &l.allOf, p.AllOf}} {
		for i := range part.from {
			n, err := c.node(&part.from[i], nil)
			if err != nil {
				return nil, fmt.Errorf("%s[%d]: %w", part.name, i, err)
			}
			*part.to = append(*part.to, n)
		}
	}
	if p.Not != nil {
		if l.not, err = c.node(p.Not, nil); err != nil {
			return nil, fmt.Errorf("not: %w", err)
		}
	}
	if len(l.anyOf)+len(l.oneOf)+len(l.allOf) == 0 && l.not == nil {
		return nil, nil
	}
	return l, nil
}

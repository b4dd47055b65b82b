package vet

import (
	"maps"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/types"
)

type stepKind uint8

const (
	atRoot stepKind = iota
	atProperty
	atItems
	atValues // additionalProperties
)

// A branch is a schema node with rules at or below it. The tree has no other nodes.
type branch struct {
	parent   *branch
	kind     stepKind
	name     string // of a property
	props    *apiextensions.JSONSchemaProps
	children []*branch // items, then values, then properties by name
	// inScope is set if this node or an ancestor has rules.
	inScope bool

	pathText   string
	pathSteps  []engine.Step
	scope      *scope
	scopeErr   error
	structural *schema.Structural
}

type scope struct {
	node *schema.Structural
	decl *types.Decl // nil if hidden
}

// treeOf returns the tree of the rules on the structural spine of a schema, or nil if it has no rules. misplaced is
// set if there are rules where the API server does not allow them, such as inside a junctor or at the root's
// metadata.
func treeOf(s *apiextensions.JSONSchemaProps) (tree *branch, misplaced bool) {
	nodes := 0
	if tree = newBranch(s, atRoot, "", &nodes); tree != nil {
		tree.link(nil)
	}
	validation.SchemaHas(s, func(s *apiextensions.JSONSchemaProps) bool {
		if len(s.XValidations) > 0 {
			nodes--
		}
		return false
	})
	return tree, nodes != 0 || len(s.Properties["metadata"].XValidations) > 0
}

func (b *branch) stripped() *apiextensions.JSONSchemaProps {
	s := *b.props
	s.XValidations, s.Properties = nil, maps.Clone(s.Properties)
	for _, child := range b.children {
		switch below := child.stripped(); child.kind {
		case atItems:
			s.Items = &apiextensions.JSONSchemaPropsOrArray{Schema: below, JSONSchemas: s.Items.JSONSchemas}
		case atValues:
			s.AdditionalProperties = &apiextensions.JSONSchemaPropsOrBool{Allows: s.AdditionalProperties.Allows, Schema: below}
		default:
			s.Properties[child.name] = *below
		}
	}
	return &s
}

// newBranch adds the number of nodes with rules to nodes.
func newBranch(s *apiextensions.JSONSchemaProps, kind stepKind, name string, nodes *int) *branch {
	var children []*branch
	add := func(s *apiextensions.JSONSchemaProps, kind stepKind, name string) bool {
		child := newBranch(s, kind, name, nodes)
		if child != nil {
			children = append(children, child)
		}
		return child != nil
	}
	if s.Items != nil && s.Items.Schema != nil {
		add(s.Items.Schema, atItems, "")
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		add(s.AdditionalProperties.Schema, atValues, "")
	}
	prop := new(apiextensions.JSONSchemaProps) // reused, because the tree needs no property without rules
	for _, name := range sortedKeys(s.Properties) {
		if *prop = s.Properties[name]; add(prop, atProperty, name) {
			prop = new(apiextensions.JSONSchemaProps)
		}
	}
	switch {
	case len(s.XValidations) > 0:
		*nodes++
	case children == nil:
		return nil
	}
	return &branch{kind: kind, name: name, props: s, children: children}
}

func (b *branch) link(parent *branch) {
	b.parent = parent
	b.inScope = len(b.props.XValidations) > 0 || parent != nil && parent.inScope
	for _, c := range b.children {
		c.link(b)
	}
}

// below returns b's path in the CRD; parent is the path of its parent.
func (b *branch) below(parent *field.Path) *field.Path {
	switch b.kind {
	case atItems:
		return parent.Child("items")
	case atValues:
		return parent.Child("additionalProperties")
	case atProperty:
		return parent.Child("properties").Key(b.name)
	}
	return parent
}

// The result is, for example, "spec.hosts[*]"; "" is the root.
func (b *branch) objectPath() string {
	if b.pathText == "" && b.parent != nil {
		b.pathText = engine.FormatPath(b.steps())
	}
	return b.pathText
}

func (b *branch) steps() []engine.Step {
	if b.parent == nil || b.pathSteps != nil {
		return b.pathSteps
	}
	step := engine.Step{Any: true}
	if b.kind == atProperty {
		step = engine.Step{Name: b.name}
	}
	above := b.parent.steps()
	b.pathSteps = append(above[:len(above):len(above)], step)
	return b.pathSteps
}

// c is the cardinality of b.
func (b *branch) cardinality(c cost.Cardinality) cost.Cardinality {
	switch s := b.props; s.Type {
	case "object":
		if s.AdditionalProperties != nil {
			return c.Map(b.objectPath(), s.MaxProperties)
		}
	case "array":
		return c.List(b.objectPath(), s.MaxItems)
	}
	return c
}

// correlates reports whether the server can find an old value for the child's value.
func (b *branch) correlates(child *branch) bool {
	switch child.kind {
	case atProperty:
		return structural.MapIsCorrelatable(b.props.XMapType)
	case atItems:
		return b.props.XListType != nil && *b.props.XListType == "map"
	}
	return true
}

func (b *branch) structuralNode() (node *schema.Structural, err error) {
	if b.structural == nil {
		b.structural, err = schema.NewStructural(b.props)
	}
	return b.structural, err
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

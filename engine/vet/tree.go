package vet

import (
	"cmp"
	"maps"
	"slices"
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

// stepKind is how a schema node is reached from its parent.
type stepKind uint8

const (
	atRoot stepKind = iota
	atProperty
	atItems
	atValues // additionalProperties
)

// branch is a schema node with rules at or below it. The tree has no other nodes.
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

// scope is the schema and declaration with which a node's rules are compiled.
type scope struct {
	node *schema.Structural
	decl *types.Decl // nil if hidden
}

// strip returns a copy of a schema without the rules on its structural spine, and the tree of these
// rules. It does not modify s. ok is false if there are rules where the API server does not allow
// them: inside a junctor, or at the root's metadata.
func strip(s *apiextensions.JSONSchemaProps) (stripped *apiextensions.JSONSchemaProps, tree *branch, ok bool) {
	st := stripper{ok: true}
	stripped, tree = st.node(s, atRoot, "")
	if tree != nil {
		tree.link(nil)
	}
	return stripped, tree, st.ok
}

type stripper struct {
	ok   bool
	rest apiextensions.JSONSchemaProps // scratch memory of junctorRules
}

func (st *stripper) node(s *apiextensions.JSONSchemaProps, kind stepKind, name string) (*apiextensions.JSONSchemaProps, *branch) {
	if st.junctorRules(s) || kind == atRoot && len(s.Properties["metadata"].XValidations) > 0 {
		st.ok = false
	}
	var children []*branch
	out := s
	edit := func() *apiextensions.JSONSchemaProps {
		if out == s {
			c := *s
			out = &c
		}
		return out
	}
	if s.Items != nil && s.Items.Schema != nil {
		if sub, b := st.node(s.Items.Schema, atItems, ""); b != nil {
			edit().Items = &apiextensions.JSONSchemaPropsOrArray{Schema: sub, JSONSchemas: s.Items.JSONSchemas}
			children = append(children, b)
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		if sub, b := st.node(s.AdditionalProperties.Schema, atValues, ""); b != nil {
			edit().AdditionalProperties = &apiextensions.JSONSchemaPropsOrBool{Allows: s.AdditionalProperties.Allows, Schema: sub}
			children = append(children, b)
		}
	}
	first := len(children)
	var spare *apiextensions.JSONSchemaProps // reused, because a property without rules needs no copy
	for name, prop := range s.Properties {
		if spare == nil {
			spare = new(apiextensions.JSONSchemaProps)
		}
		*spare = prop
		sub, b := st.node(spare, atProperty, name)
		if b == nil {
			continue
		}
		spare = nil
		if len(children) == first {
			edit().Properties = maps.Clone(s.Properties)
		}
		out.Properties[name] = *sub
		children = append(children, b)
	}
	slices.SortFunc(children[first:], func(a, b *branch) int { return cmp.Compare(a.name, b.name) })
	if len(s.XValidations) > 0 {
		edit().XValidations = nil
	}
	if out == s {
		return s, nil
	}
	return out, &branch{kind: kind, name: name, props: s, children: children}
}

// junctorRules reports whether s has rules below a keyword where a structural schema cannot have
// them.
func (st *stripper) junctorRules(s *apiextensions.JSONSchemaProps) bool {
	c := &st.rest
	*c = *s
	c.XValidations, c.Properties, c.AdditionalProperties = nil, nil, nil
	if s.Items != nil {
		c.Items = &apiextensions.JSONSchemaPropsOrArray{JSONSchemas: s.Items.JSONSchemas}
	}
	return validation.SchemaHas(c, func(s *apiextensions.JSONSchemaProps) bool { return len(s.XValidations) > 0 })
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

// objectPath returns the node's path in an object, such as "spec.hosts[*]"; "" is the root.
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

// cardinality returns the cardinality of b's children; c is the cardinality of b.
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

package vet

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/types"
)

// stepKind is how a schema node hangs below its parent.
type stepKind uint8

const (
	atRoot stepKind = iota
	atProperty
	atItems
	atValues // additionalProperties
)

// branch is a schema node with rules on it or below it; nodes without any are
// left out of the tree.
type branch struct {
	parent *branch
	kind   stepKind
	name   string // of a property
	props  *apiextensions.JSONSchemaProps
	// source is the node as it is written, where props is the node alone.
	source *apiextensionsv1.JSONSchemaProps
	// words are, at a root that has a source, all that rules can name.
	words    map[string]bool
	children []*branch // items, then values, then properties by name
	// inScope is true when rules stand here or above.
	inScope bool

	placeText  string
	placeSteps []engine.Step
	scope      *scope
	scopeErr   error
	structural *schema.Structural
}

// scope is what the rules of a node compile with.
type scope struct {
	node *schema.Structural
	decl *types.Decl // nil: hidden
}

// strip returns a schema without the rules on its structural spine, and the
// tree of these rules; s is not changed. ok is false where rules stand in
// places that can have none: under a junctor, or on the root's metadata.
func strip(s *apiextensions.JSONSchemaProps) (stripped *apiextensions.JSONSchemaProps, tree *branch, ok bool) {
	st := stripper{ok: true}
	stripped, tree = st.node(s, atRoot, "")
	if tree != nil {
		tree.link(nil)
	}
	return stripped, tree, st.ok
}

type stripper struct{ ok bool }

func (st *stripper) node(s *apiextensions.JSONSchemaProps, kind stepKind, name string) (*apiextensions.JSONSchemaProps, *branch) {
	if junctorRules(s) || kind == atRoot && len(s.Properties["metadata"].XValidations) > 0 {
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
	var spare *apiextensions.JSONSchemaProps // of a property without rules: used again
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

// junctorRules is true when rules stand below a node where the schema is not
// structural with them.
func junctorRules(s *apiextensions.JSONSchemaProps) bool {
	if s.Not != nil && anyRules(s.Not) {
		return true
	}
	for _, list := range [][]apiextensions.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range list {
			if anyRules(&list[i]) {
				return true
			}
		}
	}
	for _, m := range []map[string]apiextensions.JSONSchemaProps{s.Definitions, s.PatternProperties} {
		for _, sub := range m {
			if anyRules(&sub) {
				return true
			}
		}
	}
	for _, d := range s.Dependencies {
		if d.Schema != nil && anyRules(d.Schema) {
			return true
		}
	}
	if s.AdditionalItems != nil && s.AdditionalItems.Schema != nil && anyRules(s.AdditionalItems.Schema) {
		return true
	}
	if s.Items != nil {
		for i := range s.Items.JSONSchemas {
			if anyRules(&s.Items.JSONSchemas[i]) {
				return true
			}
		}
	}
	return false
}

func anyRules(s *apiextensions.JSONSchemaProps) bool {
	if s == nil {
		return false
	}
	if len(s.XValidations) > 0 || junctorRules(s) {
		return true
	}
	if s.Items != nil && anyRules(s.Items.Schema) {
		return true
	}
	if s.AdditionalProperties != nil && anyRules(s.AdditionalProperties.Schema) {
		return true
	}
	for _, sub := range s.Properties {
		if anyRules(&sub) {
			return true
		}
	}
	return false
}

// link gives branches their parents.
func (b *branch) link(parent *branch) {
	b.parent = parent
	b.inScope = len(b.props.XValidations) > 0 || parent != nil && parent.inScope
	for _, c := range b.children {
		c.link(b)
	}
}

// below is the child's path in the CRD.
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

// place is the node's place in an object: "spec.hosts[*]"; "" is the root.
func (b *branch) place() string {
	if b.placeText == "" && b.parent != nil {
		b.placeText = engine.FormatPath(b.steps())
	}
	return b.placeText
}

func (b *branch) steps() []engine.Step {
	if b.parent == nil || b.placeSteps != nil {
		return b.placeSteps
	}
	step := engine.Step{Any: true}
	if b.kind == atProperty {
		step = engine.Step{Name: b.name}
	}
	above := b.parent.steps()
	b.placeSteps = append(above[:len(above):len(above)], step)
	return b.placeSteps
}

// cardinality is how often the children of b can occur, when b can c.
func (b *branch) cardinality(c cost.Cardinality) cost.Cardinality {
	switch s := b.props; s.Type {
	case "object":
		if s.AdditionalProperties != nil {
			return c.Map(b.place(), s.MaxProperties)
		}
	case "array":
		return c.List(b.place(), s.MaxItems)
	}
	return c
}

// correlates is true when an old value can be found for the child's value.
func (b *branch) correlates(child *branch) bool {
	switch child.kind {
	case atProperty:
		return upstreamcel.MapIsCorrelatable(b.props.XMapType)
	case atItems:
		return b.props.XListType != nil && *b.props.XListType == "map"
	}
	return true
}

// structuralNode is the node as a structural schema.
func (b *branch) structuralNode() (*schema.Structural, error) {
	if b.structural != nil {
		return b.structural, nil
	}
	var err error
	if b.source != nil {
		b.structural, err = structural.Node(b.source)
	} else {
		b.structural, err = schema.NewStructural(b.props)
	}
	return b.structural, err
}

// declaredNode is the node as far as expressions can name its parts.
func (b *branch) declaredNode() (*schema.Structural, error) {
	if b.source == nil {
		return b.structuralNode()
	}
	root := b
	for root.parent != nil {
		root = root.parent
	}
	return structural.Seen(b.source, func(name string) bool {
		if root.words[name] {
			return false
		}
		ident, ok := types.Escape(name)
		return !ok || ident == name // others can be written in several ways
	})
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

package vet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"

	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/types"
)

// Most of a schema is plain: the server's function has no errors to report for it or because of it.
// That function is slow, and so is the conversion to its input type. It therefore first gets the
// CRD without the plain parts. If it finds no errors there, the whole CRD is valid. Otherwise it
// validates the whole CRD, to produce the error messages.
//
// Without it, celadon check of a folder of CRDs takes 1.5 to 2 times the processor time (cluster-api 1.6, argo-workflows
// 1.8 to 1.9, hypershift-capi-providers 1.5 to 1.7), and celadon vet, which also explains costs, 1.0 to 1.3 times. Measured in
// November 2026 as the ratio of the median user times of 7 to 15 alternating runs.

// props is a schema as decoded.
type props = apiextensionsv1.JSONSchemaProps

// reducedCRD holds the parts of a CRD that are not plain, and its rules.
type reducedCRD struct {
	// rest is the CRD without its plain parts. It shares memory with the CRD.
	rest *apiextensionsv1.CustomResourceDefinition
	// moved is set if the conversion moves the schema that all versions share to the top.
	moved bool
	// trees holds the rules of each schema, nil for a schema without rules. They are needed only with
	// VerdictOnly.
	trees []*branch
}

// maxKeys limits x-kubernetes-list-map-keys in a reduced schema, because keys are looked up linearly.
const maxKeys = 32

// reduce returns nil if the CRD preserves unknown fields, because its content then determines
// whether the schema must be structural; if the server's functions might take too long (see
// overworked); or if a schema with rules cannot be converted.
func reduce(crd *apiextensionsv1.CustomResourceDefinition, v types.Version, trees bool) *reducedCRD {
	if crd.Spec.PreserveUnknownFields {
		return nil
	}
	h := &reducedCRD{rest: shallow(crd), moved: sameSchemas(crd)}
	r := reducer{patterns: patterns{}, minor: v.Minor, trees: trees}
	for i := range crd.Spec.Versions {
		if h.moved && i > 0 {
			h.rest.Spec.Versions[i].Schema = h.rest.Spec.Versions[0].Schema
			continue
		}
		schema := crd.Spec.Versions[i].Schema
		if schema == nil || schema.OpenAPIV3Schema == nil {
			continue
		}
		r.work = quickWork(r.patterns)
		p := r.node(schema.OpenAPIV3Schema, metadataFields)
		if r.work.over != nil || r.failed {
			return nil
		}
		if p.tree != nil {
			p.tree.link(nil)
			p.tree.words = wordsOf(p.tree)
		}
		h.trees = append(h.trees, p.tree)
		if p.rest == nil {
			p.rest = r.outer(schema.OpenAPIV3Schema, metadataFields)
		}
		rest := *p.rest
		if !h.moved { // the versions must stay different
			rest.Description = fmt.Sprint(i)
		}
		h.rest.Spec.Versions[i].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &rest}
	}
	return h
}

// shallow returns a copy whose versions can get other schemas.
func shallow(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	c := *crd
	c.Spec.Versions = slices.Clone(crd.Spec.Versions)
	return &c
}

// sound validates the reduced CRD with the server's function. It returns the CRD in the internal
// version, or nil if the function finds an error or panics; the whole CRD must then be validated.
func (h *reducedCRD) sound(ctx context.Context, v types.Version) (rest *apiextensions.CustomResourceDefinition) {
	crd, err := internal(h.rest)
	if err != nil {
		return nil
	}
	if (crd.Spec.Validation != nil) != h.moved {
		return nil // the whole might be elsewhere
	}
	prepareCreate(crd)
	for _, u := range units(&crd.Spec) {
		if u.whole {
			return nil // errors of these rules depend on plain parts, too
		}
		if u.adapt(v); u.given() != u.root {
			u.setSchema(&crd.Spec, u.given())
		}
	}
	if !findsNothing(ctx, crd) {
		return nil
	}
	return crd
}

// findsNothing reports whether the server's function returns no error and does not panic.
func findsNothing(ctx context.Context, crd *apiextensions.CustomResourceDefinition) bool {
	defer func() { _ = recover() }() // only upstream's function can panic here
	return len(validation.ValidateCustomResourceDefinition(ctx, crd)) == 0
}

// reducer removes the plain parts of schemas.
type reducer struct {
	patterns patterns
	minor    int
	work     *patternWork
	spare    []*props
	trees    bool // collect the rules, too
	failed   bool // a node could not be converted or has too many keys
}

// metadataFields are the fields that the server checks in an object with a kind.
var metadataFields = []string{"apiVersion", "kind", "metadata"}

// part is the result of reducing a schema.
type part struct {
	// plain is set if no error is possible in the schema or below it.
	plain bool
	// rest is the reduced schema, if the schema is not plain: without plain properties, except
	// pinned properties.
	rest *props
	// tree holds the rules, or is nil without rules. It points into the schema.
	tree *branch
	// perByte is the result of patternWork.node.
	perByte float64
}

// node reduces a schema. Properties named in pinned are kept.
func (r *reducer) node(s *props, pinned []string) part {
	if len(s.XListMapKeys) > maxKeys {
		r.failed = true
		return part{}
	}
	p := part{perByte: r.work.pattern("", s)}
	if p.plain = r.plainItself(s); !p.plain {
		p.perByte += r.work.otherSchemas("", s)
	}
	var items, values *props
	var kept map[string]props
	var children, ruled []*branch
	if s.Items != nil && s.Items.Schema != nil {
		sub := r.node(s.Items.Schema, s.XListMapKeys)
		children, items = p.with(children, sub, atItems, ""), sub.rest
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		sub := r.node(s.AdditionalProperties.Schema, nil)
		children, values = p.with(children, sub, atValues, ""), sub.rest
	}
	if len(s.Properties) > 0 {
		kept, ruled = r.properties(&p, s, pinned)
		children = append(children, ruled...)
	}
	switch {
	case s.XEmbeddedResource || s.Default != nil && len(s.Properties) > 0:
		p.rest, p.plain = s, false // its properties cannot be checked separately
	case !p.plain:
		p.rest = r.without(s, items, values, kept)
	}
	if r.trees && (len(children) > 0 || len(s.XValidations) > 0) {
		p.tree = r.branch(s, children)
	}
	r.work.matched("", s, p.perByte)
	return p
}

// without returns s with its children replaced by their reduced forms; nil represents a plain child.
func (r *reducer) without(s, items, values *props, kept map[string]props) *props {
	c := *s
	if s.Default == nil && s.Pattern != "" && r.patterns.measure(s.Pattern).valid {
		c.Pattern = "" // only defaults are matched with it
	}
	if len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) == 0 && s.Not == nil && s.Default == nil {
		if s.Items != nil && s.Items.Schema != nil {
			if items == nil {
				items = r.outer(s.Items.Schema, s.XListMapKeys)
			}
			c.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: items, JSONSchemas: s.Items.JSONSchemas}
		}
		if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
			if values == nil {
				values = r.outer(s.AdditionalProperties.Schema, nil)
			}
			c.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: s.AdditionalProperties.Allows, Schema: values}
		}
	}
	if len(s.Properties) > 0 && s.AdditionalProperties == nil { // a schema can have only one of the two
		c.Properties = r.withMentioned(s, kept)
	}
	return &c
}

// outer returns a plain schema without its properties, except pinned properties.
func (r *reducer) outer(s *props, pinned []string) *props {
	var kept map[string]props
	for _, name := range pinned {
		if prop, ok := s.Properties[name]; ok {
			if kept == nil {
				kept = map[string]props{}
			}
			kept[name] = prop
		}
	}
	return r.without(s, nil, nil, kept)
}

// with adds the result for a child and appends its rules to children.
func (p *part) with(children []*branch, sub part, kind stepKind, name string) []*branch {
	p.plain = p.plain && sub.plain
	p.perByte += sub.perByte
	if sub.tree == nil {
		return children
	}
	sub.tree.kind, sub.tree.name = kind, name
	return append(children, sub.tree)
}

func (r *reducer) branch(s *props, children []*branch) *branch {
	alone, err := structural.Alone(s)
	if err != nil {
		r.failed = true
	}
	return &branch{props: alone, source: s, children: children}
}

// wordsOf returns all identifiers in the expressions of a tree, and the names of its nodes.
func wordsOf(b *branch) map[string]bool {
	// The declaration of a resource's root depends on whether it has all of these
	// (model.WithTypeAndObjectMeta).
	words := map[string]bool{"kind": true, "apiVersion": true, "metadata": true, "name": true, "generateName": true}
	var visit func(*branch)
	visit = func(b *branch) {
		words[b.name] = true
		for i := range b.props.XValidations {
			for _, text := range []string{b.props.XValidations[i].Rule, b.props.XValidations[i].MessageExpression} {
				for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return !isWord(c) }) {
					words[word] = true
				}
			}
		}
		for _, child := range b.children {
			visit(child)
		}
	}
	visit(b)
	return words
}

func isWord(c rune) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// properties reduces the properties of s. It returns those that are not plain or are pinned, and
// the rules of all; it updates p, the result for s.
func (r *reducer) properties(p *part, s *props, pinned []string) (kept map[string]props, ruled []*branch) {
	for name, prop := range s.Properties {
		isPinned := slices.Contains(pinned, name)
		if isLeaf(&prop) && !isPinned { // fast path for most properties
			perByte := r.work.pattern("", &prop)
			if r.plainItself(&prop) {
				p.perByte += perByte
				continue
			}
		}
		one := r.scratch()
		*one = prop
		sub := r.node(one, nil)
		ruled = p.with(ruled, sub, atProperty, name)
		if isPinned {
			sub.rest = one
		}
		if sub.rest != nil {
			if kept == nil {
				kept = map[string]props{}
			}
			kept[name] = *sub.rest
		}
		if sub.tree == nil { // a tree would keep a pointer to it
			r.spare = append(r.spare, one)
		}
	}
	slices.SortFunc(ruled, func(a, b *branch) int { return cmp.Compare(a.name, b.name) })
	return kept, ruled
}

// scratch returns a schema that can be overwritten.
func (r *reducer) scratch() *props {
	last := len(r.spare) - 1
	if last < 0 {
		return new(props)
	}
	buffer := r.spare[last]
	r.spare = r.spare[:last]
	return buffer
}

// isLeaf reports whether a schema has no children, default, or rules.
func isLeaf(s *props) bool {
	return s.Properties == nil && s.Items == nil && s.AdditionalProperties == nil && s.Default == nil && s.XValidations == nil
}

// withMentioned adds the properties that the junctors of s mention, because a structural schema
// must also declare them outside of junctors. A property is added unreduced if a junctor also
// restricts its children.
func (r *reducer) withMentioned(s *props, kept map[string]props) map[string]props {
	var junctor func(*props)
	of := func(s *props) {
		for _, list := range [][]props{s.AllOf, s.AnyOf, s.OneOf} {
			for i := range list {
				junctor(&list[i])
			}
		}
		if s.Not != nil {
			junctor(s.Not)
		}
	}
	junctor = func(sub *props) {
		for name, inner := range sub.Properties {
			prop, ok := s.Properties[name]
			if !ok {
				continue
			}
			if kept == nil {
				kept = map[string]props{}
			}
			if speaksOfParts(&inner) {
				kept[name] = prop
			} else if _, ok := kept[name]; !ok {
				kept[name] = *r.outer(&prop, nil)
			}
		}
		of(sub)
	}
	of(s)
	return kept
}

// speaksOfParts reports whether a schema in a junctor restricts more than the value itself.
func speaksOfParts(s *props) bool {
	return s.Properties != nil || s.Items != nil || s.AdditionalProperties != nil || len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > 0 || s.Not != nil
}

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
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/types"
)

// Most of a schema is plain: nothing that the server's function could say of it,
// and it says nothing of any other part because of it. That function takes long,
// and so does the conversion to what it reads, so it is first given the CRD without
// what is plain. When it finds nothing there, it would find nothing at all; else it
// is asked for its words with the whole.
//
// Without it, celadon check of a folder of CRDs takes 1.5 to 2 times the processor time (cluster-api 1.6, argo-workflows
// 1.8 to 1.9, hypershift-capi-providers 1.5 to 1.7), and celadon vet, which also explains costs, 1.0 to 1.3 times. Measured in
// November 2026 as the ratio of the median user times of 7 to 15 alternating runs.

// props is a schema as it is written.
type props = apiextensionsv1.JSONSchemaProps

// halves are what is not plain of a CRD, and its rules.
type halves struct {
	// rest is a CRD that shares parts with the whole, without what is plain.
	rest *apiextensionsv1.CustomResourceDefinition
	// moved: the conversion moves the one schema of all versions to the top.
	moved bool
	// trees are the rules of each schema, nil where it has none; they are only for a
	// verdict alone.
	trees []*branch
}

// maxKeys is how many keys a list of a reduced schema can have: they are looked for
// one by one.
const maxKeys = 32

// reduce is nil where what a schema must be depends on what is in it, where the
// server's functions might take too long (overworked says whether they do), and
// where a schema with rules cannot be converted.
func reduce(crd *apiextensionsv1.CustomResourceDefinition, v types.Version, trees bool) *halves {
	if crd.Spec.PreserveUnknownFields {
		return nil
	}
	h := &halves{rest: shallow(crd), moved: sameSchemas(crd)}
	r := reducer{patterns: patterns{}, formats: map[format]bool{}, version: formatVersion(v), trees: trees}
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
		if !h.moved { // nor must these be the same
			rest.Description = fmt.Sprint(i)
		}
		h.rest.Spec.Versions[i].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &rest}
	}
	return h
}

// shallow is a copy whose versions can be given other schemas.
func shallow(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	c := *crd
	c.Spec.Versions = slices.Clone(crd.Spec.Versions)
	return &c
}

// sound asks the server's function about what is not plain. It gives that as the
// server sees it, or nil where the function finds anything or panics: it is then
// asked about the whole.
func (h *halves) sound(ctx context.Context) (rest *apiextensions.CustomResourceDefinition) {
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
			return nil // what a rule says depends on what is plain, too
		}
		if u.tree != nil {
			u.place(&crd.Spec, u.stripped)
		}
	}
	if !findsNothing(ctx, crd) {
		return nil
	}
	return crd
}

// findsNothing asks the server's function, which may panic.
func findsNothing(ctx context.Context, crd *apiextensions.CustomResourceDefinition) bool {
	defer func() { _ = recover() }() // nothing but upstream's function is below
	return len(validation.ValidateCustomResourceDefinition(ctx, crd)) == 0
}

// reducer takes out of schemas what is plain.
type reducer struct {
	patterns patterns
	formats  map[format]bool // those that the server knows
	version  *version.Version
	work     *patternWork
	spare    []*props
	trees    bool // rules are wanted, too
	failed   bool // to convert something, or to look at that many keys
}

type format struct{ name, of string }

// metadataFields are what the server looks at in an object with a kind.
var metadataFields = []string{"apiVersion", "kind", "metadata"}

// part is what is left of a schema.
type part struct {
	// plain: nothing could be said of the schema, or of any below it.
	plain bool
	// rest is what is left of one that is not: the schema without the properties that
	// are plain, but for the pinned ones.
	rest *props
	// tree are the rules, nil where there are none; it points to the schema.
	tree *branch
	// perByte is as patternWork.node gives it.
	perByte float64
}

// node takes a schema apart.
func (r *reducer) node(s *props, pinned []string) part {
	if len(s.XListMapKeys) > maxKeys {
		r.failed = true
		return part{}
	}
	p := part{perByte: r.work.pattern("", s)}
	if p.plain = r.plainItself(s); !p.plain {
		p.perByte += r.work.beside("", s)
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
		p.rest, p.plain = s, false // its properties are not looked at one by one
	case !p.plain:
		p.rest = r.without(s, items, values, kept)
	}
	if r.trees && (len(children) > 0 || len(s.XValidations) > 0) {
		p.tree = r.branch(s, children)
	}
	r.work.matched("", s, p.perByte)
	return p
}

// without is a schema with what is left of those below it: nil of what is plain.
func (r *reducer) without(s, items, values *props, kept map[string]props) *props {
	c := *s
	if s.Default == nil && s.Pattern != "" && r.patterns.measure(s.Pattern).valid {
		c.Pattern = "" // which nothing but a default is held to
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
	if len(s.Properties) > 0 && s.AdditionalProperties == nil { // of which there may be only one
		c.Properties = r.withMentioned(s, kept)
	}
	return &c
}

// outer is a plain schema without the properties, but for the pinned ones.
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

// with adds a part below, and its rules to the children.
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

// wordsOf are all that can be names in the expressions of a tree, and the names of
// its nodes.
func wordsOf(b *branch) map[string]bool {
	// A resource's root is declared by whether it has all of these (model.WithTypeAndObjectMeta).
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

// properties are those that are not plain, with the pinned ones, and the rules of
// all; p is the part that they are of.
func (r *reducer) properties(p *part, s *props, pinned []string) (kept map[string]props, ruled []*branch) {
	for name, prop := range s.Properties {
		isPinned := slices.Contains(pinned, name)
		if isLeaf(&prop) && !isPinned { // as most are
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
		if sub.tree == nil { // which would have it
			r.spare = append(r.spare, one)
		}
	}
	slices.SortFunc(ruled, func(a, b *branch) int { return cmp.Compare(a.name, b.name) })
	return kept, ruled
}

// scratch is a schema's, to be written over.
func (r *reducer) scratch() *props {
	last := len(r.spare) - 1
	if last < 0 {
		return new(props)
	}
	room := r.spare[last]
	r.spare = r.spare[:last]
	return room
}

// isLeaf is true of a schema without others below it, a default, or rules.
func isLeaf(s *props) bool {
	return s.Properties == nil && s.Items == nil && s.AdditionalProperties == nil && s.Default == nil && s.XValidations == nil
}

// withMentioned adds what the junctors of a schema speak of, which must be outside of
// them as well: whole where they speak of what is in it.
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

// speaksOfParts is true of a schema in a junctor that is of more than the value itself.
func speaksOfParts(s *props) bool {
	return s.Properties != nil || s.Items != nil || s.AdditionalProperties != nil || len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > 0 || s.Not != nil
}

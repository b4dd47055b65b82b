// Package brokencrd breaks CRDs, for tests that compare Celadon's verdict on a CRD with the API
// server's. It removes bounds, changes types, breaks rules, messages, and defaults, and adds rules
// where they are not allowed.
//
//	m := brokencrd.Of(crd, 7)
//	// m.CRD is a changed copy, m.Changes names the changes
package brokencrd

import (
	"maps"
	"math/rand/v2"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// A Mutant is a changed copy of a CRD.
type Mutant struct {
	CRD *apiextensionsv1.CustomResourceDefinition
	// Changes holds the names of the changes.
	Changes []string
}

// Of makes up to three changes to a copy of crd. The result depends only on crd and seed.
func Of(crd *apiextensionsv1.CustomResourceDefinition, seed uint64) *Mutant {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 20)), crd: crd.DeepCopy()}
	out := &Mutant{CRD: m.crd}
	for n, tries := 1+m.IntN(3), 0; len(out.Changes) < n && tries < 50; tries++ {
		if c := changes[m.IntN(len(changes))]; c.apply(m) {
			out.Changes = append(out.Changes, c.name)
		}
	}
	return out
}

// Changes returns the names of all changes.
func Changes() []string {
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.name
	}
	return names
}

type (
	schemaProps = apiextensionsv1.JSONSchemaProps
	aRule       = apiextensionsv1.ValidationRule
)

// EachSchema calls f for the root of each schema, and for the nodes that are reached through items,
// additionalProperties, and properties. Properties are visited by name. f may modify the node.
func EachSchema(crd *apiextensionsv1.CustomResourceDefinition, f func(*apiextensionsv1.JSONSchemaProps)) {
	for i := range crd.Spec.Versions {
		if s := crd.Spec.Versions[i].Schema; s != nil {
			eachNode(s.OpenAPIV3Schema, f)
		}
	}
}

func eachNode(s *schemaProps, f func(*schemaProps)) {
	if s == nil {
		return
	}
	f(s)
	if s.Items != nil {
		eachNode(s.Items.Schema, f)
	}
	if s.AdditionalProperties != nil {
		eachNode(s.AdditionalProperties.Schema, f)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		prop := s.Properties[name]
		eachNode(&prop, f)
		s.Properties[name] = prop
	}
}

type maker struct {
	*rand.Rand
	crd *apiextensionsv1.CustomResourceDefinition
}

func pick[T any](m *maker, list ...T) T { return list[m.IntN(len(list))] }

func (m *maker) schema() *schemaProps {
	v := m.crd.Spec.Versions[m.IntN(len(m.crd.Spec.Versions))]
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return &schemaProps{}
	}
	return v.Schema.OpenAPIV3Schema
}

// change reports whether the version has a node for which fits returns true.
func (m *maker) change(fits func(*schemaProps) bool, edit func(*schemaProps)) bool {
	s, n := m.schema(), 0
	eachNode(s, func(s *schemaProps) {
		if fits(s) {
			n++
		}
	})
	if n == 0 {
		return false
	}
	at := m.IntN(n)
	eachNode(s, func(s *schemaProps) {
		if fits(s) {
			if at == 0 {
				edit(s)
			}
			at--
		}
	})
	return true
}

func anyNode(*schemaProps) bool    { return true }
func hasRules(s *schemaProps) bool { return len(s.XValidations) > 0 }
func list(s *schemaProps) bool {
	return s.Type == "array" && s.Items != nil && s.Items.Schema != nil
}
func object(s *schemaProps) bool { return len(s.Properties) > 0 }
func scalar(s *schemaProps) bool {
	return s.Type == "string" || s.Type == "integer"
}
func bounded(s *schemaProps) bool {
	return s.MaxItems != nil || s.MaxLength != nil || s.MaxProperties != nil
}

// rule reports whether the version that it chose has a rule.
func (m *maker) rule(edit func(*aRule)) bool {
	return m.change(hasRules, func(s *schemaProps) {
		s.XValidations = append(apiextensionsv1.ValidationRules(nil), s.XValidations...)
		edit(&s.XValidations[m.IntN(len(s.XValidations))])
	})
}

// add adds a rule to a node. fits and the result are as for change.
func (m *maker) add(fits func(*schemaProps) bool, rule aRule) bool {
	return m.change(fits, func(s *schemaProps) { s.XValidations = append(s.XValidations, rule) })
}

func unbound(s *schemaProps) {
	s.MaxItems, s.MaxLength, s.MaxProperties = nil, nil, nil
}

func raw(text string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(text)} }

func ptr[T any](v T) *T { return &v }

package mutation

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
)

// schemaProps is a schema as a CRD has it.
type schemaProps = apiextensionsv1.JSONSchemaProps

// change is what a mutant changes: a rule, or a node of a schema. It is made in
// all versions that have the same.
type change struct {
	// node edits a node of the schema; nil where a rule is changed.
	node func(*schemaProps)
	// spec stands in the rule's place; nil: nothing does.
	spec *apiextensionsv1.ValidationRule
	// targets are the engines that have what is changed.
	targets []target
}

// target is what a mutant changes in one version of one suite's CRD.
type target struct {
	suite   *baseline
	version string
	ref     *engine.RuleRef // nil for a change of the schema
}

// Apply gives a copy of a CRD with the mutant's change, in the version that it
// names; it shares what is not changed. The CRD must be one that the mutant was
// made of.
func (m *Mutant) Apply(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	return m.change.apply(crd, m.Version, m.Path, m.Index)
}

func (c *change) apply(crd *apiextensionsv1.CustomResourceDefinition, version, path string, index int) *apiextensionsv1.CustomResourceDefinition {
	out := *crd
	out.Spec.Versions = slices.Clone(crd.Spec.Versions)
	steps, err := engine.ParsePath(path)
	if err != nil {
		return &out
	}
	for i := range out.Spec.Versions {
		v := &out.Spec.Versions[i]
		if v.Name != version || v.Schema == nil {
			continue
		}
		schema := *v.Schema
		schema.OpenAPIV3Schema = withNode(schema.OpenAPIV3Schema, steps, func(s *schemaProps) { c.edit(s, index) })
		v.Schema = &schema
	}
	return &out
}

// edit changes one node, which is a copy.
func (c *change) edit(s *schemaProps, index int) {
	switch {
	case c.node != nil:
		c.node(s)
	case index >= len(s.XValidations):
	case c.spec == nil:
		s.XValidations = slices.Delete(slices.Clone(s.XValidations), index, index+1)
	default:
		s.XValidations = slices.Clone(s.XValidations)
		s.XValidations[index] = *c.spec
	}
}

// withNode is a schema with one node changed.
func withNode(s *schemaProps, steps []engine.Step, edit func(*schemaProps)) *schemaProps {
	if s == nil {
		return nil
	}
	out := *s
	if len(steps) == 0 {
		edit(&out)
		return &out
	}
	step, rest := steps[0], steps[1:]
	switch {
	case !step.Any:
		sub := s.Properties[step.Name]
		out.Properties = maps.Clone(s.Properties)
		out.Properties[step.Name] = *withNode(&sub, rest, edit)
	case s.Items != nil:
		out.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: withNode(s.Items.Schema, rest, edit)}
	case s.AdditionalProperties != nil:
		out.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: s.AdditionalProperties.Allows, Schema: withNode(s.AdditionalProperties.Schema, rest, edit)}
	}
	return &out
}

// eachNode visits the spine of a schema, properties by name.
func eachNode(s *schemaProps, steps []engine.Step, visit func([]engine.Step, *schemaProps)) {
	if s == nil {
		return
	}
	visit(steps, s)
	below := func(sub *schemaProps, step engine.Step) {
		eachNode(sub, append(slices.Clip(steps), step), visit)
	}
	if s.Items != nil {
		below(s.Items.Schema, engine.Step{Any: true})
	}
	if s.AdditionalProperties != nil {
		below(s.AdditionalProperties.Schema, engine.Step{Any: true})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		sub := s.Properties[name]
		below(&sub, engine.Step{Name: name})
	}
}

package mutation

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/crdcopy"
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
	if steps, err := engine.ParsePath(path); err == nil {
		crd, _ = crdcopy.With(crd, version, steps, func(s *schemaProps) { c.edit(s, index) })
	}
	return crd
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

package mutation

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// schemaProps is a schema as in a CRD.
type schemaProps = apiextensionsv1.JSONSchemaProps

// change is the change of a mutant: in a rule or in a schema node. It applies to all versions with
// an equal rule or node.
type change struct {
	// node edits a schema node; nil if a rule is changed.
	node func(*schemaProps)
	// spec replaces the rule; nil removes it.
	spec *apiextensionsv1.ValidationRule
	// targets are the engines with the rule or node.
	targets []target
}

// target is a version of a suite's CRD that the mutant changes.
type target struct {
	suite   *baseline
	version string
	ref     *engine.RuleRef // nil if the schema is changed
}

// Apply returns a copy of crd with the change in m.Version. The copy shares unchanged parts with
// crd. The mutant must have been generated from crd.
func (m *Mutant) Apply(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	return m.change.apply(crd, m.Version, m.Path, m.Index)
}

func (c *change) apply(crd *apiextensionsv1.CustomResourceDefinition, version, path string, index int) *apiextensionsv1.CustomResourceDefinition {
	if steps, err := engine.ParsePath(path); err == nil {
		crd, _ = crdcopy.With(crd, version, steps, func(s *schemaProps) { c.edit(s, index) })
	}
	return crd
}

// edit changes s, a copy of the node.
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

// eachNode visits the structural nodes of a schema, properties by name.
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

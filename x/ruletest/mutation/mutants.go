package mutation

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/access"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// key identifies equal changes. Variants of a CRD, for example with feature gates, share their
// equal parts, and so do versions with equal schemas, and suites with the same policy.
type key struct{ policy, crd, version, path, was, is, operator string }

type mutantGenerator struct {
	known map[key]*Mutant
	all   []*Mutant
	cut   int
	// first is the first version with the schema of the current version. versions holds all such
	// first versions by CRD.
	first    string
	versions map[string][]*apiextensionsv1.CustomResourceDefinitionVersion
}

// version returns the first version of a CRD, in any suite, with the same name or an equal schema.
func (b *mutantGenerator) version(crd string, v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	for _, known := range b.versions[crd] {
		if known.Name == v.Name || reflect.DeepEqual(known.Schema, v.Schema) {
			return known.Name
		}
	}
	b.versions[crd] = append(b.versions[crd], v)
	return v.Name
}

func (b *mutantGenerator) suite(s *baseline, rulesOnly bool) error {
	env, err := access.Env(s.Engine.Info().Config)
	if err != nil {
		return err
	}
	scope, err := env.Scope()
	if err != nil {
		return err
	}
	for i := range s.CRD.Spec.Versions {
		v := &s.CRD.Spec.Versions[i]
		b.first = b.version(s.CRD.Name, v)
		if !v.Served {
			continue // it cannot be tested
		}
		for _, ref := range s.Engine.Rules(v.Name) {
			b.rule(s, scope, ref)
		}
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil && !rulesOnly {
			b.schema(s, v.Name, v.Schema.OpenAPIV3Schema, nil)
		}
	}
	return nil
}

func (b *mutantGenerator) rule(s *baseline, scope *celenv.Scope, ref *engine.RuleRef) {
	spec := specOf(s.CRD, ref)
	node, err := s.Engine.At(ref.Version, ref.Path)
	if spec == nil || err != nil {
		return
	}
	at := target{suite: s, version: ref.Version, ref: ref}
	b.add(at, &Mutant{Rule: ref.Rule, Operator: opRemoved}, nil)
	if spec.FieldPath != "" {
		changed := *spec
		changed.FieldPath = ""
		b.add(at, &Mutant{Rule: "fieldPath: " + spec.FieldPath, Operator: opFieldPath}, &changed)
	}
	checked, err := scope.Compile(node.Decl, ref.OptionalOldSelf, ref.Rule)
	if err != nil {
		return // the rule does not compile or is too complex, so it cannot be tested
	}
	found, more := edits(checked, ref.Rule)
	if more {
		b.cut++
	}
	for _, e := range found {
		changed := *spec
		changed.Rule = e.apply(ref.Rule)
		b.add(at, &Mutant{Rule: ref.Rule, Changed: changed.Rule, Start: e.start, End: e.end, Operator: e.operator}, &changed)
	}
}

func (b *mutantGenerator) add(at target, m *Mutant, spec *apiextensionsv1.ValidationRule) {
	m.Path, m.Index, m.change.spec = at.ref.Path, at.ref.Index, spec
	b.putChange(at, m, at.ref.Rule)
}

func (b *mutantGenerator) putChange(at target, m *Mutant, was string) {
	m.CRD, m.Version = at.suite.CRD.Name, b.first
	b.put(key{"", m.CRD, m.Version, m.Path, was, m.Changed, m.Operator}, at, m)
}

func (b *mutantGenerator) put(k key, at target, m *Mutant) {
	known := b.known[k]
	if known == nil {
		known = m
		b.known[k] = m
		b.all = append(b.all, m)
	}
	if !slices.Contains(known.change.targets, at) {
		known.change.targets = append(known.change.targets, at)
	}
}

// The server itself validates metadata, so schema skips it.
func (b *mutantGenerator) schema(s *baseline, version string, node *schemaProps, steps []engine.Step) {
	if len(steps) > 0 && steps[0].Name == "metadata" {
		return
	}
	for _, l := range loosenings(node) {
		m := &Mutant{Path: engine.FormatPath(steps), Index: -1, Rule: l.was, Changed: l.is, Operator: l.operator}
		m.change.node = l.edit
		b.putChange(target{suite: s, version: version}, m, l.was)
	}
	for step, below := range crdcopy.Children(node) {
		b.schema(s, version, below, append(slices.Clip(steps), step))
	}
}

func specOf(crd *apiextensionsv1.CustomResourceDefinition, ref *engine.RuleRef) *apiextensionsv1.ValidationRule {
	steps, err := engine.ParsePath(ref.Path)
	if err != nil {
		return nil
	}
	s := crdcopy.At(schemaOf(crd, ref.Version), steps...)
	if s == nil || ref.Index >= len(s.XValidations) || s.XValidations[ref.Index].Rule != ref.Rule {
		return nil
	}
	return &s.XValidations[ref.Index]
}

// aboutChange reports whether the mutant removes all uses of oldSelf, which changes when the rule
// runs.
func aboutChange(m *Mutant) bool {
	return strings.Contains(m.Rule, types.OldSelf) && !strings.Contains(m.Changed, types.OldSelf)
}

// String describes the mutant.
func (m *Mutant) String() string {
	at := fmt.Sprintf("%s %s: %s: %s: ", m.CRD, m.Version, cmp.Or(m.Path, "schema root"), m.Operator)
	switch {
	case m.Policy != "":
		return fmt.Sprintf("policy %s: %s: %s: `%s` instead of `%s`", m.Policy, m.Path, m.Operator, m.change.expression.Source, m.Rule)
	case m.Changed == "":
		return fmt.Sprintf("%swithout `%s`", at, m.Rule)
	}
	return fmt.Sprintf("%s`%s` instead of `%s`", at, m.Changed, m.Rule)
}

type schemaProps = apiextensionsv1.JSONSchemaProps

// A change applies to all targets with an equal rule, node, or expression.
type change struct {
	node func(*schemaProps)
	// spec replaces the rule; nil removes it.
	spec       *apiextensionsv1.ValidationRule
	expression policy.Expression
	targets    []target
}

type target struct {
	suite    *baseline
	version  string
	ref      *engine.RuleRef // nil if the schema is changed
	policies *PolicySuite    // instead of suite
}

// Apply returns a copy of crd with the change of a mutant of a CRD in m.Version. The copy shares
// unchanged parts with crd. The mutant must have been generated from crd.
func (m *Mutant) Apply(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	return m.apply(crd, m.Version)
}

func (m *Mutant) apply(crd *apiextensionsv1.CustomResourceDefinition, version string) *apiextensionsv1.CustomResourceDefinition {
	if steps, err := engine.ParsePath(m.Path); err == nil {
		crd, _ = crdcopy.With(crd, version, steps, m.edit)
	}
	return crd
}

// edit changes s, a copy of the node.
func (m *Mutant) edit(s *schemaProps) {
	switch {
	case m.change.node != nil:
		m.change.node(s)
	case m.Index >= len(s.XValidations):
	case m.change.spec == nil:
		s.XValidations = slices.Delete(slices.Clone(s.XValidations), m.Index, m.Index+1)
	default:
		s.XValidations = slices.Clone(s.XValidations)
		s.XValidations[m.Index] = *m.change.spec
	}
}

package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/conformance/fuzz"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/brokencrd"
)

// writesPerScenario is the number of writes for each generated CRD. A CRD takes the server longer to
// serve than its writes.
const writesPerScenario = 8

// Scenarios returns generated CRDs with generated writes, as a group per seed, for Sweep. It omits
// seeds whose schema no CRD can have. Rules call the functions of a library.
func Scenarios(library *fuzz.Library, first, n uint64) []*Group {
	var out []*Group
	for seed := first; seed < first+n; seed++ {
		w := fuzz.NewScenario(seed, library)
		if w == nil {
			continue
		}
		g := &Group{CRD: &CRD{Path: fmt.Sprintf("scenario-%d", seed), Definition: w.Definition()}}
		for i, write := range w.Writes(writesPerScenario) {
			g.Cases = append(g.Cases, &Case{
				ID: fmt.Sprintf("%d/%d", seed, i), Project: "scenarios", CRD: g.CRD,
				Version: write.Version, OldVersion: write.OldVersion, Subresource: write.Subresource, FieldValidation: write.FieldValidation,
				Object: decoded(write.Object), OldObject: decoded(write.Old),
			})
		}
		out = append(out, g)
	}
	return out
}

// BreakRules makes randomly chosen rules of every eighth CRD invalid, at most one per version. The
// server rejects such a CRD, but serves it if it is already stored.
func BreakRules(groups []*Group, seed uint64) {
	for i, g := range groups {
		if i%8 != 3 {
			continue
		}
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		for _, v := range g.CRD.Definition.Spec.Versions {
			breakRule(v.Schema.OpenAPIV3Schema, rng)
		}
	}
}

// WithoutRules removes all rules, so that most writes depend on schemas only.
func WithoutRules(groups []*Group) {
	for _, g := range groups {
		brokencrd.EachSchema(g.CRD.Definition, func(s *apiextensionsv1.JSONSchemaProps) { s.XValidations = nil })
	}
}

func breakRule(s *apiextensionsv1.JSONSchemaProps, rng *rand.Rand) bool {
	if n := len(s.XValidations); n > 0 && rng.IntN(3) > 0 {
		rule := &s.XValidations[rng.IntN(n)]
		switch rng.IntN(6) {
		case 0:
			rule.MessageExpression = "nope + 1"
		case 1:
			rule.FieldPath = ".nope.nope"
		default:
			rule.Rule = []string{"self.nope(", "1 + 'a' == 2", "nope == self", "oldSelf.nope() == 1"}[rng.IntN(4)]
		}
		return true
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		if breakRule(&p, rng) {
			s.Properties[name] = p
			return true
		}
	}
	if s.Items != nil && s.Items.Schema != nil && breakRule(s.Items.Schema, rng) {
		return true
	}
	return s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil && breakRule(s.AdditionalProperties.Schema, rng)
}

// decoded returns a generated object as a server decodes it; for example, 1e18 is an integer.
func decoded(object map[string]any) map[string]any {
	if object == nil {
		return nil
	}
	data, err := json.Marshal(object)
	if err != nil {
		panic(err) // object consists of JSON types
	}
	if object, err = engine.Decode(data); err != nil {
		panic(err)
	}
	return object
}

package prove

import (
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

// refuted is a question, and an object that shows what nobody may prove: that the
// rule asked about, the last, is a cause, or that it is one where instead is not.
type refuted struct {
	fields string
	rules  []string
	object string // the spec
	old    string // the spec that it replaces; "" is none
	what   Outcome
	// instead is asked to be equal to the rule.
	instead string
	// next are the fields of another version, which the last rule is of.
	next string
}

// TestRefuted asks the engine and the prover: the engine shows the object, and no
// proof says that there is none.
func TestRefuted(t *testing.T) {
	t.Parallel()
	for name, c := range refutations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.hold(t)
		})
	}
}

func (c *refuted) hold(t *testing.T) {
	t.Helper()
	last := len(c.rules) - 1
	asked := &claim{rule: place2{"spec", last}, failed: c.what == Failed}
	ref := engine.RuleRef{Path: "spec", Index: last}
	var proof *Proof
	var err error
	engines := []*engine.Engine{engineOf(t, version(t, spec(c.fields, c.rules...)))}
	switch {
	case c.next != "":
		ref.Index, asked.rule.index = 0, 0
		next := version(t, spec(c.next, c.rules[last]))
		engines = []*engine.Engine{engineOf(t, version(t, spec(c.fields, c.rules[:last]...))), engineOf(t, next)}
		proof, err = prover(t, spec(c.fields, c.rules[:last]...)).Passes(prover(t, spec(c.next, c.rules[last])), ref)
	case c.instead != "":
		asked.instead = &place2{"spec", last + 1}
		engines[0] = engineOf(t, version(t, spec(c.fields, append(slices.Clone(c.rules), c.instead)...)))
		proof, err = prover(t, spec(c.fields, c.rules...)).Equal(ref, apiextensionsv1.ValidationRule{Rule: c.instead})
	default:
		proof, err = prover(t, spec(c.fields, c.rules...)).Never(ref, c.what)
	}
	if err != nil {
		t.Fatal(err)
	}
	var res *engine.Result
	for i, e := range engines {
		req := engine.Request{Object: objectOf(t, c.object)}
		if c.old != "" {
			req.OldObject = objectOf(t, c.old)
		}
		if res, err = e.Validate(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if i < len(engines)-1 && !res.Allowed {
			t.Fatalf("the old version refuses the object: %v", res.Causes)
		}
	}
	b := brokenOf(res)
	if !b.contradicts(asked) {
		t.Fatalf("the object shows nothing: %v", res.Causes)
	}
	if proof != nil {
		if asked.siblings = proof.Siblings; c.next != "" || b.contradicts(asked) {
			t.Errorf("proved (%v), and here is an object: %s, old %s: %v", proof, c.object, c.old, res.Causes)
		}
	}
}

func engineOf(t testing.TB, v *apiextensionsv1.CustomResourceDefinitionVersion) *engine.Engine {
	t.Helper()
	v.Served, v.Storage = true, true
	e, err := engine.Compile(&apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "as.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.ClusterScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "as", Kind: "A", Singular: "a", ListKind: "AList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{*v},
		},
	}, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func objectOf(t testing.TB, spec string) map[string]any {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte("apiVersion: example.com/v1\nkind: A\nmetadata: {name: a}\nspec: " + spec))
	if err != nil {
		t.Fatal(err)
	}
	obj, err := engine.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

var refutations = map[string]refuted{
	// Whole numbers are compared with the whole part of a bound.
	"a fractional minimum":           {fields: "i: {type: number, minimum: 0.5}", rules: []string{"!has(self.i) || self.i >= 0.5"}, object: "{i: 0}"},
	"a fractional maximum":           {fields: "i: {type: number, maximum: -0.5}", rules: []string{"!has(self.i) || self.i <= -0.5"}, object: "{i: 0}"},
	"an exclusive fractional bound":  {fields: "i: {type: number, not: {minimum: -0.5, exclusiveMinimum: true}}", rules: []string{"!has(self.i) || self.i <= -0.5"}, object: "{i: 0}"},
	"a fractional minimum in allOf":  {fields: "i: {type: integer, allOf: [{minimum: 0.5}]}", rules: []string{"!has(self.i) || self.i >= 1"}, object: "{i: 0}"},
	"a fractional maximum in anyOf":  {fields: "i: {type: integer, anyOf: [{maximum: -0.5}]}", rules: []string{"!has(self.i) || self.i < 0"}, object: "{i: 0}"},
	"a minimum beyond whole numbers": {fields: "i: {type: integer, allOf: [{minimum: 1.0e+19}]}", rules: []string{"!has(self.i)"}, object: "{i: 1}"},
	"a minimum that floats blur":     {fields: "i: {type: number, maximum: 9007199254740996, exclusiveMaximum: true}", rules: []string{"!has(self.i) || self.i < 9007199254740996.0"}, object: "{i: 9007199254740995}"},
	// A format that no number has fails on each.
	"a format of texts on a number": {fields: "i: {type: integer, not: {format: date}}", rules: []string{"!has(self.i)"}, object: "{i: 1}"},
	"a format of texts on a map":    {fields: "i: {type: object, additionalProperties: {type: string}, not: {format: date}}", rules: []string{"!has(self.i)"}, object: "{i: {}}"},
	"one of two formats":            {fields: "i: {type: integer, oneOf: [{format: date}, {minimum: 0}]}", rules: []string{"!has(self.i) || self.i < 0"}, object: "{i: 1}"},
	// Names quote the constants in them.
	"an index that reads as two": {fields: "m: {type: object, additionalProperties: {type: object, nullable: true, additionalProperties: {type: string}}}", rules: []string{"self.m['x']['y'] == 'a'"}, instead: "self.m['x][string y'].size() == 1", object: "{}"},
}

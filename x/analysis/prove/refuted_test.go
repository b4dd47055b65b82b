package prove

import (
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

// refuted is a question with a counterexample: an object for which the last rule is a cause or, if
// instead is set, is a cause while instead is not.
type refuted struct {
	fields  string
	rules   []string
	object  string // the spec
	old     string // the spec that it replaces, or ""
	what    Outcome
	instead string
	// next holds the fields of another version, to which the last rule belongs.
	next string
}

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
	target := &claim{rule: place2{"spec", last}, failed: c.what == Failed}
	ref := engine.RuleRef{Path: "spec", Index: last}
	var proof *Proof
	var err error
	engines := []*engine.Engine{engineOf(t, version(t, spec(c.fields, c.rules...)))}
	switch {
	case c.next != "":
		ref.Index, target.rule.index = 0, 0
		next := version(t, spec(c.next, c.rules[last]))
		engines = []*engine.Engine{engineOf(t, version(t, spec(c.fields, c.rules[:last]...))), engineOf(t, next)}
		proof, err = prover(t, spec(c.fields, c.rules[:last]...)).Passes(prover(t, spec(c.next, c.rules[last])), ref)
	case c.instead != "":
		target.instead = &place2{"spec", last + 1}
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
	if !b.contradicts(target) {
		t.Fatalf("the object shows nothing: %v", res.Causes)
	}
	if proof != nil {
		if target.siblings = proof.Siblings; c.next != "" || b.contradicts(target) {
			t.Errorf("proved (%v), and here is an object: %s, old %s: %v", proof, c.object, c.old, res.Causes)
		}
	}
}

func engineOf(t testing.TB, v *apiextensionsv1.CustomResourceDefinitionVersion) *engine.Engine {
	t.Helper()
	e, err := engine.Compile(crdOf(v), engine.Config{})
	if e == nil {
		t.Fatal(err)
	}
	return e
}

func crdOf(v *apiextensionsv1.CustomResourceDefinitionVersion) *apiextensionsv1.CustomResourceDefinition {
	v.Served, v.Storage = true, true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "as.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.ClusterScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "as", Kind: "A", Singular: "a", ListKind: "AList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{*v},
		},
	}
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
	// Integers are compared with the integer part of a bound.
	"a fractional minimum":           {fields: "i: {type: number, minimum: 0.5}", rules: []string{"!has(self.i) || self.i >= 0.5"}, object: "{i: 0}"},
	"a fractional maximum":           {fields: "i: {type: number, maximum: -0.5}", rules: []string{"!has(self.i) || self.i <= -0.5"}, object: "{i: 0}"},
	"an exclusive fractional bound":  {fields: "i: {type: number, not: {minimum: -0.5, exclusiveMinimum: true}}", rules: []string{"!has(self.i) || self.i <= -0.5"}, object: "{i: 0}"},
	"a fractional minimum in allOf":  {fields: "i: {type: integer, allOf: [{minimum: 0.5}]}", rules: []string{"!has(self.i) || self.i >= 1"}, object: "{i: 0}"},
	"a fractional maximum in anyOf":  {fields: "i: {type: integer, anyOf: [{maximum: -0.5}]}", rules: []string{"!has(self.i) || self.i < 0"}, object: "{i: 0}"},
	"a minimum beyond whole numbers": {fields: "i: {type: integer, allOf: [{minimum: 1.0e+19}]}", rules: []string{"!has(self.i)"}, object: "{i: 1}"},
	"a minimum that floats blur":     {fields: "i: {type: number, maximum: 9007199254740996, exclusiveMaximum: true}", rules: []string{"!has(self.i) || self.i < 9007199254740996.0"}, object: "{i: 9007199254740995}"},
	// A number never satisfies a string format.
	"a format of texts on a number": {fields: "i: {type: integer, not: {format: date}}", rules: []string{"!has(self.i)"}, object: "{i: 1}"},
	"a format of texts on a map":    {fields: "i: {type: object, additionalProperties: {type: string}, not: {format: date}}", rules: []string{"!has(self.i)"}, object: "{i: {}}"},
	"one of two formats":            {fields: "i: {type: integer, oneOf: [{format: date}, {minimum: 0}]}", rules: []string{"!has(self.i) || self.i < 0"}, object: "{i: 1}"},
	// The default is only evaluated if needed.
	"a default that is not needed":     {fields: "a: {type: string}\nb: {type: string}", rules: []string{"self.?a.orValue(self.b) != ''", "has(self.b)"}, object: "{a: x}"},
	"an optional that is not needed":   {fields: "a: {type: string}\nb: {type: string}", rules: []string{"self.?a.or(optional.of(self.b)).hasValue()", "has(self.b)"}, object: "{a: x}"},
	"the other side of a large choice": {fields: "a: {type: string, enum: [v9]}\nb: {type: integer}", rules: []string{"has(self.a) && (" + numbered(66, "self.a == 'v%[1]d' ? %[1]d : ", "") + "self.b) >= 0", "has(self.b)"}, object: "{a: v9}"},
	// Functions fail for values that do not have the declared type, such as null.
	"the size of a number": {fields: either, rules: []string{"!has(self.either) || size(self.either) > 0"}, object: "{either: 5}", what: Failed},
	"a number for a bool":  {fields: either, rules: []string{"!has(self.either) || !self.either || self.either"}, object: "{either: 5}", what: Failed},
	"a set of lists in a list": {
		fields: "one: {type: array, x-kubernetes-list-type: set, items: {type: array, x-kubernetes-list-type: atomic, items: {type: string}}}\n" +
			"all: {type: array, items: {type: array, x-kubernetes-list-type: set, items: {type: array, x-kubernetes-list-type: atomic, items: {type: string}}}}",
		rules: []string{"!has(self.one) || !has(self.all) || !(self.one in self.all)"}, object: "{one: [[a]], all: [[[b]]]}", what: Failed,
	},
	"a number for a key": {fields: either + "m: {type: object, additionalProperties: {type: string}}", rules: []string{"!has(self.m) || !has(self.either) || !(self.either in self.m)"}, object: "{m: {}, either: 5}", what: Failed},
	"null joined":        {fields: nullItems, rules: []string{"!has(self.l) || self.l.join(',') != 'x'"}, object: "{l: [null]}", what: Failed},
	"the begin of null":  {fields: nullItems, rules: []string{firstItem + "self.l[0] != 'x'", firstItem + "self.l[0].startsWith('a') || !self.l[0].startsWith('a')"}, object: "{l: [null]}"},
	"null and a string":  {fields: nullItems, rules: []string{firstItem + "self.l[0] != 'x'", firstItem + "self.l[0] < 'b' || self.l[0] >= 'b'"}, object: "{l: [null]}"},
	"the size of null":   {fields: nullItems, rules: []string{firstItem + "self.l[0] != 'x'", firstItem + "self.l[0].size() >= 0"}, object: "{l: [null]}", what: Failed},
	"null split":         {fields: nullItems, rules: []string{firstItem + "self.l[0] != 'x'", firstItem + "self.l[0].split(',').size() > -1"}, object: "{l: [null]}", what: Failed},
	"null for a bool":    {fields: "l: {type: array, items: {type: boolean, nullable: true}}", rules: []string{firstItem + "self.l[0] != dyn(1)", firstItem + "self.l[0] || !self.l[0]"}, object: "{l: [null]}"},
	"null in an entry":   {fields: "m: {type: object, additionalProperties: {type: string, nullable: true}}", rules: []string{"!has(self.m) || !('a' in self.m) || self.m['a'] != 'x'", "!has(self.m) || !('a' in self.m) || self.m['a'] < 'b' || self.m['a'] >= 'b'"}, object: "{m: {a: null}}"},
	// Equality between a list or map and another value fails, and then != is true.
	"an object and null":          {fields: nullObjects, rules: []string{"!has(self.l) || !has(oldSelf.l) || self.l == oldSelf.l"}, old: "{l: [null]}", object: "{l: [{}]}", what: Failed},
	"not equal, and equal denied": {fields: nullObjects, rules: []string{"!has(self.l) || !has(oldSelf.l) || !(self.l == oldSelf.l)"}, instead: "!has(self.l) || !has(oldSelf.l) || self.l != oldSelf.l", old: "{l: [null]}", object: "{l: [{}]}"},
	"an object and a number":      {fields: either + "o: {type: object, properties: {x: {type: string}}}", rules: []string{"!has(self.o) || !has(self.either) || self.o == self.either"}, object: "{o: {}, either: 5}", what: Failed},
	"a number among objects":      {fields: either + "l: {type: array, items: {type: object, properties: {x: {type: string}}}}", rules: []string{"!has(self.l) || !has(self.either) || !(self.either in self.l)"}, object: "{l: [{}], either: 5}", what: Failed},
	"null for another field":      {fields: nullFields, rules: []string{"!has(self.o) || !has(self.p) || dyn(self.o) == self.p"}, instead: "!has(self.o) || !has(self.p) || dyn(self.p) == self.o", object: "{o: {x: null}, p: {z: a}}"},
	"a set and a list":            {fields: "l: {type: array, x-kubernetes-list-type: set, items: {type: string}}", rules: []string{"!has(self.l) || self.l == ['a', 'b']"}, instead: "!has(self.l) || ['a', 'b'] == self.l", object: "{l: [b, a]}"},
	"unknown fields and a number": {fields: either + "o: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {x: {type: string}}}", rules: []string{"!has(self.o) || !has(self.either) || self.o == self.either"}, object: "{o: {z: 1}, either: 5}", what: Failed},
	// Only one version keeps a null entry.
	"a null entry that is dropped": {fields: "m: {type: object, additionalProperties: {type: string, nullable: true}}", next: "m: {type: object, additionalProperties: {type: string}}", rules: []string{"!has(self.m) || self.m.size() == 1", "!has(self.m) || self.m.size() == 1"}, object: "{m: {a: null}}"},
	"a null entry that is kept":    {fields: "m: {type: object, additionalProperties: {type: string}}", next: "m: {type: object, additionalProperties: {type: string, nullable: true}}", rules: []string{"!has(self.m) || self.m.size() == 0", "!has(self.m) || self.m.size() == 0"}, object: "{m: {a: null}}"},
	"a null entry that is filled":  {fields: "m: {type: object, additionalProperties: {type: string, default: x}}", next: "m: {type: object, additionalProperties: {type: string}}", rules: []string{"!has(self.m) || self.m.size() == 1", "!has(self.m) || self.m.size() == 1"}, object: "{m: {a: null}}"},
	// Constants in names are quoted.
	"an index that reads as two": {fields: "m: {type: object, additionalProperties: {type: object, nullable: true, additionalProperties: {type: string}}}", rules: []string{"!has(self.m) || self.m['x']['k'] != 'z'", "!has(self.m) || self.m['x][string k'].size() >= 0"}, object: "{m: {x: {k: a}}}", what: Failed},
}

const (
	either      = "either: {anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}\n"
	nullItems   = "l: {type: array, items: {type: string, nullable: true}}"
	nullObjects = "l: {type: array, items: {type: object, nullable: true, properties: {x: {type: string}}}}"
	nullFields  = "o: {type: object, properties: {x: {type: string, nullable: true}, z: {type: string}}}\np: {type: object, properties: {x: {type: string, nullable: true}, z: {type: string}}}"
	firstItem   = "!has(self.l) || self.l.size() == 0 || "
)

// TestReordered checks the documented exception: the server treats reordering a list of type map as
// no change, so a rule about the order can be violated.
func TestReordered(t *testing.T) {
	t.Parallel()
	v := version(t, spec("l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}}}}",
		"self.l[0].k == 'a'", "self.l[0].k == oldSelf.l[0].k"))
	p, err := New(v, Config{})
	if err != nil {
		t.Fatal(err)
	}
	proof, err := p.Never(engine.RuleRef{Path: "spec", Index: 1}, Rejected)
	if got, want := proofText(t, proof, err), "rule 0 of spec"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	res, err := engineOf(t, v).Validate(t.Context(), engine.Request{Object: objectOf(t, "{l: [{k: b}, {k: a}]}"), OldObject: objectOf(t, "{l: [{k: a}, {k: b}]}")})
	if err != nil {
		t.Fatal(err)
	}
	b := brokenOf(res)
	if b.rules[place2{"spec", 0}] || !b.rules[place2{"spec", 1}] {
		t.Errorf("got %v, want rule 1 alone: it needs no exception", res.Causes)
	}
}

package prove

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
)

func prover(t testing.TB, schema string) *Prover {
	t.Helper()
	p, err := New(version(t, schema), Config{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func proofText(t *testing.T, proof *Proof, err error) string {
	t.Helper()
	switch {
	case err != nil:
		t.Fatal(err)
	case proof == nil:
		return ""
	}
	return proof.String()
}

func TestEqual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, want string }{
		{"has(self.num) && self.num > 3", "has(self.num) && self.num > 3", "the rule itself"},
		{"has(self.num) && self.num > 3", "has(self.num) && 3 < self.num", "the rule itself"},
		{"has(self.num) && self.num > 3", "has(self.num) && self.num >= 4", "the rule itself"},
		{"has(self.num) && self.num > 3", "has(self.num) && self.num > 4", ""},
		{"has(self.num) && self.num > 3", "self.num > 3", "the rule itself"}, // a rule that fails rejects
		{"!has(self.num) || self.num > 3", "has(self.num) ? self.num > 3 : true", "the rule itself"},
		{"!has(self.num) || self.num > 3", "!(has(self.num) && self.num <= 3)", "the rule itself"},
		{"!(self.num > 3)", "self.num <= 3", "the rule itself"},
		{"self.kind == 'A'", "self.kind != 'B'", "schema"},
		{"self.num + 1 > 3 || self.m > 2", "self.m > 2 || self.num + 1 > 3", "the rule itself"}, // not modeled, but equal
		{"!has(self.l) || self.l.all(x, x.a != 'y')", "!has(self.l) || self.l.all(z, 'y' != z.a)", "the rule itself"},
		{"!has(self.l) || self.l.all(x, x.a != 'y')", "!has(self.l) || !self.l.exists(x, x.a == 'y')", "the rule itself"},
		{"!has(self.l) || self.l.all(x, x.a != 'y')", "!has(self.l) || !self.l.exists(x, x.a == 'z')", ""},
		{"!has(self.l) || self.l.all(x, has(x.b) && x.b != 'y')", "!has(self.l) || self.l.all(x, !(!has(x.b) || x.b == 'y'))", "the rule itself"},
		{"!has(self.l) || self.l.all(x, x.b != 'y')", "!has(self.l) || self.l.all(x, has(x.b) && x.b != 'y')", "the rule itself"},
		{"!has(self.l) || self.l.exists(x, x.b != 'y')", "!has(self.l) || self.l.exists(x, has(x.b) && x.b != 'y')", "the rule itself"},
		{"!has(self.l) || self.l.all(x, self.l.all(y, x.a == y.a))", "!has(self.l) || self.l.all(y, self.l.all(x, y.a == x.a))", "the rule itself"},
		{"!has(self.map) || self.map.all(k, k != 'a')", "!has(self.map) || !('a' in self.map)", "the rule itself"},
		{"!has(self.map) || self.map.all(k, self.map[k] > 3)", "!has(self.map) || !self.map.exists(k, self.map[k] <= 3)", "the rule itself"},
		{"self.o == oldSelf.o", "oldSelf.o == self.o", "the rule itself"},
		{"self == oldSelf", "oldSelf == self", ""}, // a field may be null
		{"self.num == oldSelf.num", "oldSelf.num == self.num", "the rule itself"},
		{"self.num == oldSelf.num", "true", ""},
		{"true", "self.num == oldSelf.num", ""},
		{"oldSelf.kind != 'C'", "true", "schema"},
	} {
		p := prover(t, spec(fields, c.a))
		proof, err := p.Equal(engine.RuleRef{Path: "spec"}, apiextensionsv1.ValidationRule{Rule: c.b})
		if got := proofText(t, proof, err); got != c.want {
			t.Errorf("%s and %s: got %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestEqualSiblings(t *testing.T) {
	t.Parallel()
	p := prover(t, spec(fields, "self.kind == 'A'", "has(self.num)"))
	proof, err := p.Equal(engine.RuleRef{Path: "spec"}, apiextensionsv1.ValidationRule{Rule: "self.kind == 'A' && has(self.num)"})
	if got, want := proofText(t, proof, err), "rule 1 of spec"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err = p.Equal(engine.RuleRef{Path: "spec"}, apiextensionsv1.ValidationRule{Rule: "self.nosuch"})
	if err == nil {
		t.Error("a rule that does not compile is compared")
	}
}

func TestEqualTransitions(t *testing.T) {
	t.Parallel()
	yes := true
	for _, c := range []struct {
		a, b apiextensionsv1.ValidationRule
		want string
	}{
		{apiextensionsv1.ValidationRule{Rule: "!oldSelf.hasValue() || oldSelf.value() == self", OptionalOldSelf: &yes}, apiextensionsv1.ValidationRule{Rule: "oldSelf.value() == self || !oldSelf.hasValue()", OptionalOldSelf: &yes}, "the rule itself"},
		{apiextensionsv1.ValidationRule{Rule: "oldSelf.hasValue()", OptionalOldSelf: &yes}, apiextensionsv1.ValidationRule{Rule: "true"}, ""},
		{apiextensionsv1.ValidationRule{Rule: "oldSelf == self"}, apiextensionsv1.ValidationRule{Rule: "oldSelf.value() == self", OptionalOldSelf: &yes}, ""},
	} {
		v := version(t, spec(fields, "true"))
		s := v.Schema.OpenAPIV3Schema.Properties["spec"]
		s.XValidations[0] = c.a
		p, err := New(v, Config{})
		if err != nil {
			t.Fatal(err)
		}
		proof, err := p.Equal(engine.RuleRef{Path: "spec"}, c.b)
		if got := proofText(t, proof, err); got != c.want {
			t.Errorf("%s and %s: got %q, want %q", c.a.Rule, c.b.Rule, got, c.want)
		}
	}
}

func TestPasses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields, nextFields string // "" is fields
		rules              []string
		next               string
		want               string
	}{
		"the same":                           {rules: []string{"has(self.num)"}, next: "has(self.num)", want: "rule 0 of spec"},
		"reworded":                           {rules: []string{"!(has(self.num) && self.num > 5)"}, next: "!has(self.num) || self.num <= 5", want: "rule 0 of spec"},
		"looser":                             {rules: []string{"!has(self.num) || self.num > 5"}, next: "!has(self.num) || self.num > 4", want: "rule 0 of spec"},
		"tighter":                            {rules: []string{"!has(self.num) || self.num > 4"}, next: "!has(self.num) || self.num > 5"},
		"new":                                {next: "has(self.num)"},
		"by the schema":                      {next: "self.kind in ['A', 'B', 'C']", want: "schema"},
		"two made one":                       {rules: []string{"has(self.num)", "has(self.t)"}, next: "has(self.num) && has(self.t)", want: "rules 0 and 1 of spec"},
		"transition":                         {rules: []string{"self.kind == oldSelf.kind"}, next: "oldSelf.kind == self.kind", want: "rule 0 of spec"},
		"new transition":                     {rules: []string{"self.kind == 'A'"}, next: "oldSelf.kind == self.kind", want: "rule 0 of spec"},
		"transition dropped":                 {rules: []string{"self.kind == oldSelf.kind"}, next: "true", want: "the rule itself"},
		"create as well":                     {rules: []string{"self == oldSelf"}, next: "self.num == 3"},
		"new field":                          {nextFields: fields + "new: {type: string}\n", next: "!has(self.new) || self.new == 'x'", want: "the rule itself"},
		"new field, required by a rule":      {nextFields: fields + "new: {type: string}\n", next: "has(self.new)"},
		"new field with a default":           {nextFields: fields + "new: {type: string, default: x}\n", next: "self.new == 'x'", want: "schema"},
		"new field with a default, negative": {nextFields: fields + "new: {type: string, default: x}\n", next: "self.new == 'y'"},
		"with a new field":                   {nextFields: fields + "new: {type: string}\n", rules: []string{"self.t.split(',').size() == 2"}, next: "2 == self.t.split(',').size()", want: "rule 0 of spec"},
		"whole with a new field":             {nextFields: fields + "new: {type: string}\n", rules: []string{"self.o == oldSelf.o"}, next: "oldSelf.o == self.o", want: "rule 0 of spec"},
		"other places of a new field":        {fields: "o: {type: object, properties: {x: {type: string}}}\np: {type: object, properties: {x: {type: string}}}", nextFields: "o: {type: object, properties: {x: {type: string}, y: {type: string}}}\np: {type: object, properties: {x: {type: string}, y: {type: string, default: z}}}", rules: []string{"dyn(self.o) == self.p"}, next: "dyn(self.o) == self.p"},
		"other default":                      {nextFields: fields + "extra: {type: integer, default: 3}\n", fields: fields + "extra: {type: integer, default: 2}\n", rules: []string{"self.extra < 5"}, next: "self.extra < 5", want: "schema; rule 0 of spec"},
		"other default, refused":             {nextFields: fields + "extra: {type: integer, default: 5}\n", fields: fields + "extra: {type: integer, default: 2}\n", rules: []string{"self.extra < 5"}, next: "self.extra < 5"},
		"default dropped":                    {fields: fields + "extra: {type: integer, default: 2}\n", nextFields: fields + "extra: {type: integer}\n", next: "has(self.extra)"},
		"default dropped, value kept":        {fields: fields + "extra: {type: integer, default: 2}\n", nextFields: fields + "extra: {type: integer}\n", rules: []string{"self.extra < 5"}, next: "!has(self.extra) || self.extra < 5", want: "rule 0 of spec"},
		"default added":                      {fields: fields + "extra: {type: integer}\n", nextFields: fields + "extra: {type: integer, default: 7}\n", rules: []string{"!has(self.extra) || self.extra < 5"}, next: "self.extra < 5"},
		"default added, fits":                {fields: fields + "extra: {type: integer}\n", nextFields: fields + "extra: {type: integer, default: 3}\n", rules: []string{"!has(self.extra) || self.extra < 5"}, next: "self.extra < 5", want: "schema; rule 0 of spec"},
		"default above a list":               {fields: "l: {type: array, items: {type: object, properties: {a: {type: string}}}}", nextFields: "l: {type: array, default: [{a: x}], items: {type: object, properties: {a: {type: string}}}}", rules: []string{"!has(self.l) || self.l.all(x, has(x.a) && x.a == 'y')"}, next: "self.l.all(x, has(x.a) && x.a == 'y')"},
		"default above a list, size only":    {fields: "l: {type: array, maxItems: 3, items: {type: object, properties: {a: {type: string}}}}", nextFields: "l: {type: array, default: [], items: {type: object, properties: {a: {type: string}}}}", next: "self.l.size() < 4"},
		"other type":                         {fields: "x: {type: string}", nextFields: "x: {type: integer}", rules: []string{"has(self.x) && self.x == 'a'"}, next: "has(self.x) && self.x == 1"},
		"elements":                           {nextFields: fields + "new: {type: string}\n", rules: []string{"!has(self.l) || self.l.all(x, has(x.b) && x.b == 'y')"}, next: "!has(self.l) || self.l.all(x, has(x.b) && x.b.startsWith('y'))", want: "rule 0 of spec"},
		"elements with a new field":          {fields: "l: {type: array, items: {type: object, properties: {a: {type: string}}}}", nextFields: "l: {type: array, items: {type: object, properties: {a: {type: string}, b: {type: string}}}}", rules: []string{"!has(self.l) || self.l.all(x, x.a == 'y')"}, next: "!has(self.l) || self.l.all(x, x.a == 'y' && !has(x.b))", want: "rule 0 of spec"},
		"keys with a new field":              {fields: "l: {type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}", nextFields: "l: {type: object, additionalProperties: {type: object, properties: {a: {type: string}, b: {type: string}}}}", rules: []string{"!has(self.l) || self.l.all(x, self.l[x].a == x)"}, next: "!has(self.l) || self.l.all(x, x == self.l[x].a && !has(self.l[x].b))", want: "rule 0 of spec"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := func(text string) string {
				if text == "" {
					return fields
				}
				return text
			}
			p, next := prover(t, spec(of(c.fields), c.rules...)), prover(t, spec(of(c.nextFields), c.next))
			proof, err := p.Passes(next, engine.RuleRef{Path: "spec"})
			if got := proofText(t, proof, err); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestPassesNowhere checks that objects of the old version have no value at a path that only the
// new version has.
func TestPassesNowhere(t *testing.T) {
	t.Parallel()
	next := prover(t, spec(fields, "has(self.num)"))
	for old, want := range map[string]string{
		"type: object\nproperties:\n  a: {type: string}":           "the rule itself",
		"type: object\nx-kubernetes-preserve-unknown-fields: true": "",
	} {
		proof, err := prover(t, old).Passes(next, engine.RuleRef{Path: "spec"})
		if got := proofText(t, proof, err); got != want {
			t.Errorf("%s: got %q, want %q", old, got, want)
		}
	}
}

package eval

import (
	"context"
	"fmt"
	"slices"
	"testing"

	upstream "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/types"
)

// Each of the typical rules accepts the first test value.
var typical = []struct{ name, rule string }{
	{"compare", "self.i > self.j && self.s != self.t"},
	{"has", "!has(self.missing) || self.missing == 'x'"},
	{"deep", "has(self.nested) && has(self.nested.a) && has(self.nested.a.b) && self.nested.a.b.num <= 5"},
	{"enum", "self.t in ['hello', 'bye'] && !(self.t in ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'])"},
	{"text", "self.s.startsWith('hello') && self.s.contains('world') && size(self.s) < 100"},
	{"regexp", "self.t.matches('^[a-z]+$')"},
	{"port", "self.port == 80 || type(self.port) == string"},
	{"all", "self.items.all(x, x.name != '' && (!has(x.value) || x.value < 10))"},
	{"unique", "self.items.all(x, self.items.exists_one(y, y.name == x.name))"},
	{"filter", "self.items.filter(x, has(x.value) && x.value > 1).size() == 2"},
	{"map", "self.items.map(x, x.name).exists(n, n == 'one')"},
	{"labels", "self.labels.all(k, k.size() < 64 && self.labels[k].size() < 64)"},
	{"pairs", "self.items.all(i, x, x.value == i + 1)"},
	{"ternary", "(has(self.strings) ? self.strings : []).all(x, x.size() < 9)"},
	{"transition", "self.i >= oldSelf.i && self.t == oldSelf.t && self.b == oldSelf.b"},
	{"immutable", "self.nested == oldSelf.nested && self.strings == oldSelf.strings"},
	{"optional", "self.?nested.?a.?b.?num.orValue(0) == 5"},
	{"optional list", "self.?items.orValue([]).all(x, x.?value.orValue(1) > 0)"},
}

func typicalSubject(t testing.TB, rule string) (*subject, func() *Activation) {
	decl := declare(t, read(t, "testdata/schema.yaml"))
	self := values(t, "testdata/values.yaml")[0]
	old := values(t, "testdata/values.yaml")[0]
	s, err := newSubject(environment(t, decl, false), decl, rule)
	if err != nil {
		t.Fatal(rule, err)
	}
	return s, func() *Activation { return BindOld(decl, self, old) }
}

func TestNoAllocations(t *testing.T) {
	for _, c := range typical {
		s, bind := typicalSubject(t, c.rule)
		a, ctx := bind(), context.Background()
		self, old, decl := a.roots[selfRoot].raw, a.roots[oldRoot].raw, a.roots[selfRoot].decl
		if out := s.ours.Eval(ctx, a); out.False() || out.Err != nil {
			t.Errorf("%s: not accepted: %+v", c.name, out)
		}
		n := testing.AllocsPerRun(100, func() {
			a.BindOld(decl, self, old)
			if s.ours.Eval(ctx, a).False() {
				t.Error("not accepted")
			}
		})
		if n != 0 && !slices.Contains([]string{"ternary", "optional", "optional list"}, c.name) { // which box values
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

func BenchmarkTypical(b *testing.B) {
	for _, c := range typical {
		s, bind := typicalSubject(b, c.rule)
		b.Run(c.name, func(b *testing.B) { benchmark(b, s, bind) })
	}
}

const nestedSchema = `
type: object
properties:
  items:
    type: array
    maxItems: 120
    items:
      type: object
      properties:
        name: {type: string, maxLength: 20}
        tags: {type: array, maxItems: 5, items: {type: string, maxLength: 20}}
`

var nestedRules = []struct{ name, rule string }{
	{"exists", "self.items.all(x, self.items.exists(y, y.name == x.name))"},
	{"exists_one", "self.items.all(x, self.items.exists_one(y, y.name == x.name))"},
	{"tags", "self.items.all(x, x.tags.all(t, self.items.exists(y, y.tags.exists(u, u == t))))"},
}

func nestedSubject(t testing.TB, rule string) (*subject, func() *Activation) {
	decl := declare(t, nestedSchema)
	items := make([]any, 120)
	for i := range items {
		items[i] = map[string]any{"name": fmt.Sprint("item-", i), "tags": []any{"a", fmt.Sprint("tag-", i)}}
	}
	self := map[string]any{"items": items}
	s, err := newSubject(environment(t, decl, false), decl, rule)
	if err != nil {
		t.Fatal(err)
	}
	return s, func() *Activation { return Bind(decl, self) }
}

func BenchmarkNested(b *testing.B) {
	for _, c := range nestedRules {
		s, bind := nestedSubject(b, c.rule)
		b.Run(c.name, func(b *testing.B) { benchmark(b, s, bind) })
	}
}

// benchmark compares this package, cel-go's program on the same values, and the API server's own
// validator with only that rule.
func benchmark(b *testing.B, s *subject, bind func() *Activation) {
	ctx := context.Background()
	a := bind()
	cost := s.ours.Eval(ctx, a).Cost
	self, old, decl := a.roots[selfRoot].raw, a.roots[oldRoot].raw, a.roots[selfRoot].decl
	perUnit := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(cost), "ns/unit")
	}
	b.Run("with=celadon", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			a.BindOld(decl, self, old)
			s.ours.Eval(ctx, a)
		}
		perUnit(b)
	})
	b.Run("with=cel-go", func(b *testing.B) {
		theirs, err := celProgram(s.env, s.ast, s.decl, noLimit)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			theirs.Eval(ctx, BindOld(decl, self, old))
		}
		perUnit(b)
	})
	b.Run("with=validator", func(b *testing.B) {
		b.ReportAllocs()
		validate := upstreamValidator(b, s, decl)
		for b.Loop() {
			validate(ctx, self, old)
		}
		perUnit(b)
	})
}

func upstreamValidator(b *testing.B, s *subject, d *types.Decl) func(ctx context.Context, self, old any) {
	structural := d.Schema.DeepCopy()
	structural.XValidations = apiextensions.ValidationRules{{Rule: s.ast.Source().Content()}}
	v := upstream.NewValidator(structural, false, celconfig.PerCallLimit)
	return func(ctx context.Context, self, old any) {
		errs, _ := v.Validate(ctx, field.NewPath("root"), structural, self, old, 100_000_000)
		if len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

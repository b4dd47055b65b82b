package rule

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/types"
)

// TestCost checks that the fast estimate equals that of the environment in each version.
func TestCost(t *testing.T) {
	t.Parallel()
	most := int64(7)
	text := schema.Structural{Generic: schema.Generic{Type: "string"}, ValueValidation: &schema.ValueValidation{MaxLength: &most}}
	d := types.FromSchema(&schema.Structural{
		Generic: schema.Generic{Type: "object"},
		Properties: map[string]schema.Structural{
			"a": {Generic: schema.Generic{Type: "integer"}},
			"s": text,
			"u": {Generic: schema.Generic{Type: "string"}},
			"l": {Generic: schema.Generic{Type: "array"}, Items: &text, ValueValidation: &schema.ValueValidation{MaxItems: &most}},
			"m": {Generic: schema.Generic{Type: "object"}, AdditionalProperties: &schema.StructuralOrBool{Structural: &text}},
			"t": {Generic: schema.Generic{Type: "string"}, ValueValidation: &schema.ValueValidation{Format: "date-time"}},
		},
	}, types.Subtree)
	quick, compiled := 0, 0
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		env := types.StoredEnv(types.Version{Minor: minor})
		for _, src := range []string{
			"has(self.a)", "has(self.m.x) && self.m.x == self.s", "self.a + 1 > 2", "self.s == self.u", "self.s + self.u", "self.s.size() > size(self.l)", "self.u.matches('^a+$')",
			"self.u.contains(self.s) || self.s.startsWith('a') || self.u.endsWith(self.s)", "self.l.all(x, x in self.l)", "self.l.map(x, x + 'a').exists_one(x, x == '')", "self.m.exists(k, self.m[k] == k)",
			"self.l.filter(x, self.l.exists(y, y == x)).size() < 3", "self == oldSelf", "self.l + self.l == [self.s]", "{'a': self.s}['a'] == 'b'", "string(self.a) == self.s", "int(self.s)", "duration(self.s) < duration('1h')",
			"self.t < timestamp('2020-01-01T00:00:00Z')", "self.t.getFullYear('UTC') == 1", "type(self.a) == int", "dyn(self.s) == 1", "self.a == 1 ? self.l[0] : self.u",
			"self.l.sum() == 'a'", "self.l.isSorted()", "self.l.indexOf('a') == 1", "self.u.find('a') == ''", "url(self.u).getHost()", "isURL(self.u)", "self.u.split(',').join('')", "self.u.lowerAscii().trim().replace('a', self.s)",
			"lists.range(3)", "self.l.slice(0, 1)", "self.l.distinct().flatten()", "sets.contains(self.l, ['a'])", "optional.of(self.a).orValue(1)", "self.?s.orValue('')", "cel.bind(x, self.l, x + x)",
			"quantity(self.u).isGreaterThan(quantity('1'))", "ip(self.u).family()", "cidr(self.u).containsIP(self.u)", "'%s'.format([self.u])", "self.l.all(i, x, x == self.l[i])", "math.greatest(self.a, 1)", "base64.encode(b'a')",
		} {
			instance, err := env.For(d, false)
			if err != nil {
				t.Fatal(err)
			}
			checked, err := types.Check(instance, src)
			if err != nil {
				continue // not in this version
			}
			compiled++
			if hasOnlyPlainCalls(checked.NativeRep()) {
				quick++
			}
			x := &Checked{Key: Key{Decl: d}, AST: checked, Env: instance}
			got, err := x.Cost()
			want, wantErr := cost.Of(instance, checked, d)
			if got != want || err != nil || wantErr != nil {
				t.Errorf("1.%d: %s: got %v, %v, want %v, %v", minor, src, got, err, want, wantErr)
			}
		}
	}
	if versions := types.Newest - types.Oldest + 1; quick < 15*versions || compiled < quick+5*versions {
		t.Errorf("of %d expressions, %d are estimated quickly", compiled, quick)
	}
}

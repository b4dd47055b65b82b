package estimate_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"

	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/cel/estimate"
	"github.com/celadon-cel/celadon/types"
)

type declaration struct{ decl *types.Decl }

func declarationOf(d *types.Decl) estimate.Declaration {
	if d == nil {
		return nil
	}
	return declaration{d}
}

func (d declaration) Child(step string) estimate.Declaration {
	return declarationOf(d.decl.Child(step))
}
func (d declaration) MaxSize() int64 { return d.decl.Max.Max }

var newest = estimate.For(types.Newest)

// compare returns false if the expression is invalid.
func compare(t testing.TB, env *cel.Env, d *types.Decl, src string) bool {
	t.Helper()
	checked, err := celenv.Check(env, src)
	if err != nil {
		return false
	}
	got := newest.Of(checked.NativeRep(), declarationOf(d))
	want, err := env.EstimateCost(checked, celcost.Estimator(d))
	if got != want || err != nil {
		t.Errorf("%s: got %v, want %v, %v", src, got, want, err)
	}
	return true
}

func at(t testing.TB, minor int, d *types.Decl) *cel.Env {
	t.Helper()
	env, err := celenv.StoredRules(types.Version{Minor: minor}).For(d, false)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// The environments are those of each version, and the estimates are the newest.
func TestOf(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	d := nested()
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		env := at(t, minor, d)
		for _, src := range []string{
			"true", "1u + 2u > 0u", "1.5 < self.d", "null == null", "'é' + 'aé' != ''",
			"has(self.i)", "has(self.n.n.m.x) && self.n.m.x == self.s", "self.s == self.u", "self.s + self.u", "self.y + self.y", "self.s.size() > size(self.l)",
			"self.u.matches('^a+$')", "matches(self.s, self.u)", "self.u.contains(self.s) || self.s.startsWith('a') || self.u.endsWith(self.s)", "self.y < bytes(self.s)", "string(self.y) == self.s",
			"self.l.all(x, x in self.l)", "self.l.map(x, x + 'a').exists_one(x, x == '')", "self.m.exists(k, self.m[k] == k)", "self.l.filter(x, self.l.exists(y, y == x)).size() < 3", "[['a']].all(x, x.all(y, y == ''))",
			"self.l.map(self, self + self).size() == 2", "self.l.all(x, x == '' || self.l.all(x, x == 'a'))", "self == oldSelf", "self.l + self.l == [self.s]", "[].size() == 0", "(self.b ? ['a'] : [self.s]).all(x, x == '')", "(['a'] + [self.s])[0] == ''",
			"string(self.i) == self.s", "duration(self.s) < duration('1h')", "self.t.getFullYear('UTC') == 1", "type(self.i) == int", "dyn(self.s) == 1", "dyn(self.l)[0] == 1", "self.x == 1 || self.x == 'a'", "self.b ? self.l[0] : self.u",
			"self.l.map(x, {'a': x})[0].a == 'b'", "self.l.map(x, self.n)[0].n.s == ''",
			"{'a': self.s}['a'] == 'b'", "self.y == b'a'", "self.u.lowerAscii()", "[1].sum() == 1", "self.u.split(',').size() == 1", "self.l.isSorted()", "self.l.all(i, x, x == self.l[i])",
			"quantity(self.u).isGreaterThan(quantity('1'))", "quantity(self.u) == quantity(self.s)", "isQuantity(self.s) && quantity(self.s).add(1).asInteger() == 1", "isURL(self.u) && url(self.u).getHost() == ''", "url(self.u) == url(self.s)",
			"url(self.u) != url(self.s)", "url(self.u).getQuery()['a'] == [self.s]", "url(self.u).getQuery()['a'].all(x, x == '')", "self.u.find('a') == self.s", "self.u.findAll('a') == [self.s]", "self.u.findAll('a', 2).exists(x, x == self.s)",
			"isIP(self.s) && ip(self.s).family() == 4 && ip(self.s) == ip(self.u)", "ip.isCanonical(self.s)", "cidr(self.u).containsIP(self.u) && cidr(self.u).containsIP(ip(self.s)) && cidr(self.u).ip() == ip(self.s)", "cidr(self.u).containsCIDR(self.s) && cidr(self.u).masked().prefixLength() > 1", "cidr(self.u) == cidr(self.s)",
			"!format.dns1123Label().validate(self.s).hasValue()", "format.named('uuid').value().validate(self.u).value() == ['a']", "format.uuid() == format.dns1035Label()", "isSemver(self.s) && semver(self.s).major() == semver(self.u).minor() && semver(self.s) == semver(self.u)",
			"self.?s.orValue('') == ''", "self.?n.?n.?s.orValue('') == self.s", "self.l[?0].hasValue()", "self.m[?'a'].orValue(self.s) == 'a'", "optional.of(self.i).value() == 1", "optional.none() == optional.of(self.s)", "[?self.?s, 'a'].all(x, x == 'a')", "self.?s.optMap(x, x + x).orValue('') == ''",
			// Slices in checker.Cost: a slice of three names has capacity for a fourth.
			"self.o.all(v, v.i == 1)",
			"self.o.all(v, v.o.all(w, w.s == v.u))",
			"self.o.all(v, v.m[v.s] == '')",
			"self.o.all(v, v.m[self.s] == '')",
			"self.n.o.all(v, v.o.all(w, w.s == v.u))", // a slice of four is full
			"self.n.o.all(v, v.m[v.s] == '')",
			"self.n.n.o.all(v, v.l.all(w, w == v.u))",
			"self.o.all(v, v.n.n.l.all(w, w == v.u))", // the slice is copied
			"self.ll.all(v, v.all(w, w == ''))",
			"self.n.ll.all(v, v.all(w, w == ''))",
			"self.o.all(v, self.n.o.all(w, w.s == v.s && w.i == 1))",
			"self.n.m.all(k, v, ip.isCanonical(k))", // the value's step overwrites the key's
			"self.n.m.all(k, v, ip.isCanonical(v) && k.startsWith(v))",
			"self.n.n.m.all(k, v, ip.isCanonical(k))", // a slice of four is full
			"self.m.all(k, v, ip.isCanonical(k))",
			"self.n.l.all(i, v, ip.isCanonical(v))",
			"lists.range(3).size() > 0", "self.l.slice(0, 1) == ['a']", "self.l.slice(1, 3).distinct().reverse() == self.l", "[self.l, ['a']].flatten() == self.l", "[[['a']]].flatten(2) == [['a']]", "self.l.sort() == self.l", "self.l.sortBy(x, x.size()) == self.l", "lists.range(self.i).size() > 1",
			"sets.contains(self.l, ['a'])", "sets.equivalent(self.l, self.l) || sets.intersects(['a'], self.l)", "optional.of(self.l).optMap(x, x[0]).orValue('') == self.s", "self.?l.optFlatMap(x, x[?0]).hasValue()", "self.m.transformList(k, v, k + v) == self.l", "self.m.transformMap(k, v, v + v).all(k, k == self.s)", "self.l.all(l, self, self == '')",
			"self.l.exists(i, x, i == 1 && x == self.s)", "'%s %d'.format([self.u, 1]) == self.s", "strings.quote(self.s) == self.u", "self.l.join(',') == self.l.join()", "self.u.replace('a', self.s) == self.u.replace(self.s, 'a').replace('', 'abc')", "self.u.substring(2).trim().upperAscii() == self.s", "self.u.split(',', 3).size() == 3", "self.u.lastIndexOf(self.s) == 2 || self.l.lastIndexOf('a') == 1", "self.l.max() == self.l.min()",
			"{self.s: 1, 'a': 2}.all(k, k == 'a')", "{'a': [self.s, 'abc']}['a'].all(x, x == self.u)", "(self.b ? {'a': 'b'} : {'ab': 'abc'}).exists(k, v, k == v)", "type(self.s) == string", "dyn(self).s == 'a'", "dyn(self.m)['a'] == dyn(self.l)[0]",
		} {
			if !compare(t, env, d, src) && minor == types.Newest {
				t.Errorf("invalid: %s", src)
			}
		}
	}
}

// TestMessages checks estimates of message literals, whose size is 0 before 1.31. The wanted values
// are from the libraries of 1.28 and 1.31.
func TestMessages(t *testing.T) {
	t.Parallel()
	d := nested()
	for minor, want := range map[int]uint64{28: 40, 30: 40, 31: 41, types.Newest: 41} {
		checked, err := celenv.Check(at(t, minor, d), "google.protobuf.Int32Value{value: 1} == 1")
		if err != nil {
			t.Fatal(err)
		}
		if got := estimate.For(minor).Of(checked.NativeRep(), declarationOf(d)); got.Max != want {
			t.Errorf("1.%d: got %v, want %d", minor, got, want)
		}
	}
}

// TestUndeclared estimates expressions whose variables have no declaration, or the declaration of
// an inner object.
func TestUndeclared(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	env := at(t, types.Newest, nested())
	for _, src := range []string{"self.s == 'a'", "self.l.all(x, x.size() > 0)", "self.i > 1"} {
		compare(t, env, nil, src)
		compare(t, env, nested().Fields["n"].Decl, src)
	}
}

// CELADON_PARSES sets the number of expressions.
func TestMadeUpExpressions(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	total := uint64(1_500)
	if n, err := strconv.ParseUint(os.Getenv("CELADON_PARSES"), 10, 64); err == nil {
		total = n
	}
	d := nested()
	env := at(t, types.Newest, d)
	valid := 0
	for seed := range total {
		if compare(t, env, d, newMaker(seed).of("b", 1+int(seed%3))) {
			valid++
		}
	}
	if total >= 1000 && valid < int(total*9/10) {
		t.Errorf("of %d expressions, %d are valid", total, valid)
	}
}

func FuzzOf(f *testing.F) {
	if testing.Short() {
		f.Skip("takes long")
	}
	for seed := range uint64(200) {
		f.Add(newMaker(seed).of("b", 1+int(seed%3)))
	}
	d := nested()
	env := at(f, types.Newest, d)
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) < 500 {
			compare(t, env, d, src)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	d := nested()
	env := at(b, types.Newest, d)
	var all []*cel.Ast
	for seed := range uint64(300) {
		if checked, err := celenv.Check(env, newMaker(seed).of("b", 2)); err == nil {
			all = append(all, checked)
		}
	}
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			for _, checked := range all {
				newest.Of(checked.NativeRep(), declarationOf(d))
			}
		}
	})
	b.Run("cel-go", func(b *testing.B) {
		for b.Loop() {
			for _, checked := range all {
				_, _ = checker.Cost(checked.NativeRep(), celcost.Estimator(d), checker.PresenceTestHasCost(false))
			}
		}
	})
}

package estimate_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/internal/cel/estimate"
	"github.com/celadon-cel/celadon/types"
)

// declaration implements estimate.Declaration.
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

// compared counts the estimated expressions and those that the package supports.
type compared struct{ all, known int }

// compare compares the estimate of an expression with the environment's. It skips expressions that
// are invalid.
func (c *compared) compare(t testing.TB, env *cel.Env, d *types.Decl, src string) {
	t.Helper()
	checked, err := types.Check(env, src)
	if err != nil {
		return
	}
	c.all++
	got, ok := estimate.Of(checked.NativeRep(), declarationOf(d))
	if !ok {
		return
	}
	c.known++
	want, err := cost.Of(env, checked, d)
	if (checker.CostEstimate{Min: want.Min, Max: want.Max}) != got || err != nil {
		t.Errorf("%s: %v, want %v, %v", src, got, want, err)
	}
}

func at(t testing.TB, minor int, d *types.Decl) *cel.Env {
	t.Helper()
	env, err := types.StoredEnv(types.Version{Minor: minor}).For(d, false)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// TestOf estimates an expression of each kind in each version.
func TestOf(t *testing.T) {
	t.Parallel()
	d := nested()
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		env := at(t, minor, d)
		for src, want := range map[string]bool{
			"true": true, "1u + 2u > 0u": true, "1.5 < self.d": true, "null == null": true, "'é' + 'aé' != ''": true,
			"has(self.i)": true, "has(self.n.n.m.x) && self.n.m.x == self.s": true, "self.s == self.u": true, "self.s + self.u": true, "self.y + self.y": true, "self.s.size() > size(self.l)": true,
			"self.u.matches('^a+$')": true, "matches(self.s, self.u)": true, "self.u.contains(self.s) || self.s.startsWith('a') || self.u.endsWith(self.s)": true, "self.y < bytes(self.s)": true, "string(self.y) == self.s": true,
			"self.l.all(x, x in self.l)": true, "self.l.map(x, x + 'a').exists_one(x, x == '')": true, "self.m.exists(k, self.m[k] == k)": true, "self.l.filter(x, self.l.exists(y, y == x)).size() < 3": true, "[['a']].all(x, x.all(y, y == ''))": true,
			"self.l.map(self, self + self).size() == 2": true, "self.l.all(x, x == '' || self.l.all(x, x == 'a'))": true, "self == oldSelf": true, "self.l + self.l == [self.s]": true, "[].size() == 0": true, "(self.b ? ['a'] : [self.s]).all(x, x == '')": true, "(['a'] + [self.s])[0] == ''": true,
			"string(self.i) == self.s": true, "duration(self.s) < duration('1h')": true, "self.t.getFullYear('UTC') == 1": true, "type(self.i) == int": true, "dyn(self.s) == 1": true, "dyn(self.l)[0] == 1": false, "self.x == 1 || self.x == 'a'": true, "self.b ? self.l[0] : self.u": true,
			"self.l.map(x, {'a': x})[0].a == 'b'": false, "self.l.map(x, self.n)[0].n.s == ''": true,
			"{'a': self.s}['a'] == 'b'": false, "self.y == b'a'": false, "self.u.lowerAscii()": false, "self.l.sum() == 'a'": false, "[1].sum() == 1": false, "self.u.split(',').size() == 1": false, "self.l.isSorted()": false, "cel.bind(x, self.l, x + x)": false, "self.l.all(i, x, x == self.l[i])": false,
			"quantity(self.u).isGreaterThan(quantity('1'))": true, "quantity(self.u) == quantity(self.s)": true, "isQuantity(self.s) && quantity(self.s).add(1).asInteger() == 1": true, "isURL(self.u) && url(self.u).getHost() == ''": true, "url(self.u) == url(self.s)": true,
			"url(self.u) != url(self.s)": true, "url(self.u).getQuery()['a'] == [self.s]": true, "url(self.u).getQuery()['a'].all(x, x == '')": true, "self.u.find('a') == self.s": true, "self.u.findAll('a') == [self.s]": true, "self.u.findAll('a', 2).exists(x, x == self.s)": true,
			"isIP(self.s) && ip(self.s).family() == 4 && ip(self.s) == ip(self.u)": true, "ip.isCanonical(self.s)": true, "cidr(self.u).containsIP(self.u) && cidr(self.u).containsIP(ip(self.s)) && cidr(self.u).ip() == ip(self.s)": true, "cidr(self.u).containsCIDR(self.s) && cidr(self.u).masked().prefixLength() > 1": true, "cidr(self.u) == cidr(self.s)": true,
			"!format.dns1123Label().validate(self.s).hasValue()": true, "format.named('uuid').value().validate(self.u).value() == ['a']": true, "format.uuid() == format.dns1035Label()": true, "isSemver(self.s) && semver(self.s).major() == semver(self.u).minor() && semver(self.s) == semver(self.u)": true,
			"self.?s.orValue('') == ''": true, "self.?n.?n.?s.orValue('') == self.s": true, "self.l[?0].hasValue()": true, "self.m[?'a'].orValue(self.s) == 'a'": true, "optional.of(self.i).value() == 1": true, "optional.none() == optional.of(self.s)": true, "[?self.?s, 'a'].all(x, x == 'a')": true, "self.?s.optMap(x, x + x).orValue('') == ''": false,
			// Slices in checker.Cost: a slice of three names has capacity for a fourth.
			"self.o.all(v, v.i == 1)":                                true,
			"self.o.all(v, v.o.all(w, w.s == v.u))":                  false,
			"self.o.all(v, v.m[v.s] == '')":                          false,
			"self.o.all(v, v.m[self.s] == '')":                       false,
			"self.n.o.all(v, v.o.all(w, w.s == v.u))":                true, // a slice of four is full
			"self.n.o.all(v, v.m[v.s] == '')":                        true,
			"self.n.n.o.all(v, v.l.all(w, w == v.u))":                false,
			"self.o.all(v, v.n.n.l.all(w, w == v.u))":                true, // the slice is copied
			"self.ll.all(v, v.all(w, w == ''))":                      false,
			"self.n.ll.all(v, v.all(w, w == ''))":                    true,
			"self.o.all(v, self.n.o.all(w, w.s == v.s && w.i == 1))": true,
		} {
			var c compared
			if c.compare(t, env, d, src); c.all > 0 && (c.known > 0) != want {
				t.Errorf("1.%d: %s: known %v, want %v", minor, src, c.known > 0, want)
			}
		}
	}
}

// TestUndeclared estimates expressions whose variables have no declaration.
func TestUndeclared(t *testing.T) {
	t.Parallel()
	env := at(t, types.Newest, nested())
	var c compared
	for _, src := range []string{"self.s == 'a'", "self.l.all(x, x.size() > 0)", "self.i > 1"} {
		c.compare(t, env, nil, src)
		c.compare(t, env, nested().Fields["n"].Decl, src)
	}
	if c.known != 6 {
		t.Error(c)
	}
}

// TestMadeUpExpressions estimates generated expressions with nested macros over long paths.
// CELADON_PARSES sets their number.
func TestMadeUpExpressions(t *testing.T) {
	t.Parallel()
	total := uint64(1_500)
	if n, err := strconv.ParseUint(os.Getenv("CELADON_PARSES"), 10, 64); err == nil {
		total = n
	}
	d := nested()
	env := at(t, types.Newest, d)
	var c compared
	for seed := range total {
		c.compare(t, env, d, newMaker(seed).of("b", 1+int(seed%3)))
	}
	t.Logf("of %d, %d check, %d are known", total, c.all, c.known)
	if total >= 1000 && (c.all < int(total*9/10) || c.known < c.all/2) {
		t.Errorf("of %d, %d check, %d are known", total, c.all, c.known)
	}
}

// FuzzOf compares both estimates.
func FuzzOf(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(newMaker(seed).of("b", 1+int(seed%3)))
	}
	d := nested()
	env := at(f, types.Newest, d)
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) < 500 {
			(&compared{}).compare(t, env, d, src)
		}
	})
}

// BenchmarkOf compares the speed of both estimates for generated expressions.
func BenchmarkOf(b *testing.B) {
	d := nested()
	env := at(b, types.Newest, d)
	var all []*cel.Ast
	for seed := range uint64(300) {
		if checked, err := types.Check(env, newMaker(seed).of("b", 2)); err == nil {
			if _, ok := estimate.Of(checked.NativeRep(), declarationOf(d)); ok {
				all = append(all, checked)
			}
		}
	}
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			for _, checked := range all {
				estimate.Of(checked.NativeRep(), declarationOf(d))
			}
		}
	})
	b.Run("cel-go", func(b *testing.B) {
		for b.Loop() {
			for _, checked := range all {
				_, _ = checker.Cost(checked.NativeRep(), cost.Estimator(d), checker.PresenceTestHasCost(false))
			}
		}
	})
}

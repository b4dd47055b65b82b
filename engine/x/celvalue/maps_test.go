package celvalue_test

import (
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/schemas"
)

var objects = []string{
	`{}`,
	`{s: x}`,
	`{s: x, nl: null}`,
	`{s: x, nl: z, a-b: 1, a__b: 2, namespace: d, "9z": q}`,
	`{s: x, nl: z, a-b: 1, a__b: 2, namespace: d, "9z": r}`,
	`{a__dash__b: 3}`,
	`{nested: {x: 1, l: [1, 2.5]}, m: {a: 1, b: 2}, mn: {a: null, b: 1}, mm: {a: {b: c}}}`,
	`{nested: {x: 1, l: [2.5, 1]}, m: {b: 2, a: 1}, mn: {a: null, b: 1}, mm: {a: {b: d}}}`,
	`{m: {a-b: 1, a__b: 2, "": 3, "9": 4}}`,
	`{io: 5, u: {k: [1]}, nu: 3}`,
	`{io: "5", u: {k: [2]}, nu: 3.5}`,
	`{io: 5.5, u: 1}`,
	`{extra: 1, s: x}`,
	`{extra: 2, s: x}`,
	`{extra: [1], other: 1}`,
	`{e: {apiVersion: v1, kind: K, metadata: {name: a, labels: {b: c}}, spec: 1}}`,
	`{e: {apiVersion: v1, kind: K, metadata: {name: a, labels: {b: d}}, spec: 1}}`,
	`{by: YWJj, du: 1h, da: "2024-02-29", dt: "2024-02-29T01:02:03Z"}`,
	`{by: YWJk, du: 60m, da: "2024-03-01", dt: "2024-02-29T02:02:03+01:00"}`,
	`{by: "=", du: x, da: x, dt: x}`,
	`{s: 1, a-b: x, nested: [], m: [], nu: x}`,
	`{s: null, nested: null, m: null}`,
}

var objectExpressions = []string{
	`self == oldSelf`, `oldSelf == self`, `self != oldSelf`, `self == self`, `self in [oldSelf]`, `[self] == [oldSelf]`, `{'a': self} == {'a': oldSelf}`,
	`self.s`, `self.nl`, `self.a__dash__b`, `self.a__underscores__b`, `self.__namespace__`, `self.namespace`,
	`has(self.s)`, `has(self.nl)`, `has(self.a__dash__b)`, `has(self.a__underscores__b)`, `has(self.e.metadata.name)`,
	`self.nested.x + 1`, `self.nested.l[1]`, `self.nested.l[self.nested.x]`, `self.nested == oldSelf.nested`, `self.nested.l == oldSelf.nested.l`,
	`self.m['a']`, `self.m['zz']`, `self.m[?'a'].orValue(0)`, `'a' in self.m`, `'zz' in self.m`, `has(self.m.a)`, `size(self.m)`, `self.m == oldSelf.m`,
	`self.m == {'a': 1, 'b': 2}`, `{'a': 1, 'b': 2} == self.m`, `{'a': 1, 'b': 3} == self.m`, `self.m == {}`,
	`self.m.all(k, self.m[k] > 0)`, `self.m.all(k, v, v > 0 && k != '')`, `self.m.map(k, k).size()`, `self.m.exists(k, k == 'a-b')`, `self.m.transformMap(k, v, v + 1) == {'a': 2, 'b': 3}`,
	`self.mn['a']`, `self.mn['b']`, `'a' in self.mn`, `self.mn == oldSelf.mn`, `has(self.mn.a)`,
	`self.mm['a']['b']`, `self.mm == oldSelf.mm`, `self.mm.a.b.startsWith('c')`, `self.mm.exists(k, 'b' in self.mm[k])`,
	`self.io`, `self.io == 5`, `self.io == '5'`, `self.io > 3`, `type(self.io) == int ? self.io > 3 : self.io.startsWith('5')`, `self.io == oldSelf.io`, `self.io + 1`, `string(self.io)`,
	`self.e.kind`, `self.e.metadata.name`, `self.e == oldSelf.e`, `self.e.metadata == oldSelf.e.metadata`, `has(self.e.apiVersion)`,
	`self.by`, `self.by == b'abc'`, `self.by == oldSelf.by`, `size(self.by)`, `self.du`, `self.du == duration('1h')`, `self.du == oldSelf.du`, `self.du.getMinutes()`, `self.du + self.du`,
	`self.da`, `self.da < oldSelf.da`, `self.da.getMonth()`, `self.da == timestamp('2024-02-29T00:00:00Z')`, `self.dt == oldSelf.dt`, `self.dt - self.da`, `string(self.dt)`,
	`self.nu`, `self.nu == 3.0`, `self.nu > 3`, `self.nu + 0.5`, `self.nu == oldSelf.nu`, `int(self.nu)`,
	`type(self) == type(oldSelf)`, `type(self.m) == map`, `type(self.m)`, `type(self.nested.l) == list`, `type(self.nested)`, `dyn(self) == dyn(oldSelf.nested)`, `dyn(self) == dyn(1)`, `dyn(self.m) == dyn(self.nested)`, `dyn(self.m) == dyn([1])`,
	`dyn(self.nested).x`, `dyn(self.nested)['x']`, `dyn(self.nested).all(k, k in ['x', 'l'])`, `dyn(self).size()`, `dyn(self).all(k, k != 'zz')`, `dyn(self).exists(k, k == 'other')`, `dyn(self).map(k, k).size()`, `dyn(self).all(k, v, k != 'zz')`, `dyn(self).exists(k, v, k == 'other')`, `dyn(self).map(k, k != null, k).size()`, `dyn(self).transformList(k, v, k).size()`, `dyn(self.e.metadata).all(k, k == 'name')`, `dyn(self).all(k, type(k) == string)`, `dyn(self)[1]`, `dyn(self.m)[1]`, `'s' in dyn(self)`, `1 in dyn(self)`, `dyn(self.nested).nothing`,
	`optional.ofNonZeroValue(self.m).hasValue()`, `self.?s.orValue('none')`, `self.?nested.?x.orValue(7)`, `dyn(self)[?'s']`, `dyn(self.m).matches('x')`,
	`self.m.map(k, self.m[k]).sum()`, `self.m.map(k, k).isSorted()`,
}

func TestObjects(t *testing.T) {
	t.Parallel()
	p := newPlace(t, schemas.Objects, false)
	p.evaluateAll(t, objectExpressions, objects)
}

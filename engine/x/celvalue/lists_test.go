package celvalue_test

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/newest"
	"github.com/celadon-cel/celadon/internal/testing/schemas"
)

var listExpressions = []string{
	`self == oldSelf`,
	`self.at == oldSelf.at`, `self.at + oldSelf.at`, `self.at + self.at + oldSelf.at`, `self.at == ['b', 'a']`, `['b', 'a'] == self.at`, `self.at + ['x']`, `['x'] + self.at`,
	`'a' in self.at`, `'zz' in self.at`, `self.at[0]`, `self.at[5]`, `self.at[-1]`, `size(self.at)`, `self.at.size()`, `self.at.all(x, x != '')`, `self.at.exists_one(x, x == 'a')`,
	`self.at.map(x, x + '!')`, `self.at.filter(x, x > 'a')`, `self.at.join(',')`, `self.at.join()`, `self.at.isSorted()`, `self.at.max()`, `self.at.indexOf('b')`, `self.at.lastIndexOf('a')`,
	`self.at.sort()`, `self.at.distinct()`, `self.at.reverse()`, `self.at.slice(0, 1)`, `self.at.first()`, `self.at.last()`, `self.at[?3].orValue('none')`, `self.at.all(i, v, i < 3)`,
	`dyn(self.at)['x']`, `dyn(self.at)[1.0]`, `dyn(self.at) == dyn(oldSelf.set)`, `dyn(self.set) == dyn(oldSelf.at)`, `dyn(self.at) == dyn(1)`, `dyn(self.at) == dyn({'a': 1})`, `dyn(self.at) + dyn(1)`, `dyn(self.set) + dyn('x')`,
	`type(self.at) == list`, `type(self.set)`, `dyn(self.at).matches('x')`, `1 in dyn(self.at)`, `dyn(self.set) == dyn('x')`,
	`sets.contains(self.at, oldSelf.at)`, `sets.equivalent(self.set, oldSelf.set)`, `sets.intersects(self.set, ['a'])`,

	`self.set == oldSelf.set`, `self.set == ['b', 'a']`, `['b', 'a'] == self.set`, `['a', 'b'] == self.set`, `self.set + oldSelf.set`, `(self.set + oldSelf.set) == (oldSelf.set + self.set)`, `(self.set + oldSelf.set) + ['zz', 'a']`,
	`self.set + oldSelf.set == oldSelf.set`, `oldSelf.set == self.set + oldSelf.set`, `['x'] + self.set`, `(['x'] + self.set) + self.set`, `self.set + self.at`, `self.at + self.set`, `self.set + []`, `size(self.set + oldSelf.set)`, `'a' in (self.set + ['a'])`, `(self.set + ['q']).map(x, x)`, `(self.set + oldSelf.set)[0]`, `self.set.join(',')`, `(self.set + ['q']).join(',')`, `self.set + self.set + self.set == self.set`, `(self.set + ['q']) == ['q', 'a', 'b']`, `['q', 'a', 'b'] == (self.set + ['q'])`,
	`dyn(self.set + ['q']) == dyn(1)`, `dyn(self.set + ['q']) + dyn(1)`,
	`self.setn == oldSelf.setn`, `self.setn + [1.0]`, `self.setn == [2.5, 1.0]`, `dyn(self.setn) == dyn([1, 2])`, `dyn(self.setn) + dyn([1])`,
	`self.sety == oldSelf.sety`, `self.sety + [b'a']`, `self.sety == [b'b', b'a']`, `(self.sety + [b'a']) == (oldSelf.sety + [b'a'])`,
	`self.setnull == oldSelf.setnull`, `self.setnull + oldSelf.setnull`, `self.setio == oldSelf.setio`, `self.setio + oldSelf.setio`, `1 in self.setio`, `self.setio == [dyn(1), dyn('1')]`,
	`self.seto == oldSelf.seto`, `self.seto + oldSelf.seto`, `self.setl == oldSelf.setl`, `self.setl + oldSelf.setl`, `self.seto[0].a`, `self.setl == [['a']]`,

	`self.lo == oldSelf.lo`, `self.lo + oldSelf.lo`, `self.lo[0].k`, `self.lo[0] in oldSelf.lo`, `self.lo.exists(x, x.v > 1)`, `self.lo.map(x, x.k).join('')`, `self.lo.filter(x, has(x.v)).map(x, x.v).sum()`,
	`self.ll == oldSelf.ll`, `self.ll[0][1]`, `[1, 2] in self.ll`, `self.ll == [[1, 2]]`, `[[1, 2]] == self.ll`, `self.ll.map(x, x.sum())`, `self.ll.all(x, x.all(y, y > 0))`, `self.ll.flatten()`,
	`self.ln == oldSelf.ln`, `self.ln[0]`, `self.ln.map(x, dyn(x) == null)`, `self.li.sum()`, `self.li.max()`, `self.li + self.li`, `1 in self.li`, `dyn(1.0) in dyn(self.li)`, `dyn('x') in dyn(self.li)`, `self.li.map(x, x / (x - 1))`, `self.li.all(x, 1 / x > 0)`, `self.li.exists(x, 1 / x > 0)`,
	`self.lf.sum()`, `self.lf == [1.0]`, `self.lf.map(x, x * 2.0)`, `1.0 in self.lf`, `self.lby == oldSelf.lby`, `self.lby[0]`, `b'a' in self.lby`, `self.lby.map(x, size(x))`,
	`self.le == oldSelf.le`, `self.le[0].kind`, `self.le.map(x, x.metadata.name)`, `self.le[0] in oldSelf.le`,
}

var lists = []string{
	`{}`,
	`{at: [], set: [], setn: [], sety: [], lo: [], ll: [], ln: [], li: [], seto: [], setl: [], setnull: [], setio: []}`,
	`{at: [a, b], set: [a, b], setn: [1, 2.5], sety: [YQ==, Yg==], lo: [{k: a, v: 1}], ll: [[1, 2]], ln: [1, null], li: [1, 2], setnull: [a, null], setio: [1, "1"]}`,
	`{at: [b, a], set: [b, a], setn: [2.5, 1], sety: [Yg==, YQ==], lo: [{v: 1, k: a}], ll: [[2, 1]], ln: [null, 1], li: [2, 1], setnull: [null, a], setio: ["1", 1]}`,
	`{at: [a, b, a], set: [a, b, a], setn: [1, 1], sety: [YQ==, YQ==], lo: [{k: a}, {k: b, v: 2}], ll: [[1], [2, 3]], ln: [null], li: [0, 5], setio: [1, 1]}`,
	`{at: [a, b, b], set: [a, b, b], setio: [2, x]}`,
	`{at: [b, b, a], set: [b, c, d], seto: [{a: x}], setl: [[a]], lf: [1, 2]}`,
	`{at: [1], set: [1, a], setn: [x], sety: ["=", YQ==], lo: [x], ll: [x], li: [1.5], lf: [x], setio: [1.5, 1]}`,
	`{at: [a, 1], set: [a, a, 1], sety: [YQ==, "="], lo: [{k: 1}], ll: [[x]], ln: [x], setnull: [1], lby: ["="]}`,
	`{at: [null], set: [null, a], li: [null], lo: [null], ll: [null], setn: [null], setio: [null]}`,
	`{at: x, set: {a: b}, lo: 1, ll: {}, li: "1"}`,
	`{seto: [{a: x}, {a: "y"}], setl: [[a], [b]], lby: [YQ==, Yg==], le: [{apiVersion: v1, kind: K, metadata: {name: a}}]}`,
	`{seto: [{a: "y"}, {a: x}], setl: [[b], [a]], lby: [Yg==, YQ==], le: [{apiVersion: v1, kind: K, metadata: {name: a}, x: 1}]}`,
}

func TestLists(t *testing.T) {
	t.Parallel()
	newest.Skip(t)
	newPlace(t, schemas.Lists, false).evaluateAll(t, listExpressions, lists)
}

func TestMapLists(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	newest.Skip(t)
	expressions := []string{
		`self == oldSelf`, `oldSelf == self`, `self.l == oldSelf.l`, `self.l + oldSelf.l`, `oldSelf.l + self.l`, `(self.l + oldSelf.l) + self.l`, `self.l + oldSelf.l == oldSelf.l + self.l`,
		`self.l == self.l + oldSelf.l`, `self.l + oldSelf.l == oldSelf.l`, `(self.l + oldSelf.l).size()`, `(self.l + oldSelf.l)[0].v`, `(self.l + oldSelf.l).map(x, x.v)`,
		`self.l.filter(x, true) == oldSelf.l`, `self.l == oldSelf.l.filter(x, true)`, `self.l.filter(x, true) + oldSelf.l`, `self.l + oldSelf.l.filter(x, x.v > 1)`, `(self.l.filter(x, true) + oldSelf.l) == oldSelf.l`,
		`self.l[0] in oldSelf.l`, `self.l.all(x, x in oldSelf.l)`, `self.l.exists(x, x.v == 2)`, `self.l.all(x, oldSelf.l.exists(y, x == y))`, `self.l[1].v`, `self.l + [] == self.l`,
		`self.l == []`, `dyn(self.l) == dyn(['a'])`, `dyn(self.l) == dyn([{'k': dyn('a'), 'v': dyn(1)}])`, `dyn(self.l) + dyn([{'k': dyn('a'), 'v': dyn(7)}])`, `dyn([{'k': dyn('a'), 'v': dyn(7)}]) + dyn(self.l)`, `dyn(self.l) == dyn('x')`, `dyn(self.l) + dyn('x')`, `dyn(self.l + oldSelf.l) + dyn('x')`, `dyn(self.l + oldSelf.l) == dyn('x')`,
		`dyn(self.l + oldSelf.l) == dyn([{'k': dyn('a'), 'v': dyn(1)}])`, `dyn(self.l + oldSelf.l) + dyn([dyn({'k': dyn('a'), 'v': dyn(7)}), dyn('x')])`, `dyn([{'k': dyn('a'), 'v': dyn(1)}]) == dyn(self.l)`,
	}
	items := []string{
		`[]`,
		`[{K: a, v: 1}]`,
		`[{K: a, v: 1}, {K: b, v: 2}]`,
		`[{K: b, v: 2}, {K: a, v: 1}]`,
		`[{K: b, v: 2}, {K: a, v: 3}]`,
		`[{K: a, v: 1}, {K: a, v: 1}]`,
		`[{K: a, v: 1}, {K: a, v: 2}]`,
		`[{K: a, v: 2}, {K: a, v: 1}]`,
		`[{K: b, v: 2}, {K: b, v: 2}]`,
		`[{v: 1}, {K: b}]`,
		`[{v: 1}]`,
		`[{K: null, v: 1}]`,
		`[x, {K: a, v: 1}]`,
		`[null]`,
		`[{K: 5, v: 1}, {K: 1.5, v: 2}]`,
		`[{K: {x: 1}, v: 1}]`,
		`[{K: [1], v: 1}, {K: b, v: 2}]`,
		`[{K: a, v: 1, extra: 1}, {K: b, v: x}]`,
		`[{K: a, v: 1, extra: 2}, {K: b, v: x}]`,
		`x`,
	}
	schemas := []struct{ name, keys, props, entry string }{
		{"one", `[k]`, `k: {type: string}`, `k: `},
		{"one int", `[k]`, `k: {type: integer}`, `k: `},
		{"one bytes", `[k]`, `k: {type: string, format: byte}`, `k: `},
		{"one duration", `[k]`, `k: {type: string, format: duration}`, `k: `},
		{"one number", `[k]`, `k: {type: number}`, `k: `},
		{"one int-or-string", `[k]`, `k: {x-kubernetes-int-or-string: true}`, `k: `},
		{"two", `[k, k2]`, `k: {type: string}, k2: {type: integer}`, `k2: 1, k: `},
		{"three", `[k, k2, k3]`, `k: {type: string}, k2: {type: integer}, k3: {type: boolean, default: true}`, `k2: 1, k3: true, k: `},
		{"four", `[k, k2, k3, k4]`, `k: {type: string}, k2: {type: integer}, k3: {type: boolean}, k4: {type: string}`, `k2: 1, k3: true, k4: '"', k: `},
		{"escaped", `[k-x]`, `k-x: {type: string}, k: {type: string}`, `k-x: `},
		{"escaped of two", `[k/x, k]`, `k/x: {type: string}, k: {type: string}`, `k/x: c, k: `},
		{"keyword", `[namespace]`, `namespace: {type: string}, k: {type: string}`, `namespace: `},
		{"without identifier", `["9"]`, `"9": {type: string}, k: {type: string}`, `"9": `},
		{"no such key", `[q]`, `k: {type: string}`, `k: `},
		{"no keys", `[]`, `k: {type: string}`, `k: `},
	}
	for _, s := range schemas {
		text := `{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: ` + s.keys +
			`, items: {type: object, properties: {` + s.props + `, v: {type: integer}}}}}}`
		var values []string
		for _, item := range items {
			values = append(values, `{l: `+strings.ReplaceAll(item, `K: `, s.entry)+`}`)
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			newPlace(t, text, false).evaluateAll(t, expressions, values)
		})
	}
}

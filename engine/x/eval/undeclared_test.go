package eval

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"

	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/types"
)

const unnamedSchema = `
type: object
x-kubernetes-preserve-unknown-fields: true
properties:
  b: {type: integer}
  c: {type: integer}
  a-b: {type: string}
  n: {type: string, nullable: true}
  hidden: {x-kubernetes-preserve-unknown-fields: true}
  free: {type: object, x-kubernetes-preserve-unknown-fields: true}
  map: {type: object, additionalProperties: {type: integer}}
  list: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {k: {type: string}}}}
  keyed: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {k: {type: string}}}}
  objects: {type: object, additionalProperties: {type: object, properties: {k: {type: string}}}}
  embedded: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, properties: {spec: {type: object, properties: {q: {type: string}}}}}
  nested: {type: object, properties: {in: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {k: {type: string}}}}}
`

var unnamedValues = []string{
	`{}`, `{b: 1}`, `{b: 1, c: 2}`, `{u: 3}`, `{u: 3, w: 4}`,
	`{b: 1, c: 2, u: 3}`, `{b: 1, c: 2, u: 3, w: 4}`, `{b: x, u: {v: [1]}}`, `{a-b: x, "n": null, u: null}`,
	`{b: 1, hidden: {u: 1}, free: {u: 1, w: 2}, map: {a: 1, b: 2}}`,
	`{list: [{k: a}, {k: b, u: 1}, {u: 1, w: 2}], keyed: [{k: a, u: 1}, {k: b, w: 2}]}`,
	`{objects: {a: {k: x, u: 1}, b: {k: y}, c: {}}}`,
	`{embedded: {apiVersion: v1, kind: K, metadata: {name: a, namespace: d, labels: {x: y}}, spec: {q: x, u: 1}, u: 1}}`,
	`{nested: {in: {k: a, u: 1, w: 2}, u: 1}}`,
}

// unnamedMacros holds every form of macro over MAP, and all other operations that iterate over
// keys.
var unnamedMacros = []string{
	`MAP.all(k, k != 'x')`, `MAP.all(k, k == 'b')`, `MAP.all(k, type(k) == string)`, `MAP.all(k, k == null)`, `MAP.all(k, k in ['b', 'c'])`, `MAP.all(k, k.size() > 0)`, `MAP.all(k, k < 'x')`,
	`MAP.exists(k, k == 'b')`, `MAP.exists(k, k == null)`, `MAP.exists(k, k != 'b')`, `MAP.exists(k, k.startsWith('w'))`, `MAP.exists(k, k > 3)`, `MAP.exists(k, MAP[k] == 1)`,
	`MAP.exists_one(k, k == null)`, `MAP.exists_one(k, k == 'b')`, `MAP.exists_one(k, k.size() == 1)`, `MAP.existsOne(k, v, k == null)`, `MAP.exists_one(k, v, v == 1)`,
	`MAP.filter(k, k != 'b')`, `MAP.filter(k, k == null)`, `MAP.filter(k, k.size() == 1)`, `MAP.filter(k, true).size()`, `MAP.filter(k, k in MAP)`,
	`MAP.map(k, k)`, `MAP.map(k, k).size()`, `MAP.map(k, [k])`, `MAP.map(k, {'k': k})`, `MAP.map(k, k != null, k)`, `MAP.map(k, MAP[k])`, `MAP.map(k, type(k))`, `MAP.map(k, string(k))`, `MAP.map(k, k == null, 1)`, `MAP.map(k, k + 'x')`, `MAP.map(k, optional.of(k))`, `MAP.map(k, MAP[?k])`, `MAP.map(k, k)[0]`,
	`MAP.map(k, k.x)`, `MAP.map(k, k[0])`, `MAP.map(k, has(k.x))`, `MAP.map(k, k.?x)`, `MAP.map(k, dyn(k))`, `MAP.map(k, -k)`, `MAP.map(k, k ? 1 : 2)`, `MAP.map(k, !k)`, `MAP.map(k, k && true)`, `MAP.map(k, k.all(x, true))`, `MAP.map(k, k.all(x, y, true))`, `MAP.map(k, k == MAP)`,
	`MAP.all(k, v, k != 'x')`, `MAP.all(k, v, v != 1)`, `MAP.all(k, v, k == null || v == 1)`, `MAP.all(k, v, k != null)`, `MAP.exists(k, v, v == 1)`, `MAP.exists(k, v, k == null)`, `MAP.exists(k, v, k == 'b' && v == 1)`,
	`MAP.transformList(k, v, k)`, `MAP.transformList(k, v, v)`, `MAP.transformList(k, v, k != null, v)`, `MAP.transformList(k, v, k == null, k)`, `MAP.transformList(k, v, [k, k])`,
	`MAP.transformMap(k, v, k)`, `MAP.transformMap(k, v, 1).size()`, `MAP.transformMap(k, v, v)`, `MAP.transformMap(k, v, k != null, v)`, `MAP.transformMap(k, v, k == null, 1)`,
	`MAP.transformMapEntry(k, v, {k: 1})`, `MAP.transformMapEntry(k, v, {'x': k})`, `MAP.transformMapEntry(k, v, k != null, {k: v})`, `MAP.transformMapEntry(k, v, {string(v): k})`,
	`['x'].map(x, MAP).map(m, m.map(k, k))`, `[MAP].all(m, m.all(k, k != 'x'))`, `[MAP].map(m, m.size())`, `[MAP].exists(m, m.exists(k, k == null))`, `{'m': MAP}.m.map(k, k)`, `optional.of(MAP).value().map(k, k)`, `MAP.map(k, MAP.map(j, j))`, `[MAP][0].filter(k, true)`, `(true ? MAP : dyn(1)).map(k, k)`,
	`MAP.size()`, `size(MAP)`, `'b' in MAP`, `'u' in MAP`, `null in MAP`, `1 in MAP`, `MAP['b']`, `MAP['u']`, `MAP[null]`, `MAP[1]`, `MAP.b`, `MAP.u`, `has(MAP.b)`, `has(MAP.u)`, `MAP[?'b']`, `MAP[?'u']`, `MAP.?b`, `MAP.?u`, `MAP[?null]`,
	`MAP == MAP`, `MAP != MAP`, `MAP == dyn(oldSelf)`, `dyn(oldSelf) == MAP`, `MAP == dyn({})`, `dyn({}) == MAP`, `MAP == dyn({'b': 1})`, `dyn({'b': 1}) == MAP`, `MAP in [MAP]`, `[MAP] == [MAP]`, `{'m': MAP} == {'m': MAP}`, `MAP == dyn(1)`, `MAP == dyn(null)`, `type(MAP)`, `[MAP, MAP].distinct().size()`, `sets.contains([MAP], [MAP])`,
	`'%s'.format([MAP])`, `'%s'.format([[MAP]])`, `'%s'.format([{'m': MAP}])`, `'%s %d'.format([MAP, 1])`, `'%s'.format([MAP.map(k, k)])`, `'%s'.format([MAP.transformList(k, v, k)])`, `'%d'.format([MAP])`, `'%s'.format([{dyn(null): 1}])`, `'%s%s'.format([{dyn(null): 1}, MAP])`,
	`['x'].transformMapEntry(i, v, MAP).size()`, `['x'].transformMapEntry(i, v, MAP).all(k, v, k != null)`, `['x'].transformMapEntry(i, v, MAP).transformList(k, v, k)`, `['x', 'y'].transformMapEntry(i, v, MAP).size()`, `['x'].transformMapEntry(i, v, MAP).map(k, k)`,
	`optional.ofNonZeroValue(MAP).hasValue()`, `string(MAP)`, `MAP + MAP`, `MAP < MAP`, `MAP.matches('x')`, `[MAP].sort()`, `[1].sortBy(x, MAP)`, `[MAP].flatten()`, `[?optional.of(MAP)]`, `google.protobuf.Struct{fields: MAP}`, `google.protobuf.Value{struct_value: MAP}`,
}

var unnamedMaps = []string{
	`dyn(self)`, `dyn(self.free)`, `dyn(self.map)`, `dyn(self.list[1])`, `dyn(self.list[2])`, `dyn(self.keyed[0])`, `dyn(self.objects.a)`, `dyn(self.objects)`,
	`dyn(self.embedded)`, `dyn(self.embedded.metadata)`, `dyn(self.embedded.spec)`, `dyn(self.nested)`, `dyn(self.nested.in)`, `dyn(self).nested.in`, `dyn(self).hidden`, `dyn(oldSelf)`,
}

// TestUnnamedFields iterates over fields without a name in CEL, which occur in objects under dyn,
// in every way that CEL has. It compares the outcome with cel-go on upstream's own values.
func TestUnnamedFields(t *testing.T) {
	t.Parallel()
	decl := declare(t, unnamedSchema)
	env := environment(t, decl, false)
	vals := make([]any, len(unnamedValues))
	for i, text := range unnamedValues {
		vals[i] = decode(t, text)
	}
	for _, macro := range unnamedMacros {
		t.Run(macro, func(t *testing.T) {
			t.Parallel()
			for _, over := range unnamedMaps {
				src := strings.ReplaceAll(macro, "MAP", over)
				s := compiles(t, env, decl, src)
				if s == nil {
					continue // not an expression
				}
				for i, self := range vals {
					if diff := s.againstServer(t, self, vals[(i+1)%len(vals)], noLimit); diff != "" {
						t.Errorf("%s\nself = %v\n%s", src, self, diff)
					}
				}
			}
		})
	}
}

// againstServer compares with cel-go on upstream's own values, which iterate over fields in random
// order: Celadon's outcome must be among cel-go's. Because some orders are too rare, cel-go also
// evaluates Celadon's values, in Celadon's order.
func (s *subject) againstServer(t *testing.T, self, old any, limit uint64) string {
	t.Helper()
	theirs, err := s.env.Program(s.ast, cel.CostLimit(limit), cel.CostTracking(celcost.Estimator(s.decl)), cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		t.Fatal(err)
	}
	ours := *s.ours
	ours.limit = limit
	got := show(ours.Eval(context.Background(), BindOld(s.decl, self, old)))
	want, seen := "", map[string]bool{}
	for range 100 {
		structural := s.decl.Schema
		if s.decl.Root {
			structural = model.WithTypeAndObjectMeta(structural)
		}
		self, old := shuffled(self), shuffled(old)
		vars := map[string]any{types.Self: upstreamcel.UnstructuredToVal(self, structural)}
		if old != nil { // the server binds oldSelf only if there is an old value
			vars[types.OldSelf] = upstreamcel.UnstructuredToVal(old, structural)
		}
		v, details, err := theirs.Eval(vars)
		out := Outcome{Err: err, Cost: *details.ActualCost(), Stopped: isStop(err)}
		if err == nil {
			out.Value = v
		}
		want = show(out)
		want = strings.ReplaceAll(want, "nil: ", "null_type(NULL_VALUE): ")
		if got == want || unordered(got) == unordered(want) {
			return ""
		}
		seen[want] = true
	}
	if len(seen) > 1 {
		diff, _ := s.difference(func() *Activation { return BindOld(s.decl, self, old) }, int64(limit))
		return diff
	}
	return fmt.Sprintf("got  %s\nwant %s", got, want)
}

// shuffled copies v and fills all maps in random order. This is necessary because a Go map keeps
// its order, apart from the start, and a small map has the order of insertion.
func shuffled(v any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Collect(maps.Keys(v))
		rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		anew := make(map[string]any, len(v))
		for _, key := range keys {
			anew[key] = shuffled(v[key])
		}
		return anew
	case []any:
		anew := make([]any, len(v))
		for i := range v {
			anew[i] = shuffled(v[i])
		}
		return anew
	}
	return v
}

func unordered(text string) string {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[]{}, ", r) })
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

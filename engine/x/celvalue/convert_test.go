package celvalue_test

import (
	"fmt"
	"reflect"
	"testing"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/internal/testing/newest"
	"github.com/celadon-cel/celadon/internal/testing/schemas"
	"github.com/celadon-cel/celadon/types"
)

var conversionPlaces = []struct{ schema, value string }{
	{`{type: object, properties: {a: {type: string}, a-b: {type: integer}, n: {type: string, nullable: true}}}`, `{a: x, a-b: 1, "n": null, extra: 2}`},
	{`{type: object, additionalProperties: {type: string, nullable: true}}`, `{a: x, a-b: "y", "n": null}`},
	{`{type: object}`, `{a: x}`},
	{`{type: object, properties: {a: {type: string}}, additionalProperties: {type: integer}}`, `{a: x, b: 1}`},
	{`{type: array, items: {type: string}}`, `[a, b]`},
	{`{type: array, items: {type: string}}`, `[a, 1]`},
	{`{type: array, items: {type: string}}`, `[]`},
	{`{type: array, items: {type: integer}}`, `[1, 2]`},
	{`{type: array, items: {x-kubernetes-int-or-string: true}}`, `[1, "2"]`},
	{`{type: array, items: {type: string, format: byte}}`, `[YQ==]`},
	{`{type: array, x-kubernetes-list-type: set, items: {type: string}}`, `[a, b]`},
	{`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}}}}`, `[{k: a}]`},
	{`{x-kubernetes-preserve-unknown-fields: true}`, `{a: [1]}`},
}

func TestConversions(t *testing.T) {
	t.Parallel()
	newest.Skip(t)
	for _, p := range conversionPlaces {
		s := schemas.Structural(t, p.schema)
		v := schemas.Value(t, p.value)
		ours, theirs := celvalue.New(v, types.FromSchema(s, types.Subtree)), upstreamValue(v, s, false)
		if !reflect.DeepEqual(ours.Value(), theirs.Value()) || ours.Type() != theirs.Type() {
			t.Errorf("%s: got %v of %v, want %v of %v", p.value, ours.Value(), ours.Type(), theirs.Value(), theirs.Type())
		}
		sum, theirSum := ours, theirs
		if l, ok := ours.(traits.Adder); ok {
			sum, theirSum = l.Add(ours), theirs.(traits.Adder).Add(theirs)
		}
		for _, pair := range [][2]ref.Val{{ours, theirs}, {sum, theirSum}} {
			if got, want := celvalue.GoType(pair[0]), fmt.Sprintf("%T", pair[1]); got != want {
				t.Errorf("%s: got %s, want %s", p.value, got, want)
			}
		}
		for _, to := range []reflect.Type{reflect.TypeFor[map[string]any](), reflect.TypeFor[[]any](), reflect.TypeFor[[]string](), reflect.TypeFor[string](), reflect.TypeFor[int]()} {
			got, gotErr := ours.ConvertToNative(to)
			want, wantErr := theirs.ConvertToNative(to)
			if !reflect.DeepEqual(got, want) || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Errorf("%s of %s to %v: got %v, %v, want %v, %v", p.value, p.schema, to, got, gotErr, want, wantErr)
			}
		}
		for _, to := range []ref.Type{celtypes.MapType, celtypes.ListType, celtypes.TypeType, celtypes.StringType, celtypes.IntType} {
			got, want := ours.ConvertToType(to), theirs.ConvertToType(to)
			if words(got) != words(want) {
				t.Errorf("%s of %s to %v: got %s, want %s", p.value, p.schema, to, words(got), words(want))
			}
		}
	}
}

func TestAccess(t *testing.T) {
	t.Parallel()
	keys := []ref.Val{
		celtypes.String("a"), celtypes.String("a__dash__b"), celtypes.String("a-b"), celtypes.String("n"), celtypes.String("extra"), celtypes.String("b"),
		celtypes.String("a__x__b"), celtypes.String(""), celtypes.Int(0), celtypes.Int(2), celtypes.Int(-1), celtypes.Double(0), celtypes.Uint(0), celtypes.True,
		celtypes.NullValue, celtypes.NewErr("bad key"),
	}
	for _, p := range conversionPlaces {
		s := schemas.Structural(t, p.schema)
		v := schemas.Value(t, p.value)
		ours, theirs := celvalue.New(v, types.FromSchema(s, types.Subtree)), upstreamValue(v, s, false)
		for _, pair := range [][2]ref.Val{{ours, theirs}, {iterator(ours), iterator(theirs)}} {
			for _, key := range keys {
				for name, access := range map[string]func(v, key ref.Val) string{"find": find, "get": get, "contains": contains, "equal": equal, "add": add} {
					if got, want := access(pair[0], key), access(pair[1], key); got != want {
						t.Errorf("%s: %s %v: got %s, want %s", p.value, name, key, got, want)
					}
				}
			}
		}
	}
}

func iterator(v ref.Val) ref.Val {
	if v, ok := v.(traits.Iterable); ok {
		return v.Iterator()
	}
	return v
}

func find(v, key ref.Val) string {
	m, ok := v.(traits.Mapper)
	if !ok {
		return "no map"
	}
	found, ok := m.Find(key)
	return fmt.Sprintf("%s %t", words(found), ok)
}

func get(v, key ref.Val) string {
	if v, ok := v.(traits.Indexer); ok {
		return words(v.Get(key))
	}
	return "no indexer"
}

func contains(v, key ref.Val) string {
	if v, ok := v.(traits.Container); ok {
		return words(v.Contains(key))
	}
	return "no container"
}

func equal(v, key ref.Val) string {
	if _, ok := key.(*celtypes.Err); ok {
		return "not asked"
	}
	return words(v.Equal(key))
}

func add(v, key ref.Val) string {
	if v, ok := v.(traits.Adder); ok {
		return words(v.Add(key))
	}
	return "no adder"
}

// TestSortedKeys documents the intended difference from upstream: keys are sorted, and fields without a name come last,
// as null instead of a Go nil.
func TestSortedKeys(t *testing.T) {
	t.Parallel()
	d := types.FromSchema(schemas.Structural(t, `{type: object, properties: {z: {type: string}, a-b: {type: string}, namespace: {type: string}, "9": {type: string}}}`), types.Subtree)
	v := celvalue.New(schemas.Value(t, `{z: a, a-b: a, namespace: a, "9": a, extra: a, b: a}`), d)
	for range 20 {
		var got []string
		for it := v.(traits.Iterable).Iterator(); it.HasNext() == celtypes.True; {
			got = append(got, fmt.Sprint(it.Next().Value()))
		}
		if want := "[9 __namespace__ a__dash__b z NULL_VALUE NULL_VALUE]"; fmt.Sprint(got) != want {
			t.Fatalf("got %v, want %s", got, want)
		}
	}
}

// TestRootValues compares whole resources, including metadata that the schema does not declare.
func TestRootValues(t *testing.T) {
	t.Parallel()
	p := newPlace(t, `{type: object, properties: {spec: {type: object, properties: {a: {type: string}}}, metadata: {type: object, properties: {labels: {type: string}}}}}`, true)
	p.evaluateAll(t, []string{
		`self == oldSelf`, `self.metadata == oldSelf.metadata`, `self.metadata.name`, `self.kind + self.apiVersion`, `has(self.metadata.generateName)`,
		`dyn(self.metadata).all(k, k == 'name')`, `dyn(self).map(k, k).size()`, `dyn(self.metadata).labels`, `'labels' in dyn(self.metadata)`,
	}, []string{
		`{}`, `{metadata: {}}`,
		`{apiVersion: g/v1, kind: K, metadata: {name: a, labels: {x: b}}, spec: {a: x}}`,
		`{apiVersion: g/v1, kind: K, metadata: {name: a, labels: {x: c}}, spec: {a: x}}`,
		`{apiVersion: g/v1, kind: K, metadata: {name: a, uid: "1", generateName: q}, spec: {a: x}}`,
		`{apiVersion: g/v1, kind: K, metadata: {name: a, generation: 1, generateName: q}, spec: {a: x}}`,
		`{apiVersion: 1, kind: null, metadata: x}`,
	})
}

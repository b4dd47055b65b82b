package types_test

import (
	"testing"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/newest"
	"github.com/celadon-cel/celadon/internal/testing/schemas"
	"github.com/celadon-cel/celadon/types"
)

const (
	request = 3 * 1024 * 1024 // the API server's request limit
	anyText = request - 2     // without the quotes
)

func TestFromSchema(t *testing.T) {
	t.Parallel()
	newest.Skip(t)
	tests := []struct {
		name, schema string
		root         bool
		kind         types.Kind
		text         string // as String returns it
		max          types.Bound
		minSize      int64
	}{
		{name: "boolean", schema: `{type: boolean}`, kind: types.Bool, text: "boolean", minSize: 4},
		{name: "integer", schema: `{type: integer}`, kind: types.Int, text: "integer", minSize: 1},
		{name: "integer, int32", schema: `{type: integer, format: int32}`, kind: types.Int, text: "integer", minSize: 1},
		{name: "number", schema: `{type: number}`, kind: types.Double, text: "number", minSize: 1},
		{name: "string", schema: `{type: string}`, kind: types.String, text: "string",
			max: types.Bound{Max: anyText, Source: types.Assumed}, minSize: 2},
		{name: "string, length", schema: `{type: string, maxLength: 10}`, kind: types.String, text: "string",
			max: types.Bound{Max: 40, Source: types.Declared}, minSize: 2},
		{name: "string, negative length", schema: `{type: string, maxLength: -3}`, kind: types.String, text: "string",
			max: types.Bound{Max: 0, Source: types.Declared}, minSize: 2},
		{name: "enum", schema: `{type: string, enum: [a, abcde, "", bcé]}`, kind: types.String, text: "string",
			max: types.Bound{Max: 5, Source: types.Enumerated}, minSize: 2},
		{name: "enum of numbers", schema: `{type: string, enum: [1, 2]}`, kind: types.String, text: "string",
			max: types.Bound{Max: 0, Source: types.Enumerated}, minSize: 2},
		{name: "enum and length", schema: `{type: string, enum: [abc], maxLength: 2}`, kind: types.String, text: "string",
			max: types.Bound{Max: 8, Source: types.Declared}, minSize: 2},
		{name: "byte", schema: `{type: string, format: byte}`, kind: types.Bytes, text: "bytes",
			max: types.Bound{Max: anyText, Source: types.Assumed}, minSize: 2},
		{name: "byte, length", schema: `{type: string, format: byte, maxLength: 10}`, kind: types.Bytes, text: "bytes",
			max: types.Bound{Max: 10, Source: types.Declared}, minSize: 2},
		{name: "byte, enum", schema: `{type: string, format: byte, enum: [YQ==]}`, kind: types.Bytes, text: "bytes",
			max: types.Bound{Max: anyText, Source: types.Assumed}, minSize: 2},
		{name: "duration", schema: `{type: string, format: duration}`, kind: types.Duration, text: "duration",
			max: types.Bound{Max: 32, Source: types.Formatted}, minSize: 3},
		{name: "duration, length", schema: `{type: string, format: duration, maxLength: 3}`, kind: types.Duration, text: "duration",
			max: types.Bound{Max: 32, Source: types.Formatted}, minSize: 3},
		{name: "date", schema: `{type: string, format: date}`, kind: types.Date, text: "date",
			max: types.Bound{Max: 12, Source: types.Formatted}, minSize: 12},
		{name: "date-time", schema: `{type: string, format: date-time}`, kind: types.Timestamp, text: "date-time",
			max: types.Bound{Max: 32, Source: types.Formatted}, minSize: 21},
		{name: "other format", schema: `{type: string, format: ipv4}`, kind: types.String, text: "string",
			max: types.Bound{Max: anyText, Source: types.Assumed}, minSize: 2},
		{name: "format without type string", schema: `{type: integer, format: date}`, kind: types.Int, text: "integer", minSize: 1},

		{name: "int-or-string", schema: `{x-kubernetes-int-or-string: true}`, kind: types.IntOrString, text: "int-or-string",
			max: types.Bound{Max: anyText, Source: types.Assumed}, minSize: 1},
		{name: "int-or-string, length", schema: `{x-kubernetes-int-or-string: true, maxLength: 5}`, kind: types.IntOrString, text: "int-or-string",
			max: types.Bound{Max: 20, Source: types.Declared}, minSize: 1},
		{name: "int-or-string, format and enum", schema: `{x-kubernetes-int-or-string: true, format: date, enum: [abc]}`, kind: types.IntOrString, text: "int-or-string",
			max: types.Bound{Max: anyText, Source: types.Assumed}, minSize: 1},
		{name: "int-or-string, format byte and length", schema: `{x-kubernetes-int-or-string: true, format: byte, maxLength: 2}`, kind: types.IntOrString, text: "int-or-string",
			max: types.Bound{Max: 8, Source: types.Declared}, minSize: 1},
		{name: "int-or-string that is a root", schema: `{x-kubernetes-int-or-string: true}`, root: true, kind: types.IntOrString, text: "int-or-string",
			max: types.Bound{Max: anyText, Source: types.Assumed}, minSize: 1},

		{name: "list", schema: `{type: array, items: {type: string}}`, kind: types.List, text: "list of string",
			max: types.Bound{Max: (request - 2) / 3, Source: types.Assumed}, minSize: 2},
		{name: "list, length", schema: `{type: array, maxItems: 7, items: {type: integer}}`, kind: types.List, text: "list of integer",
			max: types.Bound{Max: 7, Source: types.Declared}, minSize: 2},
		{name: "list, negative length", schema: `{type: array, maxItems: -1, items: {type: integer}}`, kind: types.List, text: "list of integer",
			max: types.Bound{Max: 0, Source: types.Declared}, minSize: 2},
		{name: "list of lists", schema: `{type: array, items: {type: array, items: {type: boolean}}}`, kind: types.List, text: "list of list of boolean",
			max: types.Bound{Max: (request - 2) / 3, Source: types.Assumed}, minSize: 2},
		{name: "atomic list", schema: `{type: array, x-kubernetes-list-type: atomic, items: {type: string}}`, kind: types.List, text: "list of string",
			max: types.Bound{Max: (request - 2) / 3, Source: types.Assumed}, minSize: 2},
		{name: "set", schema: `{type: array, x-kubernetes-list-type: set, items: {type: string}}`, kind: types.List, text: "set of string",
			max: types.Bound{Max: (request - 2) / 3, Source: types.Assumed}, minSize: 2},
		{name: "map list", schema: `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}}}}`,
			kind: types.List, text: "list-map of object", max: types.Bound{Max: (request - 2) / 10, Source: types.Assumed}, minSize: 2},
		{name: "list without items", schema: `{type: array}`, kind: types.Hidden, text: "hidden", minSize: 2},
		{name: "list of the unknown", schema: `{type: array, items: {x-kubernetes-preserve-unknown-fields: true}}`, kind: types.Hidden, text: "hidden", minSize: 2},

		{name: "map", schema: `{type: object, additionalProperties: {type: string}}`, kind: types.Map, text: "map of string",
			max: types.Bound{Max: (request - 2) / 8, Source: types.Assumed}, minSize: 2},
		{name: "map, size", schema: `{type: object, maxProperties: 9, additionalProperties: {type: string}}`, kind: types.Map, text: "map of string",
			max: types.Bound{Max: 9, Source: types.Declared}, minSize: 2},
		{name: "map, negative size", schema: `{type: object, maxProperties: -9, additionalProperties: {type: string}}`, kind: types.Map, text: "map of string",
			max: types.Bound{Max: 0, Source: types.Declared}, minSize: 2},
		{name: "map of the unknown", schema: `{type: object, additionalProperties: {x-kubernetes-preserve-unknown-fields: true}}`, kind: types.Hidden, text: "hidden", minSize: 2},
		{name: "map of any", schema: `{type: object, additionalProperties: true}`, kind: types.Object, text: "object", minSize: 2},
		{name: "map of objects", schema: `{type: object, additionalProperties: {type: object, required: [a], properties: {a: {type: boolean}}}}`, kind: types.Map, text: "map of object",
			max: types.Bound{Max: (request - 2) / 17, Source: types.Assumed}, minSize: 2},

		{name: "empty object", schema: `{type: object}`, kind: types.Object, text: "object", minSize: 2},
		{name: "object", schema: `{type: object, required: [a, b, zz], properties: {a: {type: string}, b: {type: boolean}, c: {type: string}}}`,
			kind: types.Object, text: "object", minSize: 2 + (1 + 2 + 4) + (1 + 4 + 4)},
		{name: "required with a default", schema: `{type: object, required: [a], properties: {a: {type: string, default: x}}}`,
			kind: types.Object, text: "object", minSize: 2},
		{name: "required with a null default", schema: `{type: object, required: [a], properties: {a: {type: string, nullable: true, default: null}}}`,
			kind: types.Object, text: "object", minSize: 2 + 7},
		{name: "required and hidden", schema: `{type: object, required: [a], properties: {a: {x-kubernetes-preserve-unknown-fields: true}}}`,
			kind: types.Object, text: "object", minSize: 2},
		{name: "required without identifier", schema: `{type: object, required: ["9é"], properties: {"9é": {type: string}}}`,
			kind: types.Object, text: "object", minSize: 2 + 3 + 2 + 4},
		{name: "required and escaped", schema: `{type: object, required: ["a-b"], properties: {"a-b": {type: string}}}`,
			kind: types.Object, text: "object", minSize: 2 + 3 + 2 + 4},
		{name: "object that keeps unknown fields", schema: `{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}`,
			kind: types.Object, text: "object", minSize: 2},
		{name: "root", schema: `{type: object, properties: {spec: {type: object}}}`, root: true, kind: types.Object, text: "object", minSize: 2},
		{name: "embedded resource", schema: `{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}`,
			root: true, kind: types.Object, text: "object", minSize: 2},

		{name: "unknown", schema: `{x-kubernetes-preserve-unknown-fields: true}`, kind: types.Hidden, text: "hidden"},
		{name: "no type", schema: `{}`, kind: types.Hidden, text: "hidden"},
		{name: "no type at the root", schema: `{}`, root: true, kind: types.Hidden, text: "hidden"},
		{name: "nullable", schema: `{type: integer, nullable: true}`, kind: types.Int, text: "integer", minSize: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := schemas.Structural(t, tt.schema)
			d := types.FromSchema(s, placeOf(tt.root))
			if d.Kind != tt.kind || d.String() != tt.text {
				t.Errorf("got %v (%s), want %v (%s)", d.Kind, d, tt.kind, tt.text)
			}
			if d.Max != tt.max {
				t.Errorf("bound: got %+v, want %+v", d.Max, tt.max)
			}
			if d.MinSize != tt.minSize {
				t.Errorf("minimum size: got %d, want %d", d.MinSize, tt.minSize)
			}
			if d.Nullable != s.Nullable || d.Root != tt.root {
				t.Errorf("got nullable %t root %t", d.Nullable, d.Root)
			}
			for _, diff := range diffTypes("self", celenv.DeclType(d, "selfType"), upstreamType(s, tt.root)) {
				t.Error(diff)
			}
		})
	}
}

func TestFromSchemaNil(t *testing.T) {
	t.Parallel()
	if d := types.FromSchema(nil, types.Subtree); d != nil {
		t.Errorf("got %v, want nil", d)
	}
}

func FuzzFromSchema(f *testing.F) {
	newest.Skip(f)
	for _, seed := range []string{
		`{type: object, properties: {a: {type: array, items: {type: string}}}}`,
		`{type: object, properties: {a: {type: string}}, additionalProperties: {type: integer}}`,
		`{type: array, x-kubernetes-list-type: other, items: {x-kubernetes-embedded-resource: true}}`,
		`{x-kubernetes-int-or-string: true, properties: {a: {type: object}}}`,
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, root bool) {
		s := schemas.Parse(text)
		if s == nil {
			t.Skip("no structural schema: there is nothing to declare")
		}
		d := types.FromSchema(s, placeOf(root))
		for _, diff := range diffTypes("self", celenv.DeclType(d, "selfType"), upstreamType(s, root)) {
			t.Error(diff)
		}
	})
}

func BenchmarkFromSchema(b *testing.B) {
	const node = `{type: object, properties: {a: {type: string}, b: {type: array, items: {type: object, properties: {c: {type: integer}, d: {type: string, maxLength: 9}}}}}}`
	s := schemas.Structural(b, `{type: object, properties: {x: `+node+`, y: `+node+`}}`)
	b.ReportAllocs()
	for b.Loop() {
		types.NewInterner().FromSchema(s, types.ResourceRoot)
	}
}

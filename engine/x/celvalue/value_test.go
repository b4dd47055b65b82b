package celvalue_test

import (
	"testing"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/internal/testing/schemas"
	"github.com/celadon-cel/celadon/types"
)

var everything = []string{
	`null`, `true`, `false`, `0`, `-5`, `9223372036854775807`, `9223372036854775808`, `1.0`, `1.5`, `1e3`, `""`, `a`, `"12"`, `"null"`,
	`[]`, `[a, b]`, `[1, 2]`, `[null]`, `[[a]]`, `[{}]`, `{}`, `{a: b}`, `{a: null}`, `{a: {b: c}}`, `{a: 1, b: [x]}`,
	`2024-02-29`, `"2024-02-30"`, `"2024-02-29T01:02:03Z"`, `"2024-02-29T01:02:03.123456789+02:00"`, `"2024-02-29 01:02:03"`, `"2024-02-29T25:00:00Z"`,
	`1h`, `1d`, `"1 h 30 m"`, `3 weeks`, `-5s`, `1.5h`, `1x`, `"0"`, `P1D`, `YWJj`, `"YWJj\n"`, `Y`, `"_-8="`, `"+/8="`, `Y===`, `" YQ=="`,
}

func TestValueKinds(t *testing.T) {
	t.Parallel()
	kinds := map[string]string{
		"boolean": `type: boolean`, "integer": `type: integer`, "number": `type: number`, "string": `type: string`,
		"byte": `{type: string, format: byte}`, "duration": `{type: string, format: duration}`,
		"date": `{type: string, format: date}`, "date-time": `{type: string, format: date-time}`,
		"other format": `{type: string, format: ipv4}`, "number format": `{type: integer, format: date}`,
		"int-or-string":    `x-kubernetes-int-or-string: true`,
		"object":           `{type: object, properties: {a: {type: string}, b: {type: array, items: {type: string}}}}`,
		"empty object":     `type: object`,
		"unknown object":   `{type: object, x-kubernetes-preserve-unknown-fields: true}`,
		"map":              `{type: object, additionalProperties: {type: string}}`,
		"map of nullables": `{type: object, additionalProperties: {type: string, nullable: true}}`,
		"map of any":       `{type: object, additionalProperties: true}`,
		"both":             `{type: object, properties: {a: {type: string}}, additionalProperties: {type: integer}}`,
		"list":             `{type: array, items: {type: string}}`,
		"list of ints":     `{type: array, items: {type: integer}}`,
		"list of lists":    `{type: array, items: {type: array, items: {type: string}}}`,
		"set":              `{type: array, x-kubernetes-list-type: set, items: {type: string}}`,
		"map list":         `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: object, properties: {a: {type: string}}}}`,
		"atomic":           `{type: array, x-kubernetes-list-type: atomic, items: {type: string}}`,
		"strange list":     `{type: array, x-kubernetes-list-type: bag, items: {type: string}}`,
		"no list type":     `{type: array, x-kubernetes-list-type: "", items: {type: string}}`,
		"list of nothing":  `type: array`,
		"no type":          `{}`,
		"unknown":          `x-kubernetes-preserve-unknown-fields: true`,
		"embedded":         `{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}`,
		"embedded map":     `{type: object, x-kubernetes-embedded-resource: true, additionalProperties: {type: string}}`,
		"embedded text":    `{type: string, x-kubernetes-embedded-resource: true}`,
		"strange type":     `type: thing`,
	}
	for name, text := range kinds {
		for _, nullable := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := schemas.Structural(t, text)
				s.Nullable = nullable
				d := types.FromSchema(s, placeOf(s.XEmbeddedResource))
				for _, v := range everything {
					got := words(celvalue.New(schemas.Value(t, v), d))
					if want := words(upstreamValue(schemas.Value(t, v), s, false)); got != want {
						t.Errorf("%s (nullable %t):\ngot  %s\nwant %s", v, nullable, got, want)
					}
				}
			})
		}
	}
}

func TestValueText(t *testing.T) {
	t.Parallel()
	tests := []struct{ schema, value, want string }{
		{`type: integer`, `5`, `int(5)`},
		{`type: integer`, `5.5`, `error: invalid data, expected int, got float64`},
		{`type: integer`, `"5"`, `error: invalid data, expected int, got string`},
		{`type: number`, `5`, `double(5)`},
		{`type: number`, `5.5`, `double(5.5)`},
		{`type: number`, `"5"`, `error: invalid data, expected float, got string`},
		{`type: boolean`, `1`, `error: invalid data, expected bool, got int64`},
		{`type: string`, `1`, `error: invalid data, expected string, got int64`},
		{`type: string`, `null`, `error: invalid data, got null for schema with nullable=false`},
		{`{type: string, nullable: true}`, `null`, `null_type(NULL_VALUE)`},
		{`x-kubernetes-int-or-string: true`, `5`, `int(5)`},
		{`x-kubernetes-int-or-string: true`, `"5"`, `string(5)`},
		{`x-kubernetes-int-or-string: true`, `5.5`, `error: invalid data, expected XIntOrString value to be either a string or integer`},
		{`{type: string, format: duration}`, `90m`, `google.protobuf.Duration(1h30m0s)`},
		{`{type: string, format: byte}`, `YWI=`, `bytes([97 98])`},
		{`{type: string, format: date}`, `"2024-02-29"`, `google.protobuf.Timestamp(2024-02-29 00:00:00 +0000 UTC)`},
		{`type: object`, `[]`, `error: invalid data, expected a map for the provided schema with type=object`},
		{`{type: array, items: {type: string}}`, `{}`, `error: invalid data, expected an array for the provided schema with type=array`},
		{`type: array`, `[]`, `error: invalid array type, expected Items with a non-empty Schema`},
		{`{type: array, x-kubernetes-list-type: bag, items: {type: string}}`, `[]`, `error: invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got bag`},
	}
	for _, tt := range tests {
		d := types.FromSchema(schemas.Structural(t, tt.schema), types.Subtree)
		if got := words(celvalue.New(schemas.Value(t, tt.value), d)); got != tt.want {
			t.Errorf("%s under %s: got %s, want %s", tt.value, tt.schema, got, tt.want)
		}
	}
}

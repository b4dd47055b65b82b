package engine_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, json string
		want       map[string]any
		failure    string
	}{
		{name: "empty", json: `{}`, want: map[string]any{}},
		{name: "scalars", json: `{"a": "x", "b": true, "c": null}`, want: map[string]any{"a": "x", "b": true, "c": nil}},
		{name: "whole number", json: `{"a": 5, "b": -5, "c": 0, "d": -0}`, want: map[string]any{"a": int64(5), "b": int64(-5), "c": int64(0), "d": int64(0)}},
		{name: "float", json: `{"a": 5.0, "b": 1e3, "c": -0.0}`, want: map[string]any{"a": 5.0, "b": 1e3, "c": minusZero()}},
		{name: "largest", json: `{"a": 9223372036854775807, "b": -9223372036854775808}`, want: map[string]any{"a": int64(9223372036854775807), "b": int64(-9223372036854775808)}},
		{name: "beyond int64", json: `{"a": 9223372036854775808}`, want: map[string]any{"a": 9223372036854775808.0}},
		{name: "beyond float64", json: `{"a": 1e400}`, failure: "not a JSON object: json: cannot unmarshal number 1e400"},
		{name: "nested", json: `{"a": {"b": [1, {"c": 2.5}]}}`, want: map[string]any{"a": map[string]any{"b": []any{int64(1), map[string]any{"c": 2.5}}}}},
		{name: "duplicate key", json: `{"a": 1, "a": 2}`, want: map[string]any{"a": int64(2)}},
		{name: "duplicate object", json: `{"a": {"b": 1}, "a": {"c": 2}}`, want: map[string]any{"a": map[string]any{"c": int64(2)}}},
		{name: "case", json: `{"a": 1, "A": 2}`, want: map[string]any{"a": int64(1), "A": int64(2)}},
		{name: "space", json: " \t\n{\"a\" : 1}\r\n ", want: map[string]any{"a": int64(1)}},
		{name: "escapes", json: `{"\u0061": "\ud83d\ude00\n"}`, want: map[string]any{"a": "😀\n"}},
		{name: "half a pair", json: `{"a": "\ud83d"}`, want: map[string]any{"a": "\ufffd"}},
		{name: "invalid UTF-8", json: "{\"a\": \"x\xffy\"}", want: map[string]any{"a": "x\ufffdy"}},
		{name: "NUL", json: `{"a": "\u0000"}`, want: map[string]any{"a": "\x00"}},
		{name: "null", json: `null`, failure: "not a JSON object: null"},
		{name: "array", json: `[{}]`, failure: "not a JSON object: json: cannot unmarshal array"},
		{name: "string", json: `"a"`, failure: "not a JSON object: json: cannot unmarshal string"},
		{name: "number", json: `1`, failure: "not a JSON object: json: cannot unmarshal number"},
		{name: "nothing", json: ``, failure: "not a JSON object: unexpected end of JSON input"},
		{name: "trailing", json: `{} {}`, failure: "not a JSON object: invalid character '{' after top-level value"},
		{name: "cut off", json: `{"a": [1,`, failure: "not a JSON object: unexpected end of JSON input"},
		{name: "NaN", json: `{"a": NaN}`, failure: "not a JSON object: invalid character 'N'"},
		{name: "nan", json: `{"a": nan}`, failure: "not a JSON object: invalid character 'a' in literal null"},
		{name: "Infinity", json: `{"a": Infinity}`, failure: "not a JSON object: invalid character 'I'"},
		{name: "-Infinity", json: `{"a": -Infinity}`, failure: "not a JSON object: invalid character 'I' in numeric literal"},
		{name: "leading zero", json: `{"a": 01}`, failure: "not a JSON object: invalid character '1'"},
		{name: "plus", json: `{"a": +1}`, failure: "not a JSON object: invalid character '+'"},
		{name: "hexadecimal", json: `{"a": 0x1}`, failure: "not a JSON object: invalid character 'x'"},
		{name: "comment", json: `{"a": 1} // x`, failure: "not a JSON object: invalid character '/'"},
		{name: "trailing comma", json: `{"a": 1,}`, failure: "not a JSON object: invalid character '}'"},
		{name: "YAML", json: `a: 1`, failure: "not a JSON object: invalid character 'a'"},
		{name: "too deep", json: strings.Repeat(`{"a":`, 10_001) + `1` + strings.Repeat(`}`, 10_001), failure: "not a JSON object: "},
		{name: "byte order mark", json: "\ufeff{}", failure: "not a JSON object: invalid character 'ï'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := engine.Decode([]byte(tt.json))
			if tt.failure != "" {
				if got != nil || err == nil || !strings.HasPrefix(err.Error(), tt.failure) {
					t.Errorf("got %v, %v, want %q", got, err, tt.failure)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %#v, %v, want %#v", got, err, tt.want)
			}
		})
	}
}

func minusZero() float64 {
	zero := 0.0
	return -zero
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a": [1, 2.5, "x", null, {"b": true}]}`, `null`, `{"a": 1e400}`, "\xff", `{"a":1,"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		obj, err := engine.Decode(data)
		if (obj == nil) == (err == nil) {
			t.Errorf("got %v and %v", obj, err)
		}
	})
}

// The server's message for a missing kind depends on whether it looks for unknown fields.
func TestMissingKind(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, widgets)
	for validation, want := range map[string]string{
		"Strict": "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing",
		"Ignore": `Widget in version "v1" cannot be handled as a Widget: Object 'Kind' is missing`,
	} {
		res, err := e.Validate(t.Context(), engine.Request{Raw: []byte(`{"apiVersion":"example.org/v1","kind":null}`), FieldValidation: validation})
		if err != nil || res.Allowed || !strings.HasPrefix(res.Failure.Message, want) {
			t.Errorf("%s: %+v, %v", validation, res, err)
		}
	}
}

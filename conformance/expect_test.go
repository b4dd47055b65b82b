package conformance

import "testing"

func TestContainsText(t *testing.T) {
	t.Parallel()
	const one = `Thing.g "a" is invalid: spec.x: Invalid value: "abc": must be short`
	const two = `Thing.g "a" is invalid: [spec.a: Invalid value: is wrong, spec.b: Required value, <nil>: Invalid value: null: some validation rules were not checked]`
	for _, c := range []struct {
		name, message, text string
		ignoreCase, want    bool
	}{
		{name: "as it is", message: one, text: "must be short", want: true},
		{name: "not there", message: one, text: "must be long"},
		{name: "case", message: one, text: "Must Be Short", ignoreCase: true, want: true},
		{name: "case matters", message: one, text: "Must Be Short"},
		{name: "a type for the value", message: one, text: `spec.x: Invalid value: "string": must be short`, want: true},
		{name: "a type for no value", message: two, text: `spec.a: Invalid value: "object": is wrong`, want: true},
		{name: "from the type on", message: one, text: `"string": must be short`, want: true},
		{name: "another field", message: one, text: `spec.y: Invalid value: "string": must be short`},
		{name: "several errors", message: two, text: `[spec.a: Invalid value: "object": is wrong, spec.b: Required value`, want: true},
		{name: "in another order", message: two, text: `Thing.g "a" is invalid: [spec.b: Required value, spec.a: Invalid value: is wrong,`, want: true},
		{name: "one of several missing", message: two, text: `[spec.b: Required value, spec.c: Required value]`},
		{name: "torn at the end", message: two, text: `spec.b: Required value, <nil>: Invalid value: "null"`, want: true},
		{name: "torn in the note", message: `a: Unsupported value: "x", b: bad`, text: `Unsupported value: "x", <nil>:`, want: true},
		{
			name:    "a Go map",
			message: `spec.l[1]: Duplicate value: {"a":"x","b":"y"}`,
			text:    `Duplicate value: map[string]interface {}{"a":"x", "b":"y"}`, want: true,
		},
		{
			name:    "a number that is no integer",
			message: `a: Invalid value: "float64": a in body must be of type int32: "float64"`,
			text:    `must be of type integer: "number"`, want: true,
		},
	} {
		if got := containsText(c.message, c.text, c.ignoreCase); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
}

package ruletest

import "testing"

func TestMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, actual, wanted string
		ok                   bool
		by                   older
	}{
		{"as it is", `spec: Invalid value: a is too large`, `a is too large`, true, false},
		{"another", `spec: Invalid value: a is too large`, `a is too small`, false, true},
		{"an object's type", `spec: Invalid value: a is too large`, `spec: Invalid value: "object": a is too large`, true, true},
		{"only the type", `spec: Invalid value: a is too large`, `"object": a is too large`, true, true},
		{"a scalar's type", `spec.a: Invalid value: "x\"y": no`, `spec.a: Invalid value: "string": no`, true, true},
		{"a number's", `spec.a: Invalid value: 7: no`, `Invalid value: "integer": no`, true, true},
		{"another text after the type", `spec.a: Invalid value: 7: no`, `Invalid value: "integer": yes`, false, true},
		{"another field", `spec.a: Invalid value: 7: no`, `spec.b: Invalid value: "integer": no`, false, true},
		{"a map of Go", `a[1]: Duplicate value: {"name":"x","of":"y"}`, `Duplicate value: map[string]interface {}{"name":"x", "of":"y"}`, true, true},
		{"the beginning of one", `a[1]: Duplicate value: {"name":"x"}`, `Duplicate value: map[string]interface {}{"name":"x"`, true, true},
		{"a number's type", `a: Invalid value: "float64": a in body must be of type int32: "float64"`, `a: Invalid value: "number": a in body must be of type integer: "number"`, true, true},
		{"a text in a map", `a: Invalid value: {"b":["}",{"c":1}]}: no`, `a: Invalid value: "object": no`, true, true},
	} {
		if ok, by := contains(c.actual, c.wanted, false); ok != c.ok || ok && by != c.by {
			t.Errorf("%s: %t, older: %t", c.name, ok, by)
		}
		if ok, _ := contains(c.actual, c.wanted, true); ok != (c.ok && !bool(c.by)) {
			t.Errorf("%s, exactly: %t", c.name, ok)
		}
	}
}

package schemawords

import (
	"encoding/json"
	"testing"
)

func TestSays(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{}`:                              "",
		`{"type":"object"}`:               "",
		`{"type":"string","minLength":1}`: "string, at least 1 character",
		`{"type":"string","format":"date-time","default":"a"}`:                                           `string (date-time), default "a"`,
		`{"type":"integer","minimum":1,"maximum":9,"multipleOf":2}`:                                      "integer, 1 to 9, a multiple of 2",
		`{"type":"number","minimum":0,"exclusiveMinimum":true,"maximum":1}`:                              "number, more than 0, at most 1",
		`{"type":"string","nullable":true,"enum":["a",""],"pattern":"^a$"}`:                              `string, may be null, one of a, "", matching ^a$`,
		`{"type":"array","maxItems":2,"items":{"type":"string","maxLength":3}}`:                          "list of string, at most 2 items, each at most 3 characters",
		`{"type":"array","x-kubernetes-list-type":"set","items":{"type":"integer"}}`:                     "set of integer",
		`{"type":"object","maxProperties":1,"additionalProperties":{"type":"integer","minimum":0}}`:      "map of integer, at most 1 field, each at least 0",
		`{"x-kubernetes-int-or-string":true}`:                                                            "integer or string",
		`{"type":7,"items":[],"enum":{},"properties":"x","minimum":"y","required":{},"default":{"a":1}}`: `at least "y", default {"a":1}`,
	} {
		var n Node
		if err := json.Unmarshal([]byte(schema), &n); err != nil {
			t.Fatal(err)
		}
		if got := n.Describe(false); got != want {
			t.Errorf("%s: %q, want %q", schema, got, want)
		}
	}
	if got := (Node{"type": "object"}).Describe(true); got != "object, required" {
		t.Error(got)
	}
}

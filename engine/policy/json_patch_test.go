package policy

import (
	"fmt"
	"strings"
	"testing"
)

func objects(levels int) (v any) {
	v = "x"
	for range levels {
		v = map[string]any{"a": v}
	}
	return v
}

// TestJSONPatch leaves whole mutations to conformance/policies.
func TestJSONPatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ operations, want string }{
		{"{op: 'add', path: '/spec/free/a', value: 2.0}", "map[a:2 list:[1] nul:<nil>]"},
		{"{op: 'test', path: '/spec/free/list/0', value: 2}", "map[list:[1] nul:<nil>]"},
		{"{op: 'replace', path: 'x/spec/free/list/-1', value: '<&>'}", "map[list:[<&>] nul:<nil>]"},
		{"{op: 'remove', path: '/spec/free/none'}", "JSON Patch: error in remove for path: '/spec/free/none': Unable to remove nonexistent key: none: missing value"},
		{"{op: 'add', path: '/spec/free/nul/a', value: 1}", "JSON Patch: add operation does not apply: doc is missing path: \"/spec/free/nul/a\": missing value"},
		{"{op: 'add', path: '/spec/\\u0001/a', value: 1}", "JSON Patch: add operation failed to decode path: missing value"},
		{"{op: 'add', path: '/spec/free/nul', value: null}, JSONPatch{op: 'add', path: '/spec/free/nul/a', value: 1}", "an API server crashes on the patch: assignment to entry in nil map"},
		{"{op: 'replace', path: '', value: []}", "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { "},
		{"{op: 'remove', path: '/kind'}", "Internal error occurred: Object 'Kind' is missing in '{\"apiVersion\":"},
	} {
		req := mutableRequest(t, "{free: {list: [1], nul: null}}")
		res := mutate(t, mustCompileMutating(t, mutatingPolicy("p", jsonPatch("[JSONPatch"+tt.operations+"]"))), req)
		got := ""
		switch {
		case len(res.Undecided) > 0:
			got = res.Undecided[0].Reason
		case res.Failure != nil:
			got = res.Failure.Message
		default:
			got = fmt.Sprint(res.Object["spec"].(map[string]any)["free"])
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.operations, got, tt.want)
		}
	}
}

func TestMutateDepth(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	variables := "\n  variables:\n  - {name: p0, expression: \"'/a'\"}"
	operations := []string{"JSONPatch{op: 'add', path: '/spec/free', value: {'a': {}}}"}
	for i := range 18 {
		variables += fmt.Sprintf("\n  - {name: p%d, expression: variables.p%d + variables.p%d}", i+1, i, i)
		operations = append(operations, fmt.Sprintf("JSONPatch{op: 'copy', from: '/spec/free/a', path: '/spec/free/a' + variables.p%d}", i))
	}
	res := mutate(t, mustCompileMutating(t, mutatingPolicy("p", jsonPatch("["+strings.Join(operations, ", ")+"]")+variables)), mutableRequest(t, "{}"))
	if len(res.Undecided) != 1 || res.Undecided[0].Reason != errWork.reason {
		t.Errorf("copies that double the depth: got %v, %.300v", res.Undecided, res.Failure)
	}
	deep := mutableRequest(t, "{}")
	deep.Object["spec"].(map[string]any)["free"] = objects(9_998)
	set := mustCompileMutating(t, mutatingPolicy("p", apply("Object{spec: Object.spec{free: Object.spec.free{b: object.spec.free}}}")))
	if res := mutate(t, set, deep); len(res.Undecided) != 1 || res.Undecided[0].Reason != errTooDeep.reason {
		t.Errorf("a deep literal: got %v, %v", res.Undecided, res.Failure)
	}
	deep.Object["spec"].(map[string]any)["free"] = objects(2_000)
	set = mustCompileMutating(t, mutatingPolicy("p", jsonPatch("[JSONPatch{op: 'copy', from: '/spec/free', path: '/spec/free"+strings.Repeat("/a", 1_990)+"/b'}]")))
	if res := mutate(t, set, deep); res.Failure != nil || len(res.Undecided) > 0 {
		t.Errorf("a deep copy: got %v, %.300v", res.Undecided, res.Failure)
	}
	set = mustCompileMutating(t, mutatingPolicy("p", jsonPatch("[JSONPatch{op: 'add', path: '/spec/free/b', value: object.spec.free}]")))
	deep.Object["spec"].(map[string]any)["free"] = objects(9_998)
	if res := mutate(t, set, deep); res.Failure == nil || !strings.Contains(res.Failure.Message, "json parse error: invalid character '{' exceeded max depth") {
		t.Errorf("a deep value: got %v, %.300v", res.Undecided, res.Failure)
	}
}

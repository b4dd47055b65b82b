package policy

import (
	"fmt"
	"strings"
	"testing"
)

// nested returns a JSON value with the given number of levels, alternately objects and lists.
func nested(levels int) (v any) {
	for i := range levels {
		if v = any(map[string]any{"a": v}); i%2 > 0 {
			v = []any{v.(map[string]any)["a"]}
		}
	}
	return v
}

func objects(levels int) (v any) {
	v = "x"
	for range levels {
		v = map[string]any{"a": v}
	}
	return v
}

// TestJSONPatchDepth compares patches that make deep objects with the server's library.
func TestJSONPatchDepth(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	deepest := func(levels int) string { return strings.Repeat("/a", levels) }
	add := func(path string, v any) testOperation {
		return testOperation{op: "add", path: path, value: v, hasValue: true}
	}
	// deep makes an object of the given number of levels. The library decodes only the first levels.
	const first = 60
	deep := func(levels int, more ...testOperation) []testOperation {
		return append([]testOperation{add("/a", objects(first)), add(deepest(first+1), objects(levels-first-1))}, more...)
	}
	clone := testOperation{op: "copy", from: "/a", path: "/b"}
	withoutFirst := testOperation{op: "remove", path: "/a"}
	for name, operations := range map[string][]testOperation{
		"10,000 levels":              deep(10_000),
		"10,002 levels":              deep(10_002),
		"10,050 levels":              deep(10_050),
		"a deep list beside":         deep(9_000, add("/b", nested(9_980)), testOperation{op: "move", from: "/b", path: deepest(50)}),
		"removed before the end":     deep(10_050, testOperation{op: "remove", path: deepest(40)}),
		"copied again":               deep(10_050, clone),
		"copied with 10,001 levels":  deep(10_002, clone, withoutFirst),
		"into a copy that is deep":   deep(10_002, clone, withoutFirst, add("/b/c", 1)),
		"a copy of a deep copy":      deep(10_002, clone, withoutFirst, testOperation{op: "copy", from: "/b", path: "/c"}),
		"the deep copy removed":      deep(10_002, clone, withoutFirst, testOperation{op: "remove", path: "/b"}),
		"the first of several parts": deep(10_030, add("/0", objects(20)), add("/0"+deepest(20), objects(9_990))),
	} {
		object := map[string]any{"x": int64(1)}
		_, want := upstreamPatch(object, operations)
		_, got := ownPatch(object, operations, replaceFails.Since)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			wraps := func(err error) int { return strings.Count(fmt.Sprint(err), "MarshalJSON") }
			t.Errorf("%s: got %.90v (%d times), want %.90v (%d times)", name, got, wraps(got), want, wraps(want))
		}
	}
}

// TestMutateDepth checks that copies which double the depth of an object end at the limit.
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
	if res.Failure == nil || !strings.HasSuffix(res.Failure.Message, "exceeded max depth") || len(res.Failure.Message) > 10_000 {
		t.Errorf("got %v, %.300v", res.Undecided, res.Failure)
	}
	deep := mutableRequest(t, "{}")
	deep.Object["spec"].(map[string]any)["free"] = objects(9_998)
	set := mustCompileMutating(t, mutatingPolicy("p", apply("Object{spec: Object.spec{free: Object.spec.free{b: object.spec.free}}}")))
	if res := mutate(t, set, deep); len(res.Undecided) != 1 || res.Undecided[0].Reason != errTooDeep.reason {
		t.Errorf("a deep literal: got %v, %v", res.Undecided, res.Failure)
	}
	set = mustCompileMutating(t, mutatingPolicy("p", jsonPatch("[JSONPatch{op: 'add', path: '/spec/free/b', value: object.spec.free}]")))
	if res := mutate(t, set, deep); res.Failure == nil || !strings.Contains(res.Failure.Message, "json parse error: invalid character '{' exceeded max depth") {
		t.Errorf("a deep value: got %v, %.300v", res.Undecided, res.Failure)
	}
}

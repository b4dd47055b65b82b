package schema

import (
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

const ordinarySchema = `{"type":"object","required":["spec"],"properties":{
	"metadata":{"type":"object"},
	"spec":{"type":"object","properties":{
		"name":{"type":"string","minLength":1,"maxLength":20,"pattern":"^[a-z]+$","enum":["one","two"]},
		"port":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]},
		"count":{"type":"integer","format":"int32","minimum":1,"maximum":10,"default":1},
		"share":{"type":"number","multipleOf":0.5},
		"labels":{"type":"object","additionalProperties":{"type":"string"},"maxProperties":5},
		"at":{"type":"string","format":"date-time"},
		"id":{"type":"string","format":"uuid"},
		"set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
		"list":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a","b"],"items":{"type":"object",
			"properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"not":{"enum":["x"]}}},"oneOf":[{"required":["a"]},{"required":["z"]}]}}}}}}`
const ordinaryObject = `{"apiVersion":"g/v1","kind":"K","metadata":{"name":"n"},"spec":{"name":"one","port":"http","count":2,"share":1.5,
	"labels":{"a":"b"},"at":"2024-01-02T03:04:05Z","id":"123e4567-e89b-12d3-a456-426614174000",
	"set":["a","b","c"],"list":[{"a":"x","b":1,"c":1},{"a":"x","b":2},{"a":"y","b":1}]}}`

var poolsLeak bool

// Only some formats, such as ipv4, allocate.
func TestNoAllocations(t *testing.T) {
	if poolsLeak {
		t.Skip("sync.Pool allocates")
	}
	s := parseSubject(t, ordinarySchema).ours
	obj, old := parse(t, ordinaryObject).(map[string]any), parse(t, ordinaryObject).(map[string]any)
	var many []any
	for i := range 200 {
		many = append(many, strings.Repeat("x", i))
	}
	obj["spec"].(map[string]any)["set"] = many
	for name, f := range map[string]func() bool{
		"Validate":       func() bool { return s.Validate(nil, obj) == nil },
		"ValidateUpdate": func() bool { return s.ValidateUpdate(nil, obj, old) == nil },
		"ListTypes":      func() bool { return s.ListTypes(nil, obj) == nil },
		"Prepare": func() bool {
			_, unknown := s.prepare(obj, Preparation{Prune: true, Track: true, Default: true})
			return unknown == nil
		},
	} {
		if !f() {
			t.Errorf("%s: the object does not pass: %v", name, s.Validate(nil, obj))
		}
		if n := testing.AllocsPerRun(200, func() { f() }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Long lists of errors must take about linear time. (The API server needs minutes.)
func TestLong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	s := parseSubject(t, `{"type":"object","properties":{"list":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
		"items":{"type":"object","required":["x"],"properties":{"k":{"type":"integer"},"y":{"type":"string"}},"anyOf":[{"required":["x"]},{"required":["z"]}]}},
		"unique":{"type":"array","uniqueItems":true,"items":{"type":"string"}}}}`).ours
	for _, n := range []int{2_000, 100_000} {
		var list, old, unique []any
		for i := range int64(n) {
			list = append(list, map[string]any{"k": i / 2, "y": i})
			old = append(old, map[string]any{"k": int64(n) - i, "y": i})
			unique = append(unique, i)
		}
		obj := map[string]any{"list": list, "unique": unique}
		check := func(what string, errs field.ErrorList, all int) {
			if all > MaxErrors {
				all = MaxErrors / 2 // some of the first errors are the same
			}
			if len(errs) < all || len(errs) > MaxErrors {
				t.Errorf("%d items: %s: %d errors, want %d", n, what, len(errs), all)
			}
		}
		check("create", s.Validate(nil, obj), 4*n)
		check("update", s.ValidateUpdate(nil, obj, map[string]any{"list": old, "unique": unique}), 2*n)
		check("list types", s.ListTypes(nil, obj), n/2)
	}
}

func TestDeep(t *testing.T) {
	const depth = 4_000 // JSON's decoder ends at 10,000 levels
	schema := strings.Repeat(`{"type":"object","properties":{"x":`, depth) + `{"type":"string"}` + strings.Repeat(`}}`, depth)
	s := parseSubject(t, `{"type":"object","properties":{"x":`+schema+`,"any":{"x-kubernetes-preserve-unknown-fields":true},"none":{"type":"object"},"set":{"type":"array","x-kubernetes-list-type":"set"}}}`).ours
	nest := func(leaf any, depth int) any {
		for range depth {
			leaf = map[string]any{"x": leaf}
		}
		return leaf
	}
	obj := map[string]any{"x": nest(int64(1), depth), "any": nest(nil, 10_000), "none": nest("x", 10_000), "set": []any{nest(nil, 10_000), nest(nil, 10_000)}}
	if errs := s.Validate(nil, obj); len(errs) != 1 {
		t.Errorf("%d errors", len(errs))
	}
	if errs := s.ValidateUpdate(nil, obj, map[string]any{"x": nest(int64(1), depth)}); len(errs) != 0 {
		t.Errorf("%d errors on update", len(errs))
	}
	if errs := s.ListTypes(nil, obj); len(errs) != 1 {
		t.Errorf("%d items twice", len(errs))
	}
	if _, unknown := s.prepare(obj, Preparation{Prune: true, Track: true, Default: true}); len(unknown) != 3 {
		t.Errorf("%d unknown fields", len(unknown))
	}
}

// TestConcurrent is for the race detector.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := parseSubject(t, `{"type":"object","properties":{"x":{"type":"string","pattern":"^a","format":"uri"},"y":{"type":"string","default":"d"}}}`).ours
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				obj, _ := s.prepare(map[string]any{"x": "b", "z": "z"}, Preparation{Prune: true, Default: true})
				if errs := s.ValidateUpdate(nil, obj, nil); len(errs) != 2 {
					t.Errorf("%v", errs)
				}
			}
		})
	}
	wg.Wait()
}

// Go values that are not decoded JSON must not cause a panic.
func TestForeignValues(t *testing.T) {
	t.Parallel()
	for _, keyword := range keywords {
		s := parseSubject(t, keyword).ours
		for _, v := range []any{1, float32(1), []string{"a"}, struct{}{}, map[string]string{"a": "b"}, map[string]any(nil), []any(nil), func() {}} {
			list := []any{v, v, map[string]any{"x": v}, map[string]any{"x": v}}
			for _, value := range []any{v, list, map[string]any{"x": v, "a": list}} {
				s.Validate(nil, value)
				s.ValidateUpdate(nil, value, value)
				if obj, ok := value.(map[string]any); ok {
					s.ListTypes(nil, obj)
					s.prepare(obj, Preparation{Prune: true, Default: true})
				}
			}
		}
	}
}

func TestCompileRejects(t *testing.T) {
	t.Parallel()
	if _, err := Compile(nil, nil, 30); err == nil {
		t.Error("no error without a schema")
	}
}

package conformance

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// Mutants returns n mutants of each case, with random changes to the object. Cases with a raw body
// have no mutants. Only a server can determine the expected result.
func Mutants(all []*Group, n int) []*Group {
	var out []*Group
	for _, g := range all {
		mutated := &Group{CRD: g.CRD}
		for i, c := range g.Cases {
			if c.Raw != nil || c.Object == nil {
				continue
			}
			m := mutator{rand.New(rand.NewPCG(uint64(i), uint64(len(g.Cases))))}
			for k := range n {
				mutated.Cases = append(mutated.Cases, m.mutant(c, k))
			}
		}
		if len(mutated.Cases) > 0 {
			out = append(out, mutated)
		}
	}
	return out
}

type mutator struct{ *rand.Rand }

func (m mutator) mutant(c *Case, k int) *Case {
	out := *c
	out.ID = fmt.Sprintf("%s~%d", c.ID, k)
	out.Expect, out.ErrorContains, out.ExpectObject, out.Recorded = "", nil, nil, nil
	out.FieldValidation = pick(m, "", "", "Strict", "Warn", "Ignore")
	if k%2 == 1 {
		out.OldObject, out.Ratcheting = c.Object, false
	}
	out.Object = decoded(m.object(c.Object))
	return &out
}

// object returns a changed copy with the same apiVersion, kind, and name.
func (m mutator) object(object map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(object)
	for range 1 + m.IntN(3) {
		m.change(out)
	}
	for _, name := range []string{"apiVersion", "kind"} {
		out[name] = object[name]
	}
	metadata, ok := out["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		out["metadata"] = metadata
	}
	for _, name := range []string{"name", "namespace", "generateName"} {
		delete(metadata, name)
		if v, ok := metadataOf(object)[name]; ok {
			metadata[name] = v
		}
	}
	return out
}

func (m mutator) change(node map[string]any) {
	keys := slices.Sorted(maps.Keys(node))
	if len(keys) == 0 || m.IntN(12) == 0 {
		node[pick(m, "unknown", "x", "A-b", "spec", "name")] = m.any()
		return
	}
	key := keys[m.IntN(len(keys))]
	if _, ok := node["spec"]; ok && m.IntN(3) > 0 {
		key = "spec"
	}
	if m.IntN(8) == 0 {
		delete(node, key)
		return
	}
	node[key] = m.value(node[key])
}

func (m mutator) value(v any) any {
	if m.IntN(16) == 0 {
		return m.any()
	}
	switch v := v.(type) {
	case map[string]any:
		m.change(v)
		return v
	case []any:
		return m.list(v)
	case string:
		return m.text(v)
	case int64:
		return pick[any](m, v+1, v-1, -v, v*1000, int64(0), float64(v)+0.5, fmt.Sprint(v))
	case float64:
		return pick[any](m, v+1, -v, v*1e9, int64(v))
	case bool:
		return pick[any](m, !v, !v, fmt.Sprint(v))
	}
	return m.any()
}

func (m mutator) list(v []any) []any {
	if len(v) == 0 {
		return append(v, m.any())
	}
	i := m.IntN(len(v))
	switch m.IntN(6) {
	case 0:
		return slices.Delete(v, i, i+1)
	case 1:
		return append(v, runtime.DeepCopyJSONValue(v[i]))
	case 2:
		slices.Reverse(v)
		return v
	case 3:
		return append(v, m.value(runtime.DeepCopyJSONValue(v[i])))
	}
	v[i] = m.value(v[i])
	return v
}

func (m mutator) text(v string) string {
	switch m.IntN(7) {
	case 0:
		return ""
	case 1:
		return strings.ToUpper(v)
	case 2:
		return v + "-"
	case 3:
		return v + strings.Repeat("x", 300)
	case 4:
		return v[:len(v)/2]
	case 5:
		return v + "é ☃"
	}
	return "/" + v
}

func (m mutator) any() any {
	return pick[any](m, nil, "", "x", int64(0), int64(-1), int64(1)<<40, 1.5, true,
		[]any{}, map[string]any{}, []any{nil}, []any{"a", "a"}, map[string]any{"x": int64(1)}, map[string]any{"x": nil})
}

func pick[T any](m mutator, from ...T) T { return from[m.IntN(len(from))] }

package vet

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
)

func FuzzVet(f *testing.F) {
	for _, spec := range []schemaProps{
		{Type: "object"},
		{Type: "string", Default: jsonDefault(`"x"`), XValidations: []aRule{{Rule: "self.replace('', self) == self", MessageExpression: "self + self"}}},
		{Type: "string", Pattern: strings.Repeat("a{1000}", 300), MaxLength: ptr(int64(10))},
		{Type: "object", Properties: map[string]schemaProps{"a": {Type: "string", Format: "date"}, "b": {XIntOrString: true}}, XValidations: []aRule{{Rule: "self.a == oldSelf.a", FieldPath: ".a"}}},
		{Type: "string", XValidations: []aRule{{Rule: "self.matches('(a{100}){100}')"}, {Rule: strings.Repeat("[", 100) + strings.Repeat("]", 100) + " == []"}}},
	} {
		raw, err := json.Marshal(unitCRD(spec))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"kind":"CustomResourceDefinition","spec":{"versions":[null,{"schema":{"openAPIV3Schema":{"items":[{}]}}}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 64<<10 {
			t.Skip("takes too long for a fuzz step")
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := Vet(t.Context(), raw, Config{})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if !r.Accepted && r.Status == nil && r.Undecided == nil {
			t.Error("neither accepted, nor refused, nor undecided")
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<30 {
			t.Errorf("%d bytes were made of %d", took, len(raw))
		}
		alone, err := Vet(t.Context(), raw, Config{VerdictOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		// The whole CRD can be too much work because of parts that no rule refers to.
		if alone.Accepted != r.Accepted && r.Undecided == nil {
			t.Errorf("the verdict alone: accepted %t, undecided %v; with its report %t", alone.Accepted, alone.Undecided, r.Accepted)
		}
	})
}

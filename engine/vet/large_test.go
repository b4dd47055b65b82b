package vet

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TestLarge vets CRDs that are large in every way: an answer in seconds, in
// bounded memory, and never a panic.
func TestLarge(t *testing.T) {
	cases := map[string]schemaProps{
		"5,000 rules on one node": many(5000, func(i int) aRule {
			return aRule{Rule: fmt.Sprintf("self.a.size() >= %d", i%7), MessageExpression: "'a'"}
		}),
		"5,000 rules over budget": many(5000, func(i int) aRule { return aRule{Rule: fmt.Sprintf("self.free.matches('a%d')", i)} }),
		"5,000 fields with rules": fields(5000),
		"2,000 lists over budget": lists(2000),
		"nested 100 deep":         deep(100),
		"2.9 MiB":                 fields(14500),
		"long rule": many(1, func(int) aRule {
			return aRule{Rule: "self.a == '" + strings.Repeat("x", 99_900) + "'"}
		}),
		"too long a rule": many(1, func(int) aRule {
			return aRule{Rule: "self.a == '" + strings.Repeat("x", 100_100) + "'"}
		}),
		"long chain": many(1, func(int) aRule { return aRule{Rule: strings.Repeat("self.a == 'x' || ", 1500) + "true"} }),
		"deep rule": many(1, func(int) aRule {
			return aRule{Rule: strings.Repeat("(", 40_000) + "true" + strings.Repeat(")", 40_000)}
		}),
		"deep negate": many(1, func(int) aRule { return aRule{Rule: strings.Repeat("!", 90_000) + "true"} }),
		"nested loops": many(1, func(int) aRule {
			return aRule{Rule: strings.Repeat("self.list.all(x, ", 60) + "true" + strings.Repeat(")", 60)}
		}),
		"loops over nothing": many(1, func(int) aRule {
			return aRule{Rule: "lists.range(100000).all(a, lists.range(100000).all(b, a + b >= 0))"}
		}),
		"a number without end": many(1, func(int) aRule {
			return aRule{Rule: "quantity('1e2000000000').isGreaterThan(quantity('1'))"}
		}),
		"loops without end over nothing": many(1, func(int) aRule { return aRule{Rule: "lists.range(9000000000).all(a, a >= 0)"} }),
	}
	for name, s := range cases {
		t.Run(name, func(t *testing.T) {
			crd := unitCRD(s)
			crd.TypeMeta.APIVersion, crd.TypeMeta.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
			raw, err := json.Marshal(crd)
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			r, err := Vet(context.Background(), raw, Config{})
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != nil && r.Status.Code != 422 || !r.Accepted && r.Status == nil && r.Undecided == nil {
				t.Errorf("status %+v", r.Status)
			}
			t.Logf("%d bytes, accepted %v, %d lints: %v, %d MiB allocated", len(raw), r.Accepted, len(r.Lints), took, (after.TotalAlloc-before.TotalAlloc)>>20)
		})
	}
}

func many(n int, rule func(int) aRule) schemaProps {
	s := schemaProps{Type: "object", Required: []string{"a"}, Properties: map[string]schemaProps{
		"a":    {Type: "string", MaxLength: ptr(int64(20))},
		"free": {Type: "string"},
		"list": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &schemaProps{Type: "string"}}},
	}}
	for i := range n {
		s.XValidations = append(s.XValidations, rule(i))
	}
	return s
}

func fields(n int) schemaProps {
	s := schemaProps{Type: "object", Properties: map[string]schemaProps{}}
	for i := range n {
		s.Properties[fmt.Sprintf("field%d", i)] = schemaProps{
			Type: "string", MaxLength: ptr(int64(i % 100)), Description: strings.Repeat("d", 60),
			XValidations: []aRule{{Rule: fmt.Sprintf("self != 'x%d'", i), Message: "must not be so"}},
		}
	}
	return s
}

func lists(n int) schemaProps {
	s := schemaProps{Type: "object", Properties: map[string]schemaProps{}}
	for i := range n {
		s.Properties[fmt.Sprintf("list%d", i)] = schemaProps{
			Type:  "array",
			Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &schemaProps{Type: "string", XValidations: []aRule{{Rule: fmt.Sprintf("self.matches('a%d')", i)}}}},
		}
	}
	return s
}

func deep(n int) schemaProps {
	s := schemaProps{Type: "string", MaxLength: ptr(int64(4)), XValidations: []aRule{{Rule: "self != ''"}}}
	for i := range n {
		inner := s
		rule := []aRule{{Rule: "has(self.next)"}}
		if i%2 == 0 {
			s = schemaProps{Type: "object", Properties: map[string]schemaProps{"next": s}, XValidations: rule}
			continue
		}
		s = schemaProps{Type: "object", Properties: map[string]schemaProps{"next": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &inner}}}, XValidations: rule}
	}
	return s
}

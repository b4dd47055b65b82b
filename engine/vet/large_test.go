package vet

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	celfrontend "github.com/celadon-cel/celadon/internal/cel/upstream"
)

// The number of bytes allocated is independent of the load of the machine. If growth is limited, the test vets a size
// and four times that size.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	one := func(rule string) func(int) schemaProps {
		return func(int) schemaProps { return many(1, func(int) aRule { return aRule{Rule: rule} }) }
	}
	const overBudget, notCompiled, overworked = "exceeds budget", "compilation failed", "too complex"
	for name, c := range map[string]struct {
		schema func(n int) schemaProps
		n      int // the smaller size; 0 if size does not apply
		want   string
		mib    uint64 // upper limit
		growth uint64 // upper limit of the factor for four times the size
	}{
		"rules on one node": {func(n int) schemaProps {
			return many(n, func(i int) aRule {
				return aRule{Rule: fmt.Sprintf("self.a.size() >= %d", i%7), MessageExpression: "'a'"}
			})
		}, 250, "", 20, 5},
		"rules over budget": {func(n int) schemaProps {
			return many(n, func(i int) aRule { return aRule{Rule: fmt.Sprintf("self.list.all(x, x.matches('a%d'))", i)} })
		}, 25, overBudget, 60, 5},
		"fields with rules": {fields, 250, "", 40, 5},
		"lists over budget": {lists, 5, overBudget, 20, 5},
		"nested deep":       {deep, 12, "", 130, 12},

		"long rule":          {one("self.a == '" + strings.Repeat("x", 99_900) + "'"), 0, "", 2, 1},
		"too long a rule":    {one("self.a == '" + strings.Repeat("x", 100_100) + "'"), 0, notCompiled, 7, 1},
		"long chain":         {one(strings.Repeat("self.a == 'x' || ", 1500) + "true"), 0, overworked, 20, 1},
		"deep rule":          {one(strings.Repeat("(", 40_000) + "true" + strings.Repeat(")", 40_000)), 0, notCompiled, 6, 1},
		"deep negate":        {one(strings.Repeat("!", 90_000) + "true"), 0, "", 64, 1},
		"nested loops":       {one(strings.Repeat("self.list.all(x, ", 60) + "true" + strings.Repeat(")", 60)), 0, overBudget, 7, 1},
		"loops over nothing": {one("lists.range(100000).all(a, lists.range(100000).all(b, a + b >= 0))"), 0, overBudget, 64, 1},
		"number without end": {one("quantity('1e2000000000').isGreaterThan(quantity('1'))"), 0, "", 2, 1},
		"loop without end":   {one("lists.range(9000000000).all(a, a >= 0)"), 0, overBudget, 3, 1},
	} {
		vetLarge(t, many(1, func(int) aRule { return aRule{Rule: "true"} })) // allocate shared data first
		t.Run(name, func(t *testing.T) {
			whole, answer := vetLarge(t, c.schema(4*c.n))
			if !strings.Contains(answer, c.want) || c.want == "" && answer != "" {
				t.Errorf("got %.300q, want %q", answer, c.want)
			}
			if celfrontend.CEL {
				return // cel-go allocates more
			}
			if whole>>20 > c.mib {
				t.Errorf("%d MiB allocated, want at most %d", whole>>20, c.mib)
			}
			if c.n == 0 {
				return
			}
			if part, _ := vetLarge(t, c.schema(c.n)); whole > part*c.growth {
				t.Errorf("%d KiB allocated, and %d for a quarter of the size: want at most %d times as much", whole>>10, part>>10, c.growth)
			}
		})
	}
}

func vetLarge(t *testing.T, s schemaProps) (bytes uint64, answer string) {
	t.Helper()
	raw := rawCRD(t, unitCRD(s))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := Vet(context.Background(), raw, Config{})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if r.Undecided != nil {
		answer = r.Undecided.Error()
	}
	if r.Accepted != (answer == "" && r.Status == nil) || r.Status != nil && r.Status.Code != 422 {
		t.Errorf("accepted %v, status %+v", r.Accepted, r.Status)
	}
	for _, c := range r.Causes {
		answer += c.Detail + "\n"
	}
	return after.TotalAlloc - before.TotalAlloc, answer
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

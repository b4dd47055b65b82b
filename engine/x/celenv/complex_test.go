package celenv

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/types"
)

// A unit is about a microsecond.
func TestComplex(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	newest := StoredRules(types.Version{Minor: types.Newest})
	text := schema.Structural{Generic: schema.Generic{Type: "string"}}
	d := types.FromSchema(&schema.Structural{Generic: schema.Generic{Type: "object"}, Properties: map[string]schema.Structural{
		"a": text, "l": {Generic: schema.Generic{Type: "array"}, Items: &text},
	}}, types.Subtree)
	env, err := newest.For(d, false)
	if err != nil {
		t.Fatal(err)
	}
	scope, err := newest.Scope()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		src         string
		least, most int
	}{
		{"self.a == 'a'", 1, 1},
		{strings.Repeat("self.a == 'a' && ", 300) + "true", 300 * 300, 301 * 301},
		{strings.Repeat("self.a.size() < 3 && ", 300) + "true", 1, maxComplexity},
		{strings.Repeat("[", 100) + "1" + strings.Repeat("]", 100), 100 * 100 * 100 / 5, 100 * 100 * 100 / 5},
		{strings.Repeat("[1].all(x, ", 20) + "true" + strings.Repeat(")", 20), 20 * 20 / 2, 20*20/2 + 1},
		{"[1]" + strings.Repeat(".map(a, {a: a})", 6) + " == []", 729, 729 + 100},
		{"[1]" + strings.Repeat(".map(a, {a: a})", 14) + " == []", maxComplexity + 1, 1 << 40},
		{"[1]" + strings.Repeat(".map(a, {a: a})", 100) + " == []", maxComplexity + 1, 1 << 50},
		{strings.Repeat("self.l[0] == 'a' && ", 4000) + "true", maxComplexity + 1, 1 << 40},
		{strings.Repeat("[1].all(x, x == 1) && ", 4000) + "true", maxComplexity + 1, 1 << 40},
		{strings.Repeat("[", 240) + "1" + strings.Repeat("]", 240), maxComplexity + 1, 1 << 40},
	}
	for _, tt := range tests {
		parsed, issues := newest.base.Parse(tt.src)
		if issues.Err() != nil {
			t.Fatal(issues.Err())
		}
		units, _ := complexity(parsed.NativeRep().Expr())
		if units < tt.least || units > tt.most {
			t.Errorf("%.40s: %d units, want %d to %d", tt.src, units, tt.least, tt.most)
		}
		if units > 1000 && units <= maxComplexity {
			continue // checking these would be slow; the smaller cases cover it
		}
		complex := units > maxComplexity
		var tooComplex *ComplexError
		if _, err := Check(env, tt.src); errors.As(err, &tooComplex) != complex || !complex && err != nil {
			t.Errorf("%.40s: Check: got %v", tt.src, err)
		}
		if _, err := scope.Compile(d, false, tt.src); errors.As(err, &tooComplex) != complex || !complex && err != nil {
			t.Errorf("%.40s: Compile: got %v", tt.src, err)
		}
	}
}

func TestManyComplex(t *testing.T) {
	t.Parallel()
	d := types.FromSchema(&schema.Structural{Generic: schema.Generic{Type: "string"}}, types.Subtree)
	scope, err := StoredRules(types.Version{Minor: types.Newest}).Scope()
	if err != nil {
		t.Fatal(err)
	}
	src := strings.Repeat("[", 20) + "1" + strings.Repeat("]", 20) + " == []"
	if _, err := scope.Compile(d, false, src); err != nil {
		t.Errorf("the first: %v", err)
	}
	one := scope.complexity
	if one < 20*20*20/5 {
		t.Errorf("%d units were counted", one)
	}
	scope.complexity = scopeComplexity - one // as after many expressions
	if _, err := scope.Compile(d, false, src); err != nil {
		t.Errorf("the last: %v", err)
	}
	var tooComplex *ComplexError
	if _, err := scope.Compile(d, false, src); !errors.As(err, &tooComplex) {
		t.Errorf("one more: got %v", err)
	}
	scope.complexity -= one
	if _, err := scope.Compile(d, false, "self == 'a'"); err != nil {
		t.Errorf("a simple expression after them: %v", err)
	}
}

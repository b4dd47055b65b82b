package types_test

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/types"
)

// TestComplex refuses to check what takes the checker minutes, and nothing that
// takes it less than a second.
func TestComplex(t *testing.T) {
	t.Parallel()
	text := schema.Structural{Generic: schema.Generic{Type: "string"}}
	d := types.FromSchema(&schema.Structural{Generic: schema.Generic{Type: "object"}, Properties: map[string]schema.Structural{
		"a": text, "l": {Generic: schema.Generic{Type: "array"}, Items: &text},
	}}, types.Subtree)
	newest := types.StoredEnv(types.Version{Minor: types.Newest})
	env, err := newest.For(d, false)
	if err != nil {
		t.Fatal(err)
	}
	scope, err := newest.Scope()
	if err != nil {
		t.Fatal(err)
	}
	for src, complex := range map[string]bool{
		strings.Repeat("self.a == 'a' && ", 300) + "true":         false,
		strings.Repeat("self.a.size() < 3 && ", 300) + "true":     false,
		strings.Repeat("[", 100) + "1" + strings.Repeat("]", 100): false,
		strings.Repeat("self.l[0] == 'a' && ", 4000) + "true":     true,
		strings.Repeat("[1].all(x, x == 1) && ", 4000) + "true":   true,
		strings.Repeat("[", 240) + "1" + strings.Repeat("]", 240): true,
	} {
		var tooComplex *types.ComplexError
		if _, err := types.Check(env, src); errors.As(err, &tooComplex) != complex {
			t.Errorf("%.40s: Check: got %v", src, err)
		}
		if _, err := scope.Compile(d, false, src); errors.As(err, &tooComplex) != complex {
			t.Errorf("%.40s: Compile: got %v", src, err)
		}
	}
}

// TestManyComplex: many expressions that are each within bounds are not all
// checked.
func TestManyComplex(t *testing.T) {
	t.Parallel()
	d := types.FromSchema(&schema.Structural{Generic: schema.Generic{Type: "string"}}, types.Subtree)
	scope, err := types.StoredEnv(types.Version{Minor: types.Newest}).Scope()
	if err != nil {
		t.Fatal(err)
	}
	src := strings.Repeat("[", 150) + "1" + strings.Repeat("]", 150) + " == []"
	var tooComplex *types.ComplexError
	for i := range 10 {
		if _, err = scope.Compile(d, false, src); errors.As(err, &tooComplex) {
			if i == 0 {
				t.Errorf("the first: %v", err)
			}
			break
		}
	}
	if tooComplex == nil {
		t.Errorf("all were checked: %v", err)
	}
	if _, err := scope.Compile(d, false, "self == 'a'"); err != nil {
		t.Errorf("a simple one behind them: %v", err)
	}
}

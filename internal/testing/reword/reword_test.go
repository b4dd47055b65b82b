package reword

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
)

// texts has a node to which each way applies.
var texts = []string{
	"has(self.a) && (self.a > 3 || self.b == 'x') && !(self.c && self.d)",
	"self.l.all(x, x in ['p', 'q', 'r']) || size(self.l) < 2",
	"self.l.exists(x, x.size() > 1 && self.l.exists_one(y, x == y))",
	"has(self.b) ? self.b in ['x', 'y'] : true",
	"self.a != 4 && self.a <= 3 && self.a >= 1 || self.b < 'y'",
}

// With some objects, expressions fail to evaluate.
var objects = []map[string]any{
	{},
	{"a": 4, "b": "x", "c": true, "d": false, "l": []string{"p"}},
	{"a": 2, "b": "y", "c": true, "d": true, "l": []string{"p", "rr"}},
	{"a": "s", "l": []string{"z"}},
	{"a": 1, "d": false, "l": []string{}},
	{"b": 3, "c": false, "l": []any{"p", 4}},
}

func TestRule(t *testing.T) {
	t.Parallel()
	env, err := cel.NewEnv(cel.Variable("self", cel.DynType), cel.OptionalTypes())
	if err != nil {
		t.Fatal(err)
	}
	gives := func(text string) (out []bool) {
		checked, issues := env.Compile(text)
		if issues.Err() != nil {
			t.Fatalf("%s: %v", text, issues.Err())
		}
		program, err := env.Program(checked)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range objects {
			v, _, err := program.Eval(map[string]any{"self": w})
			out = append(out, err == nil && v == celtypes.True)
		}
		return out
	}
	count := map[string]int{}
	for _, text := range texts {
		want := gives(text)
		for seed := range uint64(150) {
			reworded, ways, err := Rule(rand.New(rand.NewPCG(seed, 1)), text)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range ways {
				count[w]++
			}
			if got := gives(reworded); !slices.Equal(got, want) {
				t.Errorf("%s\n%s\n%v: gives %v, want %v", text, reworded, ways, got, want)
			}
		}
	}
	for _, w := range all {
		if count[w.name] == 0 {
			t.Errorf("%s: never done", w.name)
		}
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{"a && (b || c)": {"a", "b || c"}, "a || b": nil} {
		if got, err := Split(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
	if _, err := Split("a &&"); err == nil {
		t.Error("a bad text is split")
	}
}

package lex

import (
	"slices"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
)

func TestOperandTexts(t *testing.T) {
	t.Parallel()
	env, err := cel.NewEnv(cel.Variable("self", cel.DynType), cel.OptionalTypes(), ext.Lists(), ext.Strings())
	if err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string][]string{
		"self.num > -1":                       {"self.num", "-1"},
		"self.num in lists.range(2)":          {"self.num", "lists.range(2)"},
		"self.num in .lists.range(2)":         {"self.num", ".lists.range(2)"},
		"1 in dyn(self) ":                     {"1", "dyn(self)"},
		"self.inn in lists.range(self.a.inn)": {"self.inn", "lists.range(self.a.inn)"},
		"size(self) in lists.range(2)":        {"size(self)", "lists.range(2)"},
		"'1' in self.a[0].split('in')":        {"'1'", "self.a[0].split('in')"},
		"has(self.a) && (size(self.b)) > (1)": {"has(self.a)", "(size(self.b)) > (1)"},
		"self.?a.orValue(1) == int('1')":      {"self.?a.orValue(1)", "int('1')"},
	} {
		checked, issues := env.Compile(src)
		if issues.Err() != nil {
			t.Errorf("%s: %v", src, issues.Err())
			continue
		}
		s := NewSource(src, checked)
		var got []string
		for _, arg := range checked.NativeRep().Expr().AsCall().Args() {
			got = append(got, s.Of(arg))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", src, got, want)
		}
	}
}

package lex

import (
	"slices"
	"testing"

	"github.com/google/cel-go/cel"
)

func TestUnfinished(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		"": false, "1": false, "1 +": true, "(1": true, "[1,": true, "a.b(": true, "a.b()": false, "'(": false, "'''a": true, "'''a'''": false,
		"a in": true, "in": false, "a ? b :": true, "a // +": false, "a + // b": true, "a.": true, "{'a':": true, ")": false, "r'\\": false,
	} {
		if got := Unfinished(src); got != want {
			t.Errorf("%q: %v, want %v", src, got, want)
		}
	}
}

func TestContinues(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		"": false, "1": false, "&& b": true, "  || b": true, ".size()": true, "-1": false, "!a": false, "(a)": false, "[0]": false, "? b : c": true, "// && b": false,
	} {
		if got := Continues(src); got != want {
			t.Errorf("%q: %v, want %v", src, got, want)
		}
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"a":                               "a",
		"  a\n  && b  ":                   "a && b",
		"a  == 'x  y' // why\n && //\n b": "a  == 'x  y' && b",
		"// first\na":                     "a",
		"'''a\nb'''":                      "",
		"'// no comment' +\n\t\"x\"":      "'// no comment' + \"x\"",
		"日本 +\n語":                         "日本 + 語",
	} {
		got, ok := Join(src)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q (%v), want %q", src, got, ok, want)
		}
	}
}

// TestTokens checks sources that cel-go's lexer splits differently.
func TestTokens(t *testing.T) {
	t.Parallel()
	for src, want := range map[string][]string{
		"a.?b[?0]":                 {"a", ".?", "b", "[?", "0", "]"},
		"a.0 + .5 - 1.5":           {"a", ".", "0", "+", ".5", "-", "1.5"},
		"a.`b-c` in null":          {"a", ".", "`b-c`", "in", "null"},
		"語 == '語' // é":            {"語", "==", "'語'", "// é"},
		"a\u00a0\v& $b ? .c : [d]": {"a", "&", "$", "b", "?", ".", "c", ":", "[", "d", "]"},
	} {
		var got []string
		for _, token := range Tokens([]rune(src)) {
			if got = append(got, token.Text); token.Text != string([]rune(src)[token.Start:token.End]) {
				t.Errorf("%q: %q is not at %d to %d", src, token.Text, token.Start, token.End)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", src, got, want)
		}
	}
}

func FuzzJoin(f *testing.F) {
	for _, seed := range []string{"a\n&& b // c\n|| d", "'''x\ny'''", "r'\\' + \"//\" // \n + b'\\x00'", "a.?b[?c] == -1.0e-9 ? {'k': [1u]} : has(a.b)", "日本"} {
		f.Add(seed)
	}
	env, err := cel.NewEnv(cel.OptionalTypes())
	if err != nil {
		f.Fatal(err)
	}
	text := func(src string) string {
		parsed, issues := env.Parse(src)
		if issues.Err() != nil {
			return ""
		}
		text, err := cel.AstToString(parsed)
		if err != nil {
			return ""
		}
		return text
	}
	f.Fuzz(func(t *testing.T, src string) {
		end := 0
		for _, token := range Tokens([]rune(src)) {
			if token.Start < end || token.End <= token.Start {
				t.Fatalf("%q: %+v after offset %d", src, token, end)
			}
			end = token.End
		}
		want := text(src)
		if joined, ok := Join(src); ok && want != "" && text(joined) != want {
			t.Errorf("%q on one line is %q, which means %q and not %q", src, joined, text(joined), want)
		}
		Unfinished(src)
		Continues(src)
	})
}

func TestOperand(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]int{"a + b": 2, "a + f(b)[0].c": 2, "{'a': 1}['a']": 0, "a + ": -1} {
		tokens := Tokens([]rune(src))
		if got := Operand(tokens, len(tokens)-1); got != want {
			t.Errorf("%s: the operand begins at token %d, want %d", src, got, want)
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	src := []rune(`self.hosts.all(h, h.name.matches('^[a-z]+$') && (!has(h.port) || h.port in [80, 443])) // ports`)
	b.ReportAllocs()
	for b.Loop() {
		Tokens(src)
	}
}

package lex

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// unfinishedWhole is Unfinished without a Progress: it reads all lines at once.
func unfinishedWhole(src string) bool {
	tokens, depth := Tokens([]rune(src)), 0
	for len(tokens) > 0 && tokens[len(tokens)-1].Kind == Comment {
		tokens = tokens[:len(tokens)-1]
	}
	for _, t := range tokens {
		depth += Depth(t)
	}
	return len(tokens) > 0 && unfinishedAfter(tokens[len(tokens)-1], depth, len(tokens) > 1)
}

func checkProgress(t *testing.T, text string) {
	t.Helper()
	var p Progress
	whole := ""
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			whole += "\n"
		}
		whole += line
		got, want := p.Add(line), unfinishedWhole(whole)
		if got != want {
			t.Fatalf("%q: unfinished %v, want %v", whole, got, want)
		}
		if !want {
			return
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"a &&\nb", "(\n\na\n)", "\"\"\"\n:save! x\n\"\n\"\"\"", "r'''a\n\\\n''' +\n// c\n\n1", "x in\ny", "in", "// c\nin", "[b\"\"\"\n// \"\"\"\n]", "\"abc '''\nx",
		"{'a': [\n1, // (\n2\n]}", "a.\nb", "a ?\nb :\nc",
	} {
		checkProgress(t, text)
	}
	words := []string{"a", " ", "\n", "\n", "(", ")", "[", "]", "{", "}", "+", "in", ".", ".?", "1", ".5", "'", "\"", "'''", "\"\"\"", "r", "b", "\\", "// c", "?", ":", ",", "é"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var b strings.Builder
		for range random.IntN(20) {
			b.WriteString(words[random.IntN(len(words))])
		}
		checkProgress(t, b.String())
	}
}

func FuzzProgress(f *testing.F) {
	f.Add("(\n\"\"\"\n:save! x\n\"\"\"\n)")
	f.Fuzz(checkProgress)
}

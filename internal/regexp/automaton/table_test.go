package automaton

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

var tablePatterns = []string{
	"", "a", "^a", "a$", "^a$", `\Aa\z`, "^$", "a|b", "^(a|b)$", "a*", "^a*$", "^a+b?$", "[^a]", "^[^a]*$", ".", "^.$", "(?s)^.$", "(?m)^a$", "(?m)a$", "(?i)^ab$", `\ba\b`, `\Ba`, `^\w+\s\d$`, `^[\d\D]$`,
	"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`, `^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?$`, "^[a-zA-Z]([-a-zA-Z0-9]{0,8}[a-zA-Z0-9])?$",
	"^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$", `^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$`, `^([0-9]{1,5}(h|m|s|ms)){1,4}$`, `^[0-9]+(\.[0-9]+)?$`, "^0x[0-9a-f]{4}$", "^sha256:[a-f0-9]{64}$", `^(?:a|ab)(?:c|bcd)$`, `^(a(b(c)?)?)+$`,
	"é", "^[à-ü]*$", `^\p{L}+$`, `[[:alpha:]]\n`, "a\nb", `^a$\n`, `(^|b)a($|b)`, `a{3}`, `^(ab){2,3}$`, `x*?y`, `^[^\n]$`,
}

func FuzzTable(f *testing.F) {
	for _, pattern := range tablePatterns {
		f.Add(pattern, "ab\n")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 200 || len(text) > 1000 {
			return
		}
		if table := tableOf(t, pattern); table != nil {
			againstRegexp(t, table, regexp.MustCompile(pattern), text)
		}
	})
}

func tableOf(t *testing.T, pattern string) *Table {
	l, err := Compile(pattern)
	if err != nil {
		return nil
	}
	return l.Table()
}

func againstRegexp(t *testing.T, table *Table, re *regexp.Regexp, text string) {
	t.Helper()
	got, ok := table.Matches(text)
	if ascii := strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0; ok != ascii {
		t.Fatalf("%q on %q: got %t", re, text, ok)
	}
	if want := re.MatchString(text); ok && got != want {
		t.Fatalf("%q on %q: got %t, want %t", re, text, got, want)
	}
}

func TestTableAsRegexp(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, pattern := range tablePatterns {
		table, re := tableOf(t, pattern), regexp.MustCompile(pattern)
		if table == nil {
			t.Errorf("%q: no table", pattern)
			continue
		}
		for range 2000 {
			againstRegexp(t, table, re, madeText(rng))
		}
	}
	for _, pattern := range []string{"(a|b)*a(a|b){10}", "^.{0,300}$", "^(a{1,90}){1,90}$"} {
		if tableOf(t, pattern) != nil {
			t.Errorf("%q: a table of so many states", pattern)
		}
	}
	if All().Table() != nil {
		t.Error("got a table without a pattern")
	}
}

func madeText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(9) {
		b.WriteString([]string{"a", "b", "c", "ab", "A", "z", "0", "9", ".", "-", "_", " ", "\n", "h", "ms", "x", "%2f", "/", "*.", "é", "\xff", "sha256:"}[rng.IntN(22)])
	}
	return b.String()
}

func BenchmarkTable(b *testing.B) {
	const src, text = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`, "foo-bar.example.com"
	l, err := Compile(src)
	if err != nil {
		b.Fatal(err)
	}
	table, re := l.Table(), regexp.MustCompile(src)
	b.Run("with=table", func(b *testing.B) {
		for b.Loop() {
			table.Matches(text)
		}
	})
	b.Run("with=regexp", func(b *testing.B) {
		for b.Loop() {
			re.MatchString(text)
		}
	})
	b.Run("make", func(b *testing.B) {
		for b.Loop() {
			l.Table()
		}
	})
}

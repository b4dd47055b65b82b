package automaton

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func compile(t testing.TB, pattern string) *Language {
	t.Helper()
	l, err := Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func one(t testing.TB, of func(string) (*Language, error), text string) *Language {
	t.Helper()
	l, err := of(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestFind(t *testing.T) {
	t.Parallel()
	label := `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	for name, c := range map[string]struct {
		language *Language
		search   Search
		want     []string
		complete bool
	}{
		"anything":              {language: All(), want: []string{""}},
		"the empty text only":   {language: one(t, Text, ""), search: Search{Count: 2}, want: []string{""}, complete: true},
		"label":                 {language: compile(t, label), want: []string{"a"}},
		"long label":            {language: compile(t, label), search: Search{MinLength: 5}, want: []string{"aaaaa"}},
		"several labels":        {language: compile(t, label), search: Search{Count: 3}, want: []string{"a", "b", "c"}},
		"all of few":            {language: compile(t, `^[ab]c?$`), search: Search{Count: 9}, want: []string{"a", "b", "ac", "bc"}, complete: true},
		"not a label":           {language: compile(t, label).Not(), want: []string{""}},
		"not a label, some":     {language: compile(t, label).Not(), search: Search{MinLength: 1}, want: []string{"A"}},
		"unanchored":            {language: compile(t, `ab+c`), search: Search{MinLength: 4}, want: []string{"aabc"}},
		"two patterns":          {language: compile(t, `^[a-f]+$`).And(compile(t, `[e-z]{2}$`)), want: []string{"ee"}},
		"contradiction":         {language: compile(t, `^a`).And(compile(t, `^b`)), complete: true},
		"too short for any":     {language: compile(t, `^abc`), search: Search{MaxLength: 2}, complete: true},
		"prefix and suffix":     {language: one(t, Prefix, "ab").And(one(t, Suffix, "bc")), want: []string{"abc"}},
		"prefix, other suffix":  {language: one(t, Prefix, "ab").And(one(t, Suffix, "bc"), one(t, Text, "abc").Not()), want: []string{"abbc"}},
		"contains":              {language: one(t, Containing, "x.y").And(compile(t, `^[a-z.]*$`)), search: Search{MinLength: 5}, want: []string{"aax.y"}},
		"one or the other":      {language: one(t, Text, "left").Or(one(t, Text, "on")), search: Search{Count: 3}, want: []string{"on", "left"}, complete: true},
		"none of nothing":       {language: All().Not(), complete: true},
		"fold":                  {language: compile(t, `(?i)^k$`).And(one(t, Text, "k").Not(), one(t, Text, "K").Not()), want: []string{"\u212a"}},
		"word boundary":         {language: compile(t, `a\b.\bb`), want: []string{"a-b"}},
		"no boundary":           {language: compile(t, `^a\Bb$`), want: []string{"ab"}},
		"boundary in a word":    {language: compile(t, `^a\bb$`), complete: true},
		"lines":                 {language: compile(t, `(?m)^a$`).And(compile(t, `^b`)), want: []string{"b\na"}},
		"dot":                   {language: compile(t, `^.$`).Not().And(compile(t, `(?s)^.$`)), want: []string{"\n"}},
		"many states":           {language: compile(t, `(a|b)*a(a|b){18}$`), search: Search{Steps: 1000}},
		"length in code points": {language: compile(t, `^é+$`), search: Search{MinLength: 3, MaxLength: 3}, want: []string{"ééé"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.language.Find(c.search)
			if diff := cmp.Diff(Found{Texts: c.want, Complete: c.complete, Spent: got.Spent}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

var pieces = []string{"a", "b", "ab", "[ab]", "[^a]", ".", "^", "$", `\b`, `\B`, `(?m:^)`, `(?m:$)`, "(a|b)", "(ab)*", "a?", "b+", "a{2}", "b{1,2}", "(?i:A)", `\n`, "|", ""}

func patternsOf(data []byte) (pattern string, rest []byte) {
	var b strings.Builder
	for len(data) > 0 && data[0] != 0xff {
		b.WriteString(pieces[int(data[0])%len(pieces)])
		data = data[1:]
	}
	if len(data) > 0 {
		data = data[1:]
	}
	return b.String(), data
}

func words(letters string, n int) []string {
	all := []string{""}
	for begin := 0; n > 0; n-- {
		end := len(all)
		for _, word := range all[begin:end] {
			for _, r := range letters {
				all = append(all, word+string(r))
			}
		}
		begin = end
	}
	return all
}

// FuzzFind compares languages with Go's regular expressions: the strings found must be in the
// language, no shorter one may be missed, and a language proved empty must have no strings.
func FuzzFind(f *testing.F) {
	for i := range pieces {
		f.Add([]byte{byte(i), byte(2 * i), 0xff, byte(3*i + 1), byte(i)}, uint8(i))
	}
	all := words("abA\n-é", 3)
	f.Fuzz(func(t *testing.T, data []byte, bounds uint8) {
		if len(data) > 12 {
			return
		}
		one, rest := patternsOf(data)
		two, _ := patternsOf(rest)
		if _, err := regexp.Compile(one + two); err != nil {
			return
		}
		search := Search{MinLength: int(bounds % 3), MaxLength: int(bounds / 3 % 5), Count: 1 + int(bounds/15%3)}
		holdFind(t, one, two, search, all)
	})
}

func holdFind(t *testing.T, one, two string, search Search, all []string) {
	t.Helper()
	first, err := regexp.Compile(one)
	if err != nil {
		return
	}
	second, err := regexp.Compile(two)
	if err != nil {
		return
	}
	language := compile(t, one).And(compile(t, two).Not())
	found := language.Find(search)
	in := func(text string) bool { return first.MatchString(text) && !second.MatchString(text) }
	within := func(text string) bool {
		n := utf8.RuneCountInString(text)
		return n >= search.MinLength && (search.MaxLength == 0 || n <= search.MaxLength)
	}
	about := fmt.Sprintf("%q and not %q, %+v: %+v", one, two, search, found)
	for _, text := range found.Texts {
		if !in(text) || !within(text) || !language.Contains(text) {
			t.Fatalf("%s: %q is not one", about, text)
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(found.Texts)))) != len(found.Texts) {
		t.Fatalf("%s: one twice", about)
	}
	for _, word := range all {
		if language.Contains(word) != in(word) {
			t.Fatalf("%s: contains %q %v", about, word, !in(word))
		}
		if !in(word) || !within(word) || slices.Contains(found.Texts, word) {
			continue
		}
		if found.Complete {
			t.Fatalf("%s: complete, and %q is one", about, word)
		}
		if n := len(found.Texts); n < max(search.Count, 1) || n > 0 && utf8.RuneCountInString(word) < utf8.RuneCountInString(found.Texts[n-1]) && n >= search.Count {
			t.Fatalf("%s: %q was overlooked", about, word)
		}
	}
}

func TestLargePatterns(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"(a{1000}){1000}", strings.Repeat("(x+", 1001) + strings.Repeat(")", 1001), strings.Repeat("a{500}", 100)} {
		if _, err := Compile(pattern); err == nil {
			t.Errorf("%.20q: no error", pattern)
		}
	}
	if _, err := Prefix(strings.Repeat("a", maxInstructions)); err == nil {
		t.Error("a long text: no error")
	}
	hard := compile(t, strings.Repeat("(a|b|ab)*", 200)+"c$").And(compile(t, strings.Repeat("[a-c]?", 900)+"$").Not())
	if got := hard.Find(Search{MinLength: 100}); len(got.Texts) > 0 && !hard.Contains(got.Texts[0]) {
		t.Error(got)
	}
}

package lineedit

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type words []string

func (w words) Complete(line []rune, pos int) Completion {
	start := strings.LastIndex(string(line[:pos]), " ") + 1
	start = len([]rune(string(line[:pos])[:start]))
	c := Completion{Start: start}
	for _, word := range w {
		if strings.HasPrefix(word, string(line[start:pos])) {
			c.Items = append(c.Items, Item{Text: word, Hint: "hint"})
		}
	}
	return c
}

func (words) Describe(_ []rune, _ int, item Item) string { return "about " + item.Text }

func (words) History() []string { return []string{"first line", "second line", "über den Fluß"} }

// typist applies keys to a line as readline does.
type typist struct {
	*Editor
	line   []rune
	pos    int
	result string // the last line that was entered
}

func (p *typist) press(keys ...rune) {
	for _, r := range keys {
		a := p.Key(r, p.line, p.pos)
		switch {
		case a.Key >= ' ' && a.Key < 0x7f || a.Key > 0xa0 && (a.Key < keyFirst || a.Key > keyLast):
			p.line = append(p.line[:p.pos:p.pos], append([]rune{a.Key}, p.line[p.pos:]...)...)
			p.pos++
		case a.Key == KeyBackspace && p.pos > 0:
			p.line = append(p.line[:p.pos-1:p.pos-1], p.line[p.pos:]...)
			p.pos--
		case a.Key == KeyLeft:
			p.pos = max(0, p.pos-1)
		case a.Key == KeyRight:
			p.pos = min(len(p.line), p.pos+1)
		case a.Key == KeyEnter || a.Key == KeyInterrupt:
			p.result = string(p.line)
			p.line, p.pos = nil, 0
			p.Begin()
		}
		if a.Replace {
			p.line, p.pos = a.Line, a.Pos
		}
		p.Changed(p.line, p.pos)
	}
}

func (p *typist) shown() string { return string(p.line[:p.pos]) + "|" + string(p.line[p.pos:]) }

var source = words{"alpha", "alphabet", "beta'", "gamma(", "gamma2("}

func TestEditor(t *testing.T) {
	t.Parallel()
	const (
		enter, up, down, right, left = KeyEnter, KeyUp, KeyDown, KeyRight, KeyLeft
	)
	for _, test := range []struct {
		keys  []rune
		shown string
		below string
	}{
		{[]rune("x\t"), "x|", ""},
		{[]rune("b\t"), "beta'|", ""},
		{append([]rune("b'"), left, KeyTab), "beta'|", ""},
		{[]rune("a\t"), "alpha|", "> alpha     hint\n  alphabet  hint\n  about alpha"},
		{[]rune("a\t\t"), "alpha|", "  alpha     hint\n> alphabet  hint\n  about alphabet"},
		{[]rune{'a', KeyTab, down, enter}, "alphabet|", ""},
		{[]rune{'a', KeyTab, up, right}, "alphabet|", ""},
		{[]rune{'a', KeyTab, KeyBackTab, enter, 'x'}, "alphabetx|", ""},
		{[]rune("a\tb"), "alphab|", "> alphabet  hint\n  about alphabet"},
		{[]rune("a\tbet"), "alphabet|", ""},
		{[]rune{'a', KeyTab, 'b', KeyBackspace}, "alpha|", "  alpha     hint\n> alphabet  hint\n  about alphabet"},
		{[]rune{'a', KeyTab, KeyBackspace}, "alph|", ""},
		{[]rune{'a', KeyTab, KeyEscape}, "alpha|", ""},
		{[]rune{'a', KeyTab, KeyCancel}, "alpha|", ""},
		{[]rune{'a', KeyTab, KeyPaste, 'x'}, "alphax|", ""},
		{[]rune{'a', KeyTab, KeyInterrupt}, "|", ""},
		{[]rune("日本 g\t"), "日本 gamma|", "> gamma(   hint\n  gamma2(  hint\n  about gamma("},
		{append([]rune("g()"), left, left, KeyTab), "gamma|()", "> gamma(   hint\n  gamma2(  hint\n  about gamma("},
		{append([]rune("g()"), left, left, KeyTab, enter), "gamma(|)", ""},
		{[]rune{KeySearch, 'l', 'i'}, "second |line", "bck-i-search: li_"},
		{[]rune{KeySearch, 'l', 'i', KeySearch}, "first |line", "bck-i-search: li_"},
		{[]rune{KeySearch, 'l', 'i', KeySearch, KeySearch}, "first |line", "failing bck-i-search: li_"},
		{[]rune{KeySearch, 'F', 'l', 'u', 'ß'}, "über den |Fluß", "bck-i-search: Fluß_"},
		{[]rune{'x', KeySearch, 'l', KeyCancel}, "x|", ""},
		{[]rune{'x', KeySearch, 'l', KeyBackspace, left}, "|x", ""},
		{[]rune{KeySearch, 'f', 'i', KeyRight}, "f|irst line", ""},
		{[]rune{'a', 'b', left, KeyDelete}, "a|", ""},
	} {
		p := &typist{Editor: NewEditor(source)}
		p.Begin()
		p.press(test.keys...)
		if p.shown() != test.shown {
			t.Errorf("%q: the line is %s, want %s", test.keys, p.shown(), test.shown)
		}
		if below := strings.Join(p.Below(Style{}, 30, 10), "\n"); below != test.below {
			t.Errorf("%q: below is\n%s\nwant\n%s", test.keys, below, test.below)
		}
	}
}

func TestSearchEnter(t *testing.T) {
	t.Parallel()
	p := &typist{Editor: NewEditor(source)}
	p.press(KeySearch, 'f', KeyEnter)
	if p.result != "first line" {
		t.Errorf("entered %q", p.result)
	}
}

func TestEditorRandom(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 45))
	keys := []rune("abgl'( wbdcxXfFtTrpPiIaASsCD0$^ejk日\t\r\x01\x02\x03\x06\x07\x08\x0e\x10\x12\x13\x14\x7f")
	for key := rune(keyFirst); key <= KeyPaste; key++ {
		keys = append(keys, key)
	}
	p := &typist{Editor: NewEditor(source)}
	p.Begin()
	for range 100_000 {
		p.press(keys[random.IntN(len(keys))])
		if p.pos < 0 || p.pos > len(p.line) {
			t.Fatalf("the cursor is at %d of %q", p.pos, string(p.line))
		}
		height := 1 + random.IntN(12)
		if lines := p.Below(Style{}, random.IntN(40), height); len(lines) > height {
			t.Fatalf("%d lines, want at most %d", len(lines), height)
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text         string
		width, lines int
		want         []string
	}{
		{"", 10, 2, nil},
		{"one two three", 7, 2, []string{"one two", "three"}},
		{"one two three four", 7, 2, []string{"one two", "three …"}},
		{"onetwothree four", 7, 2, []string{"onetwo…", "four"}},
		{"one two", 7, 0, nil},
	} {
		if diff := cmp.Diff(test.want, wrap(test.text, test.width, test.lines)); diff != "" {
			t.Errorf("%q: -want +got\n%s", test.text, diff)
		}
	}
}

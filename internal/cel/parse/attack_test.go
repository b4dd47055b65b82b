package parse_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/internal/cel/parse"
	"github.com/celadon-cel/celadon/internal/testing/cputime"
)

// TestAttackParser parses the largest expressions that repeat or nest each construct, and larger
// expressions than cel-go accepts. Stack and time must stay bounded.
func TestAttackParser(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	s, _ := kubernetes(t)
	patterns := []string{
		"(", "[", "{", "{a:", "f(", "a.f(", "a[", "M{a:", "!", "-", "a?", "a?b:", "a==(", "a+", "a*b+", "a&&", "a||b&&", "a.", "a .b", ".?", ".", "..a", "a[0]", "a()", "'", "'''", "r'", "\\", "`", "`a`", "//\n", "/", "1", "0x", "1e", ".1", "a b", "a{", "x.y{", ")", "(]", "[)", "{)", ",", ":", "?", "@", "é", "\xff", "!-", "a.all(x,", "has(a.b)&&", "[a,", "{a:b,", "in ", "for ", "for.", "a.for.", "1 2", "a?b?", "(a)(",
	}
	for _, pattern := range patterns {
		for _, size := range []int{90_000, 1_500_000} {
			src := parse.NewSource(strings.Repeat(pattern, size/len(pattern)))
			var err error
			used := cputime.Call(func() { _, err = s.ours.Parse(src) })
			if err == nil && len(src.Content()) > 100_000 {
				t.Errorf("%q, %d bytes: accepted", pattern, size)
			}
			used += cputime.Call(func() {
				if tree, _ := s.ours.Tolerant(src); tree.Expr() == nil {
					t.Errorf("%q, %d bytes: no tree", pattern, size)
				}
			})
			// An expression takes milliseconds. With quadratic time, it would take minutes.
			if used > 10*time.Second {
				t.Errorf("%q, %d bytes: %s of processor time", pattern, size, used)
			}
		}
	}
}

// TestAttackMacros parses macros that copy each other, in valid and invalid expressions: cel-go
// expands macros in both.
func TestAttackMacros(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	s, _ := kubernetes(t)
	few, many := "a"+strings.Repeat(".optMap(x, x)", 8), "a"+strings.Repeat(".optMap(x, x)", 200)
	if !s.compare(t, few) {
		t.Errorf("%s: not accepted", few)
	}
	for _, src := range []string{many, many + " )", ") " + many, "f(" + many, "[ + " + many, "a @ " + many, "1 1 " + many, strings.ReplaceAll(many, "optMap", "optFlatMap"), "{a ? " + many + ": b"} {
		if _, err := s.ours.Parse(parse.NewSource(src)); !errors.Is(err, parse.ErrFlood) {
			t.Errorf("%.60s: got %v, want %v", src, err, parse.ErrFlood)
		}
		if _, holes := s.ours.Tolerant(parse.NewSource(src)); len(holes) == 0 {
			t.Errorf("%.60s: no holes", src)
		}
	}
}

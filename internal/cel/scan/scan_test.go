package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/internal/cel/scan"
)

// In the wanted tokens, ! marks open and bad tokens, and \ marks escaped tokens.
func TestScanTokens(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"":                         "",
		" \t\r\n\f":                "",
		"a.b_1 == 'x'":             "a . b_1 == 'x'",
		"a//b\n//c":                "a //b //c",
		"in true false null inn":   "in true false null inn",
		"a<=b>=c<d>e!=!f":          "a <= b >= c < d > e != ! f",
		"a&&b||c&d|e=f":            "a && b || c &! d |! e =! f",
		"([{}])?:,%*/+-":           "( [ { } ] ) ? : , % * / + -",
		"1 1u 0x1F 0xfU 1.5 .5 1.": `1 1u 0x1F\ 0xfU\ 1.5 .5 1 .`,
		"1e5 1e+5 1.5E-5 1e 1.e5":  "1e5 1e+5 1.5E-5 1 e 1 . e5",
		"0x 0xg 5in a..b":          "0 x 0 xg 5 in a . . b",
		`"" '' """a"b""" '''x'''`:  `"" '' """a"b""" '''x'''`,
		`r"\" b'a' bR"\" rb"a"`:    `r"\" b'a' bR"\" rb "a"`,
		`"\"" '\'' """\""""`:       `"\""\ '\''\ """\""""\`,
		"'''a\r\nb'''":             "'''a\r\nb'''\\",
		"'a\nb":                    "'a! b",
		"'a\\\nb":                  `'a\!\ b`,
		`'''a`:                     `'''a!`,
		`"a\`:                      `"a\!\`,
		"`a-b.c/d e` `a `` `é`":    "`a-b.c/d e` `a ` ` ` é! `!",
		"@ é \xff#":                "@! é! \xff! #!",
	} {
		var got []string
		scanner := scan.WithComments(src)
		for token := scanner.Next(); token.Kind != scan.EOF; token = scanner.Next() {
			text := src[token.Start:token.End]
			if token.Marks.Has(scan.Open) || token.Kind == scan.Bad {
				text += "!"
			}
			if token.Marks.Has(scan.Escaped) {
				text += `\`
			}
			got = append(got, text)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q: got %s, want %s", src, got, want)
		}
	}
}

func TestScanFrom(t *testing.T) {
	t.Parallel()
	scanner := scan.New("a // b\n c", 1)
	for _, want := range []scan.Token{{Kind: scan.Ident, Start: 8, End: 9}, {Kind: scan.EOF, Start: 9, End: 9}, {Kind: scan.EOF, Start: 9, End: 9}} {
		if got := scanner.Next(); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{"", "a.?b[?c] == -1.0e-9 // d\n", `'''a\'''' r"\" b'\x00'`, "`a", "\"\\", "é\xff@"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		scanner, end := scan.WithComments(src), int32(0)
		for {
			token := scanner.Next()
			if token.Start < end || token.End < token.Start || int(token.End) > len(src) || strings.Trim(src[end:token.Start], " \t\r\n\f") != "" {
				t.Fatalf("%q: %s after offset %d", src, fmt.Sprint(token), end)
			}
			if token.Kind == scan.EOF {
				break
			}
			if token.End == token.Start {
				t.Fatalf("%q: %v is empty", src, token)
			}
			end = token.End
		}
		if strings.Trim(src[end:], " \t\r\n\f") != "" {
			t.Fatalf("%q: nothing of %q", src, src[end:])
		}
	})
}

package smtlib

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": `""`, "a b": `"a b"`, `say "x"`: `"say ""x"""`, `\u{41}`: `"\u{5c}u{41}"`, "é\n": `"\u{e9}\u{a}"`, "\U00030000": "", "\xff": "",
	} {
		got, err := Text(text)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: got %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestRegex(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"^ab$":                       `(str.to_re "ab")`,
		"ab":                         `(re.++ re.all (str.to_re "ab") re.all)`,
		"^$":                         `(str.to_re "")`,
		"^a|b$":                      `(re.union (re.++ (str.to_re "a") re.all) (re.++ re.all (str.to_re "b")))`,
		"^(a+|[0-9]?)$":              `(re.union (re.+ (str.to_re "a")) (re.opt (re.range "0" "9")))`,
		"^[a-z]{2,3}$":               `((_ re.loop 2 3) (re.range "a" "z"))`,
		"^x{2,}$":                    `(re.++ ((_ re.loop 2 2) (str.to_re "x")) (re.* (str.to_re "x")))`,
		"^.$":                        `(re.union (re.range "\u{0}" "\u{9}") (re.range "\u{b}" "\u{2ffff}"))`,
		"(?s)^.$":                    "re.allchar",
		"(?i)^k$":                    `(re.union (re.range "K" "K") (re.range "k" "k") (re.range "\u{212a}" "\u{212a}"))`,
		`^[^\x{30000}]$`:             "",
		`^a\b`:                       "",
		"a^b":                        "",
		"(?m)^a$":                    "",
		"(":                          "",
		strings.Repeat("a?", 50_000): "",
	} {
		got, err := Regex(pattern)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%.40s: got %.200s, %v, want %s", pattern, got, err, want)
		}
	}
}

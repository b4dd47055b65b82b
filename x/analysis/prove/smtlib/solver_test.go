package smtlib

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is a solver that a test makes up: a shell script, whose parts are what
// it does when asked for its version, and else.
func program(t *testing.T, version, asked string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "solver")
	text := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = --version ]; then\n%s\nexit\nfi\n%s\n", version, asked)
	// A process that another test starts meanwhile would hold the file open, and
	// what is open for writing cannot be run.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

const reads = "while read -r line; do :; done\n" // all of the script

func TestAsk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asked string
		want  Answer
		core  []string
		err   string
	}{
		"unsat":                      {reads + "echo unsat; echo '(b a)'", Unsatisfiable, []string{"b", "a"}, ""},
		"unsat without a core":       {reads + "echo unsat; echo '()'", Unsatisfiable, nil, ""},
		"sat":                        {reads + "echo sat; echo '(error \"no core\")'; exit 1", Satisfiable, nil, ""},
		"unknown":                    {reads + "echo unknown", Unknown, nil, ""},
		"unsat and no list":          {reads + "echo unsat", Unknown, nil, `answered "" after unsat, want a list of names`},
		"unsat and an error":         {reads + "echo unsat; echo '(error \"x\")'", Unknown, nil, `named "error", which it was not asked about`},
		"a core of others":           {reads + "echo unsat; echo '(c)'", Unknown, nil, `named "c", which it was not asked about`},
		"something else":             {reads + "echo unsatisfiable", Unknown, nil, `answered "unsatisfiable", want sat, unsat or unknown`},
		"nothing":                    {reads, Unknown, nil, `answered "", want sat, unsat or unknown`},
		"it fails":                   {reads + "exit 3", Unknown, nil, "exit status 3"},
		"it reads nothing":           {"echo unsat; echo '(a)'", Unsatisfiable, []string{"a"}, ""},
		"it writes without an end":   {"while :; do echo unsat; done", Unknown, nil, "wrote more than 1048576 bytes"},
		"it has no variables of us":  {reads + "if [ -n \"$HOME\" ]; then echo sat; else echo unknown; fi", Unknown, nil, ""},
		"it gets no argument of us":  {reads + "if [ $# -gt 0 ]; then echo sat; else echo unknown; fi", Unknown, nil, ""},
		"it gets the question whole": {"while read -r line; do case $line in '(check-sat-assuming (a b))') echo unsat; echo '(a)';; esac; done", Unsatisfiable, []string{"a"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Open(t.Context(), program(t, "echo 'made up 1.0'", c.asked))
			if err != nil {
				t.Fatal(err)
			}
			got, core, err := s.Ask(t.Context(), "(declare-const a Bool)\n(declare-const b Bool)\n", []string{"a", "b"})
			if got != c.want || !slices.Equal(core, c.core) {
				t.Errorf("got %v, %q, want %v, %q", got, core, c.want, c.core)
			}
			if text := fmt.Sprint(err); c.err != "" && !strings.HasSuffix(text, c.err) || c.err == "" && err != nil {
				t.Errorf("got the error %s, want %q", text, c.err)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"echo 'Z3 version 4.8.12 - 64 bit'":                  "z3 4.8.12",
		"echo 'This is cvc5 version 1.0.3'; echo 'compiled'": "cvc5 1.0.3",
		"echo 'Mine, of today'; echo more":                   "solver Mine, of today",
		"":                                                   "solver",
	} {
		s, err := Open(t.Context(), program(t, version, ""))
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != want {
			t.Errorf("got %q, want %q", s.Name, want)
		}
	}
	for name, want := range map[string]string{
		"yices":                    `solver "yices": not known (want z3, cvc5 or the path of a program)`,
		"z3; rm -rf":               `solver "z3; rm -rf": not known (want z3, cvc5 or the path of a program)`,
		"./none":                   "no such file or directory",
		program(t, "exit 2", ""):   "exit status 2",
		"/" + program(t, ":", "-"): "",
	} {
		_, err := Open(t.Context(), name)
		if text := fmt.Sprint(err); want != "" && !strings.HasSuffix(text, want) || want == "" && err != nil {
			t.Errorf("%s: got %s, want %q", name, text, want)
		}
	}
}

// TestCancelled: the program ends with the context.
func TestCancelled(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), program(t, ":", "while :; do :; done"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if a, _, err := s.Ask(ctx, "", nil); err == nil || a != Unknown {
		t.Errorf("got %v, %v", a, err)
	}
}

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

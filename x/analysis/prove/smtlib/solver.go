package smtlib

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// How it works. The solver is a program that the user named; it is started once
// to say its version, and once for each question, with the script on its standard
// input. It gets no argument that comes from a file, no shell, and an empty
// environment; what it may take is bounded by its own resource limit where it has
// one, and by a time. Of what it writes, a bounded part is read, and only "unsat"
// with a core of known names counts as an answer.

// Solver is an external program.
type Solver struct {
	path string
	// Name is the program with its version, in its own words: "z3 4.8.12".
	Name string
	args []string
}

// known are the programs whose ways are known, and what each is told: how much
// work it may do, as it counts it.
var known = map[string][]string{
	"z3":   {"-in", "-smt2", "rlimit=5000000", "-memory:2048"},
	"cvc5": {"--lang=smt2", "--incremental", "--strings-exp", "--rlimit=500000"},
}

const (
	// maxTime ends what no resource limit ended.
	maxTime = 20 * time.Second
	// maxOutput is how much of an answer is read.
	maxOutput = 1 << 20
)

// Open finds a solver, z3 or cvc5 or the path of a program, and asks for its
// version.
func Open(ctx context.Context, name string) (*Solver, error) {
	if !strings.ContainsRune(name, filepath.Separator) {
		if known[name] == nil {
			return nil, fmt.Errorf("solver %q: not known (want z3, cvc5 or the path of a program)", name)
		}
		path, err := exec.LookPath(name)
		if err != nil {
			return nil, fmt.Errorf("solver %s: not installed (%w): give the path of the program", name, err)
		}
		name = path
	}
	path, err := filepath.Abs(name) // it is started in another folder
	if err != nil {
		return nil, err
	}
	s := &Solver{path: path}
	said, err := s.run(ctx, "", "--version")
	if err != nil {
		return nil, fmt.Errorf("solver %s: %w", name, err)
	}
	s.Name = versionOf(filepath.Base(name), said)
	for solver, args := range known {
		if strings.HasPrefix(s.Name, solver+" ") {
			s.args = args
		}
	}
	return s, nil
}

// versionOf finds a known solver in what a program says of itself; of any other
// it takes the first line.
func versionOf(base, said string) string {
	version := regexp.MustCompile(`(?i)\b(z3|cvc5)\b[^0-9\n]{0,20}([0-9][0-9A-Za-z.-]{0,30})`)
	if m := version.FindStringSubmatch(said); m != nil {
		return strings.ToLower(m[1]) + " " + m[2]
	}
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if len(line) > 60 {
		line = line[:60]
	}
	return strings.ToValidUTF8(strings.TrimSpace(base+" "+line), "")
}

// Answer is what a solver knows.
type Answer uint8

// The answers.
const (
	Unknown Answer = iota
	Satisfiable
	Unsatisfiable
)

// Ask says whether what a script asserts can be true together with some
// constants of type Bool and, if it cannot, which of these that needs. What takes
// too much is unknown; the error is of a solver that does not answer.
func (s *Solver) Ask(ctx context.Context, script string, assumed []string) (a Answer, core []string, err error) {
	var b strings.Builder
	b.WriteString("(set-option :produce-unsat-assumptions true)\n(set-logic ALL)\n")
	b.WriteString(script)
	fmt.Fprintf(&b, "(check-sat-assuming (%s))\n(get-unsat-assumptions)\n", strings.Join(assumed, " "))
	said, err := s.run(ctx, b.String(), s.args...)
	if errors.Is(err, errTime) {
		return Unknown, nil, nil
	}
	if err == nil {
		a, core, err = read(said, assumed)
	}
	if err != nil {
		err = fmt.Errorf("solver %s: %w", s.Name, err)
	}
	return a, core, err
}

// read takes "unsat" with a list of known names, "sat" and "unknown", after
// which an error for the list is in order, and nothing else.
func read(said string, assumed []string) (a Answer, core []string, err error) {
	first, rest, _ := strings.Cut(strings.TrimSpace(said), "\n")
	switch first = strings.TrimSpace(first); first {
	case "sat":
		return Satisfiable, nil, nil
	case "unknown", "timeout":
		return Unknown, nil, nil
	case "unsat":
		rest = strings.TrimSpace(rest)
		if !strings.HasPrefix(rest, "(") || !strings.HasSuffix(rest, ")") {
			return Unknown, nil, fmt.Errorf("answered %.80q after unsat, want a list of names", rest)
		}
		for _, name := range strings.Fields(rest[1 : len(rest)-1]) {
			if !slices.Contains(assumed, name) {
				return Unknown, nil, fmt.Errorf("named %.80q, which it was not asked about", name)
			}
			core = append(core, name)
		}
		return Unsatisfiable, core, nil
	}
	if strings.Contains(first, "interrupted by") { // cvc5's resource limit
		return Unknown, nil, nil
	}
	return Unknown, nil, fmt.Errorf("answered %.80q, want sat, unsat or unknown", first)
}

var errTime = errors.New("took too long")

func (s *Solver) run(ctx context.Context, stdin string, args ...string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	out := &head{max: maxOutput}
	cmd := exec.CommandContext(limited, s.path, args...)
	cmd.Stdin, cmd.Stdout = strings.NewReader(stdin), out
	cmd.Env = []string{}
	cmd.Dir = os.TempDir()
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "", errTime
	case out.more:
		return "", fmt.Errorf("wrote more than %d bytes", maxOutput)
	}
	// Solvers end with an error where there is no core to be had.
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && out.buf.Len() > 0 {
		err = nil
	}
	return out.buf.String(), err
}

// head keeps the begin of what is written.
type head struct {
	buf  bytes.Buffer
	max  int
	more bool
}

func (h *head) Write(p []byte) (int, error) {
	room := h.max - h.buf.Len()
	h.more = h.more || len(p) > room
	return h.buf.Write(p[:min(len(p), room)]) // a short write ends the copying
}

package smtlib

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// A Solver is an installed program.
type Solver struct {
	Name string
	path string
	args []string
}

// maxTime ends a query that the solver's own resource limit does not end.
const maxTime = 20 * time.Second

// Installed returns the solvers on this machine.
func Installed() (all []*Solver) {
	for _, s := range []*Solver{
		{Name: "z3", args: []string{"-in", "-smt2", "rlimit=5000000", "-memory:2048"}},
		{Name: "cvc5", args: []string{"--lang=smt2", "--incremental", "--strings-exp", "--rlimit=500000"}},
	} {
		var err error
		if s.path, err = exec.LookPath(s.Name); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// An Answer is the result of a query.
type Answer uint8

// The results of a query. A query that exceeds a limit is unknown.
const (
	AnswerUnknown Answer = iota
	AnswerSatisfiable
	AnswerUnsatisfiable
)

// Check reports whether all assertions of a script can be true together with the assumed constants
// of type Bool.
func (s *Solver) Check(ctx context.Context, script string, assumed []string) (Answer, error) {
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	cmd := exec.CommandContext(limited, s.path, s.args...)
	cmd.Stdin = strings.NewReader(fmt.Sprintf("(set-logic ALL)\n%s(check-sat-assuming (%s))\n", script, strings.Join(assumed, " ")))
	out, err := cmd.Output()
	if errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		return AnswerUnknown, nil
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	switch first = strings.TrimSpace(first); {
	case first == "sat":
		return AnswerSatisfiable, nil
	case first == "unsat":
		return AnswerUnsatisfiable, nil
	case first == "unknown", first == "timeout", strings.Contains(first, "interrupted by"): // cvc5's resource limit
		return AnswerUnknown, nil
	}
	return AnswerUnknown, fmt.Errorf("%s answered %.80q, want sat, unsat, or unknown (%w)", s.Name, first, err)
}

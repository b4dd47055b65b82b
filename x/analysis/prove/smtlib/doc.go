// Package smtlib asks external solvers, in SMT-LIB 2 (https://smt-lib.org).
//
//	s, err := smtlib.Open(ctx, "z3")
//	script := "(declare-const |a| Bool)\n(assert |a|)\n"
//	core, unsat, err := s.Ask(ctx, script, []string{"|b|"})
//
// Regex and Text write what scripts need of patterns and texts.
package smtlib

import "errors"

// ErrNotExpressible is a pattern or a text that SMT-LIB cannot say.
var ErrNotExpressible = errors.New("cannot be said in SMT-LIB")

// Package smtlib runs z3 and cvc5 with scripts in SMT-LIB 2 (https://smt-lib.org). Tests
// use it to check the results of Celadon's solver.
package smtlib

import "errors"

// ErrNotExpressible is the error for a pattern or a string that SMT-LIB cannot express.
var ErrNotExpressible = errors.New("cannot be expressed in SMT-LIB")

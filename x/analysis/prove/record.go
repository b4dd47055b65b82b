package prove

import (
	"slices"

	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

// A recording holds the clauses of a formula and the meaning of its propositions. Tests
// write it as a script for other solvers (script_test.go).
type recording struct {
	clauses [][]sat.Lit
	atoms   []atom
}

// An atom is a proposition about a and b. If meaning is isInt64, a and b are the same.
type atom struct {
	lit     sat.Lit
	meaning meaning
	a, b    alt
}

// A meaning identifies the statement of a proposition about two values.
type meaning string

const (
	isEqual meaning = "="
	isLess  meaning = "<"
	isInt64 meaning = "int64"
)

func (r *recording) clause(lits []sat.Lit) {
	if r != nil {
		r.clauses = append(r.clauses, slices.Clone(lits))
	}
}

func (r *recording) atom(l sat.Lit, m meaning, a, b alt) {
	if r != nil {
		r.atoms = append(r.atoms, atom{l, m, a, b})
	}
}

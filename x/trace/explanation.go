package trace

import (
	"sync/atomic"

	"github.com/celadon-cel/celadon/x/trace/record"
)

// A Value is a part of a rule and its value, as decoded JSON.
type Value struct {
	Expr  string
	Value any
}

// An Explanation holds the values that led to a cause.
type Explanation struct {
	// Values are nil if the cause does not come from a rule or cannot be explained.
	Values []Value
	// NotShown is the reason why values are missing, or "".
	NotShown string
}

// Explanations holds the explanations of an object.
type Explanations struct {
	Causes []Explanation
	// Work is the work that explaining took, in units of about a nanosecond. It exceeds the allowance,
	// capped at record.MaxObjectWork, if that did not suffice.
	Work uint64
}

// NotShown is the reason for omitting an object's explanations after previous objects used up the
// work limit: see Run.
const NotShown = "the explanations of the previous objects used up the work limit"

const (
	// maxRunWork limits the work of all explanations of a run, apart from the minimum for each object.
	maxRunWork = 1 << 30
	// runShare is the divisor of the remaining work: each object may take this fraction of it.
	runShare = 16
	// leastObjectWork is the minimum for each object, regardless of how many came before it. It
	// suffices to explain a simple rule.
	leastObjectWork = 1 << 15
)

// A Run limits the work of explaining many objects. Each object may take a share of the remaining
// work, so untrusted objects cannot use up the budget of the objects after them. The zero value is
// ready to use. A Run is safe for concurrent use.
//
// The output is deterministic if Allowance is called at any time before an object is explained and
// Settle is called in the order of the input.
type Run struct{ spent atomic.Uint64 }

// Allowance returns the work that explaining an object may take. It never grows.
func (r *Run) Allowance() uint64 {
	left := maxRunWork - min(r.spent.Load(), maxRunWork)
	return min(record.MaxObjectWork, max(leastObjectWork, left/runShare))
}

// Settle adds the Work of the next object, and reports whether its explanations may be shown.
func (r *Run) Settle(work uint64) bool {
	allowed := r.Allowance()
	r.spent.Add(min(work, allowed))
	return work <= allowed || allowed == record.MaxObjectWork
}

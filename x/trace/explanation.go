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

// An Explanation is what decided one cause.
type Explanation struct {
	// Values are in the order of the rule; nil if no rule made the cause.
	Values []Value
	// NotShown is why values are missing; "" if none are.
	NotShown string
}

// Explanations are those of one object.
type Explanations struct {
	Causes []Explanation
	// Work is what explaining took, in units of about a nanosecond, and more than the
	// allowance if that was not enough.
	Work uint64
}

// NotShown is the reason of explanations that are not shown because of those of other
// objects: see Run.
const NotShown = "the explanations of the objects before it took too much work"

const (
	// maxRunWork is the work of all explanations of a run.
	maxRunWork = 1 << 30
	// runShare divides the work that is left: one object may take that part of it.
	runShare = 16
	// leastObjectWork is what each object may take, however many came before it: it
	// explains a simple rule, in about the time in which its object was decided.
	leastObjectWork = 1 << 15
)

// A Run limits the work of explaining many objects. Each object may take a share of what
// is left, so the explanations of hostile objects do not take everything from those
// after them. The zero value is ready for use, by several goroutines.
//
// The report does not depend on the timing of goroutines if Allowance is called at any
// time before an object is explained, and Settle in the order of the input.
type Run struct{ spent atomic.Uint64 }

// Allowance returns the work that explaining an object may take. It never grows.
func (r *Run) Allowance() uint64 {
	left := maxRunWork - min(r.spent.Load(), maxRunWork)
	return min(record.MaxObjectWork, max(leastObjectWork, left/runShare))
}

// Settle adds the Work of the next object, and reports whether its explanations may be
// shown.
func (r *Run) Settle(work uint64) bool {
	allowed := r.Allowance()
	r.spent.Add(min(work, allowed))
	return work <= allowed || allowed == record.MaxObjectWork
}

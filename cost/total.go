package cost

import "slices"

// A Total adds up the estimates of all rules of a schema.
type Total struct {
	// Sum is the sum of all estimates, or Unbounded on overflow.
	Sum uint64
	// Top holds the most expensive expressions in descending order: at most four, each with at
	// least a hundredth of the limit.
	Top []Share

	limit uint64
}

// A Share is the contribution of an expression to a Total.
type Share struct {
	// ID identifies the expression for the caller.
	ID   int
	Cost uint64
}

// The API server lists this many expressions if their total exceeds the limit.
const topShares = 4

// NewTotal returns an empty total with the limit l.EstimatedPerCRD.
func NewTotal(l Limits) *Total {
	return &Total{limit: uint64(l.WithDefaults().EstimatedPerCRD)}
}

// Add adds the estimated cost of an expression.
func (t *Total) Add(id int, cost uint64) {
	t.Sum = Add(t.Sum, cost)
	if cost < t.limit/100 {
		return
	}
	at := len(t.Top)
	for at > 0 && t.Top[at-1].Cost < cost {
		at--
	}
	t.Top = slices.Insert(t.Top, at, Share{id, cost})
	if len(t.Top) > topShares {
		t.Top = t.Top[:topShares]
	}
}

// Exceeded reports whether the sum exceeds the limit.
func (t *Total) Exceeded() bool { return t.Sum > t.limit }

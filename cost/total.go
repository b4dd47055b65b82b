package cost

import "slices"

// Total adds up the estimates of all rules of one schema.
type Total struct {
	// Sum is the estimate of all that was observed, at most Unbounded.
	Sum uint64
	// Top are the most expensive, at most four, each of at least a hundredth
	// of the limit.
	Top []Share

	limit uint64
}

// Share is what one expression adds to a total.
type Share struct {
	// ID is the caller's name for the expression.
	ID   int
	Cost uint64
}

// topShares is how many expressions the API server names when their total
// passes the limit.
const topShares = 4

// NewTotal starts a sum that is held against l.EstimatedPerCRD.
func NewTotal(l Limits) *Total {
	return &Total{limit: uint64(l.WithDefaults().EstimatedPerCRD)}
}

// Add observes one more expression.
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

// Exceeded is true when the sum passes the limit.
func (t *Total) Exceeded() bool { return t.Sum > t.limit }

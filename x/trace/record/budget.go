package record

import "github.com/celadon-cel/celadon/engine/x/eval"

const (
	maxElements = 5_000
	// maxWork limits the work of an explanation, as a fraction of the limit for a verdict.
	maxWork = eval.MaxWork / 64
	// MaxObjectWork limits the work of all explanations of an object.
	MaxObjectWork = 2 * maxWork
	// perByte is the work of showing a byte. perPart is the work of showing a part, in
	// addition to finding its text in the expression.
	perByte = 4
	perPart = 256
)

var errBudget = &eval.OverworkError{Why: "the explanations of the object exceed the work limit"}

// A Budget limits the work of the explanations of an object. It counts work, not time. It is not safe for concurrent
// use.
type Budget struct {
	total, left uint64
	ended       bool // something was left out
}

// NewBudget returns the budget of an object, at most MaxObjectWork.
func NewBudget(units uint64) *Budget {
	units = min(units, MaxObjectWork)
	return &Budget{total: units, left: units}
}

// Spent returns the work that was done. It exceeds the budget if the budget ended before all parts were shown.
func (b *Budget) Spent() uint64 {
	if b.ended {
		return b.total + 1
	}
	return b.total - b.left
}

func (b *Budget) bytes() int { return int(min(maxNative, b.left/perByte)) }

func (b *Budget) show(bytes int, fits bool) {
	b.ended = b.ended || !fits && b.bytes() < maxNative
	b.spend(perByte * uint64(bytes))
}

// part spends the work of a part, and reports whether the budget sufficed.
func (b *Budget) part(units uint64) bool {
	if units > b.left {
		b.left, b.ended = 0, true
		return false
	}
	b.spend(units)
	return true
}

func (b *Budget) spend(units uint64) { b.left -= min(units, b.left) }

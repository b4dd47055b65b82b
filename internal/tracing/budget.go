package tracing

import "github.com/celadon-cel/celadon/engine/eval"

const (
	// maxElements is how many elements of one macro are recorded.
	maxElements = 5_000
	// maxWork is the work of one explanation: a fraction of what the verdict may take.
	maxWork = eval.MaxWork / 64
	// maxObjectWork is the work of all explanations of one object.
	maxObjectWork = 2 * maxWork
	// leastWork must be left for one more explanation.
	leastWork = 1 << 20
	// perByte is the work of showing a byte, perPart that of a part beside its text,
	// which is searched for in the whole of the expression.
	perByte = 4
	perPart = 256
)

// A Budget is what is left of the work that the explanations of one object may take.
// It counts work, not time, so the same object always has the same explanations.
// It is not safe for concurrent use.
type Budget struct {
	left, spent uint64
	cut         bool // something was left out
}

// NewBudget returns the budget of one object.
func NewBudget() *Budget { return &Budget{left: maxObjectWork} }

// Spent returns the work that was done so far.
func (b *Budget) Spent() uint64 { return b.spent }

// limit returns what the next explanation may take.
func (b *Budget) limit() (uint64, error) {
	if b.left < leastWork {
		return 0, &eval.OverworkError{Why: "the explanations of the object take too much work"}
	}
	return min(b.left, maxWork), nil
}

// bytes returns how many bytes of values can still be shown.
func (b *Budget) bytes() int { return int(b.left / perByte) }

// take spends units if there are as many left.
func (b *Budget) take(units uint64) bool {
	if units > b.left {
		b.left, b.cut = 0, true
		return false
	}
	b.spend(units)
	return true
}

func (b *Budget) spend(units uint64) {
	b.spent += units
	b.left -= min(units, b.left)
}

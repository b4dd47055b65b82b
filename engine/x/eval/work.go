package eval

import (
	"fmt"
	"math/bits"

	"github.com/google/cel-go/common/types/ref"
)

// How it works: cost is what a server counts, and it does not see everything: a
// pattern's states, a number of a million digits, a list that is copied at each
// step. A server would go on for minutes; this must not. So work is added
// before it is done, and has a limit so far above what cost limits allow that
// no rule with a fair price meets it. The same input always comes to the same
// work: it depends neither on time nor on the order of a Go map.

// OverworkError means that an evaluation was given up: it asks for more work
// than its limit. CEL's cost does not see work: bytes touched, steps of the
// regex engine, memory made. What the API server makes of such an evaluation
// cannot be known.
type OverworkError struct {
	// Function is what would be called; "" where the sum of all is too much.
	Function string
	// Why says what is asked for.
	Why string
}

func (e *OverworkError) Error() string {
	if e.Function == "" {
		return e.Why
	}
	return "call of " + e.Function + ": " + e.Why
}

// The limits are in units of work: about a nanosecond, a byte that is looked at
// or a byte of memory. What is within its cost limit stays a hundred times
// below, where its price goes by what it does.
const (
	// MaxWork is for one evaluation, unless the activation sets less.
	MaxWork = 1 << 30
	// noShare stands for activations whose evaluations do not share their work.
	noShare = 0
	// maxMemory is what one evaluation may make, in bytes.
	maxMemory = 96 << 20
	// pollWork is how often an evaluation looks whether it is cancelled.
	pollWork = 1 << 24
)

// What work takes, in units, beyond one for each byte looked at.
const (
	perItem  = 24 // an item that is boxed or copied
	perByte8 = 8  // bytes compared or hashed in one
)

// work adds units of work, and ends the evaluation when there are too many.
func (f *frame) work(units int) {
	f.worked += uint64(units)
	if f.worked > f.poll {
		f.pollWork()
	}
}

// much is work for counts that may not fit an int.
func (f *frame) much(units float64) { f.work(int(min(units, MaxWork+1))) }

// make adds memory that is about to be made, which is work too.
func (f *frame) make(bytes float64) {
	f.made += bytes
	if f.made > maxMemory {
		f.overwork(fmt.Sprintf("over %d MiB of memory would be made", maxMemory>>20))
	}
	f.much(bytes)
}

// pollWork also looks at the context: a single call may take long.
func (f *frame) pollWork() {
	limit := f.workLimit()
	if f.worked-f.began > limit {
		f.overwork(fmt.Sprintf("over %d million bytes and steps of work would be done", limit/1_000_000))
	}
	select {
	case <-f.done:
		panic(cancelled{})
	default:
	}
	f.poll = min(f.began+limit, f.worked+pollWork)
	f.close = limit < 3*pollWork // and may be less for the next
}

// workLimit is what this evaluation may take.
func (f *frame) workLimit() uint64 {
	limit := uint64(MaxWork)
	if f.act.work != 0 {
		limit = min(limit, f.act.work)
	}
	if share := f.act.share; share != noShare {
		limit = min(limit, (share-min(f.began, share))/2)
	}
	return limit
}

// overwork ends the evaluation, whatever is around the call.
func (f *frame) overwork(why string) {
	panic(&OverworkError{Function: f.calling, Why: why})
}

// cancelled is what an evaluation panics with whose context is done.
type cancelled struct{}

// runes counts characters, as costs go by them.
func (f *frame) runes(s string) uint64 {
	f.work(len(s))
	return runes(s)
}

// fewerRunes is the count of the shorter of two texts. A text of over four
// times the other's bytes has more characters, and is not looked at.
func (f *frame) fewerRunes(s, t string) uint64 {
	if len(s) > len(t) {
		s, t = t, s
	}
	n := f.runes(s)
	if len(t) > 4*len(s) {
		return n
	}
	return min(n, f.runes(t))
}

// compared adds the work of comparing two texts of which so many bytes are
// looked at at most.
func (f *frame) compared(bytes int) { f.work(bytes / perByte8) }

// workLeft is what is left of the limit, as an int.
func (f *frame) workLeft() int { return max(int(f.began+f.workLimit())-int(f.worked), 0) }

// demand adds the work of a call that is about to be made.
func (f *frame) demand(function string, d demand, args []ref.Val) {
	f.calling = function
	d(f, args)
	f.calling = ""
}

// sorted adds the work of sorting n things with so many bytes in all.
func (f *frame) sorted(n, bytes int) {
	depth := bits.Len(uint(n))
	f.work(depth * (n*2*perByte8 + bytes/perByte8))
}

// parsed adds the work of making CEL's own value of a text, as those of
// formats are each time they are asked for.
func (f *frame) parsed(v any) {
	if s, ok := v.(string); ok && s != "" {
		f.work(perFormatted * len(s))
	}
}

// perFormatted is for a byte of a date, a duration or base64.
const perFormatted = 10

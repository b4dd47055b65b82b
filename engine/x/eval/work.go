package eval

import (
	"fmt"
	"math/bits"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
)

// How it works: cost is the API server's measure, and it misses some work: the states of a pattern, a number with a
// million digits, a list that is copied at each step. The API server could run for minutes; Celadon must not. So work
// is added before it is done. Its limit is far above the work that cost limits allow, so no rule with an adequate cost
// reaches it. Work does not depend on time.

// OverworkError means that an evaluation was stopped because of its work, which CEL's cost does not measure: bytes
// read, steps of the regex engine, and memory allocated. The API server's result for such an evaluation is unknown.
type OverworkError struct {
	// Function is the function about to be called, or "".
	Function string
	// Why describes the excessive work.
	Why string
}

func (e *OverworkError) Error() string {
	if e.Function == "" {
		return e.Why
	}
	return "call of " + e.Function + ": " + e.Why
}

// The limits are in units of work: about a nanosecond, a byte that is read, or a byte of memory.
const (
	// MaxWork is the work limit of an evaluation, unless the activation sets a lower limit.
	MaxWork = 1 << 30
	// noShare means that the activation's evaluations do not share a limit. maxMemory is the number of bytes that an
	// evaluation may allocate.
	noShare   = 0
	maxMemory = 96 << 20
	// pollWork is the work after which an evaluation checks whether it is canceled.
	pollWork = 1 << 24
)

// Factors of work, in addition to a unit for each byte read.
const (
	perItem  = 24 // for an item that is boxed or copied
	perByte8 = 8  // bytes that are compared or hashed at once
)

func (f *frame) work(units int) {
	f.worked += uint64(units)
	if f.worked > f.poll {
		f.pollWork()
	}
}

// workUnits is like work, for counts that may overflow an int.
func (f *frame) workUnits(units float64) { f.work(int(min(units, MaxWork+1))) }

// make adds memory that is about to be allocated, which is also work.
func (f *frame) make(bytes float64) {
	f.memoryUsed += bytes
	if f.memoryUsed > maxMemory {
		f.overwork(fmt.Sprintf("it would allocate over %d MiB of memory", maxMemory>>20))
	}
	f.workUnits(bytes)
}

// pollWork checks the work limit. It also checks the context, because a single call may take long.
func (f *frame) pollWork() {
	limit := f.workLimit()
	if f.worked-f.began > limit {
		f.overwork(fmt.Sprintf("it would take over %d million bytes and steps of work", limit/1_000_000))
	}
	select {
	case <-f.done:
		panic(canceled{})
	default:
	}
	f.poll = min(f.began+limit, f.worked+pollWork)
	f.close = limit < 3*pollWork // the next evaluation may have a lower limit
}

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

func (f *frame) overwork(why string) {
	panic(&OverworkError{Function: f.calling, Why: why})
}

type canceled struct{}

func (f *frame) runes(s string) uint64 {
	f.work(len(s))
	return runes(s)
}

// fewerRunes returns the number of characters of the shorter string. A string with more than four
// times the bytes of the other has more characters and is not read.
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

// compared adds the work of comparing two strings, reading at most the given number of bytes.
func (f *frame) compared(bytes int) { f.work(bytes / perByte8) }

func (f *frame) workLeft() int { return max(int(f.began+f.workLimit())-int(f.worked), 0) }

func (f *frame) demand(function string, d demand, args []ref.Val) {
	f.calling = function
	d(f, args)
	f.calling = ""
}

func (f *frame) sorted(n, bytes int) {
	depth := bits.Len(uint(n))
	f.work(depth * (n*2*perByte8 + bytes/perByte8))
}

// parsed adds the work of converting a string with a format to a ref.Val, which happens at each
// access.
func (f *frame) parsed(v any) {
	if s, ok := v.(string); ok && s != "" {
		f.work(perFormatted * len(s))
	}
}

// perFormatted is the work for each byte of a date, a duration, or base64.
const perFormatted = 10

// How it works: the time of Go's regex engine is linear in the length of the text times the number
// of states, after repetitions are expanded: x{1000}{1000} has a million states. The states of
// constant patterns are counted when they are planned, without compiling a pattern that has too
// many. Other patterns are counted at run time.

// keptStates limits the total states of the patterns that a Planner keeps compiled.
const keptStates = 500_000

var tooManyStates = fmt.Sprintf("the pattern has more than %d states, or all patterns together more than %d", regexcost.MaxStates, keptStates)

func (f *frame) match(p *regexcost.Pattern, s string) {
	if p.TooLarge() {
		f.overwork(tooManyStates)
	}
	f.work(len(s) * p.PerByte())
}

// matchAll adds the work of finding at most n matches, or all matches if n is negative.
func (f *frame) matchAll(p *regexcost.Pattern, s string, n int64) {
	f.match(p, s)
	f.make(perItem * float64(len(s)))
	if !p.Rescans() {
		return
	}
	times := float64(len(s) + 1)
	if n >= 0 {
		times = min(times, float64(n))
	}
	f.workUnits(times * float64(len(s)) / 2 * float64(p.PerByte()))
}

const (
	perPatternByte  = 300
	perClass        = 20_000
	perCompiled     = 600 // per state
	compiledBytes   = 300 // per state
	patternOverhead = 4_000
)

// dynamic compiles a pattern that is only known at run time. It returns nil if the pattern is
// invalid.
func (f *frame) dynamic(src string) *regexcost.Pattern {
	f.work(patternOverhead + perPatternByte*len(src) + perClass*(strings.Count(src, `\p`)+strings.Count(src, `\P`)+strings.Count(src, "(?i")))
	p, err := regexcost.New(src)
	if err != nil {
		return nil
	}
	f.work(perCompiled * p.States())
	f.make(float64(compiledBytes * p.States()))
	return p
}

func matched(f *frame, args []ref.Val) {
	if p := f.dynamic(textOf(args, 1)); p != nil {
		f.match(p, textOf(args, 0))
	}
}

func allFound(f *frame, args []ref.Val) {
	if p := f.dynamic(textOf(args, 1)); p != nil {
		f.matchAll(p, textOf(args, 0), foundAtMost(args))
	}
}

// foundAtMost returns -1 if the call has no limit.
func foundAtMost(args []ref.Val) int64 {
	if len(args) == 3 {
		if n, ok := args[2].(celtypes.Int); ok {
			return int64(n)
		}
	}
	return -1
}

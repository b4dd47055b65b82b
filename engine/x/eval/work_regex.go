package eval

import (
	"fmt"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
)

// How it works: the time of Go's regex engine is linear in the length of the text times the number
// of states, after repetitions are expanded: x{1000}{1000} has a million states. The states of
// constant patterns are counted when they are planned, without compiling a pattern that has too
// many. Other patterns are counted at run time.

// keptStates limits the total states of all constant patterns in an environment's rules.
const keptStates = 500_000

var tooManyStates = fmt.Sprintf("the pattern has more than %d states, or all patterns together more than %d", regexcost.MaxStates, keptStates)

// match adds the work of matching p against s.
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

// The work of compiling depends on the pattern's length, its Unicode classes, and its states.
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

// matched adds the work of a match with a pattern that is only known at run time.
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

// foundAtMost returns the limit argument of findAll, or -1 if the call has no limit.
func foundAtMost(args []ref.Val) int64 {
	if len(args) == 3 {
		if n, ok := args[2].(celtypes.Int); ok {
			return int64(n)
		}
	}
	return -1
}

package eval

import (
	"fmt"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
)

// How it works: Go's engine is linear in text times states, with a pattern's
// repeats written out: x{1000}{1000} has a million states. Constant patterns
// are counted at planning, without being made where that is too many; others as
// they are met.

// keptStates bounds the states of all constant patterns of one environment's
// rules.
const keptStates = 500_000

var tooManyStates = fmt.Sprintf("the pattern has more than %d states, or all patterns together more than %d", regexcost.MaxStates, keptStates)

// match adds the work of looking for a match.
func (f *frame) match(p *regexcost.Pattern, s string) {
	if p.TooLarge() {
		f.overwork(tooManyStates)
	}
	f.work(len(s) * p.PerByte())
}

// matchAll adds the work of looking for at most n matches, or for all where n
// is less than 0.
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
	f.much(times * float64(len(s)) / 2 * float64(p.PerByte()))
}

// Compiling takes work by the pattern's length, more for classes of Unicode,
// and by its states.
const (
	perPatternByte  = 300
	perClass        = 20_000
	perCompiled     = 600 // a state
	compiledBytes   = 300 // of a state
	patternOverhead = 4_000
)

// dynamic makes the pattern of a call that has it as a value; nil is none.
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

// matched is a call with a pattern that is only known now.
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

// foundAtMost is findAll's limit, less than 0 where there is none.
func foundAtMost(args []ref.Val) int64 {
	if len(args) == 3 {
		if n, ok := args[2].(celtypes.Int); ok {
			return int64(n)
		}
	}
	return -1
}

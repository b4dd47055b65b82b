// Package regexcost tells what a regular expression may take before it is made or
// asked: Go's engine never backtracks without end, but a pattern of a few
// characters can have millions of states, and a step of each for every byte.
package regexcost

import (
	"math/bits"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"sync/atomic"
)

// MaxStates bounds one pattern: a state takes some 200 bytes.
const MaxStates = 50_000

// Pattern is a regular expression with what a byte of text may take. It is safe
// for concurrent use.
type Pattern struct {
	*regexp.Regexp // nil: too large to be made
	src            string
	states         int
	once           sync.Once
	perByte        atomic.Int64 // 0: not measured yet
	rescans        bool
}

// New makes a pattern, or none of a large one. The error is that of
// regexp.Compile.
func New(src string) (*Pattern, error) {
	n, err := States(src)
	if err != nil {
		return nil, err
	}
	p := &Pattern{src: src, states: int(min(n, MaxStates+1))}
	if n > MaxStates {
		return p, nil
	}
	if p.Regexp, err = regexp.Compile(src); err != nil {
		return nil, err
	}
	return p, nil
}

// Drop lets go of what a pattern takes: it is too large then.
func (p *Pattern) Drop() { p.Regexp = nil }

// States is about how many states there are.
func (p *Pattern) States() int { return p.states }

// TooLarge is true where the pattern was not made.
func (p *Pattern) TooLarge() bool { return p.Regexp == nil }

// States is about how many states a pattern has, without making them. The error
// is that of regexp.Compile; not every bad pattern has one.
func States(src string) (n float64, err error) {
	if !mayBeLarge(src) {
		return float64(len(src)), nil
	}
	re, err := syntax.Parse(src, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return treeStates(re), nil
}

// Valid is true of what regexp.Compile takes, however large: nothing but parsing fails
// there.
func Valid(src string) bool {
	_, err := syntax.Parse(src, syntax.Perl)
	return err == nil
}

// Measure is States and Valid of one parsing.
func Measure(src string) (states float64, valid bool) {
	re, err := syntax.Parse(src, syntax.Perl)
	if !mayBeLarge(src) {
		return float64(len(src)), err == nil
	}
	if err != nil {
		return 0, false
	}
	return treeStates(re), true
}

func treeStates(re *syntax.Regexp) float64 {
	n := 1.0
	switch re.Op {
	case syntax.OpLiteral:
		return float64(len(re.Rune))
	case syntax.OpCharClass:
		return 1 + float64(len(re.Rune))/32 // memory for its ranges
	}
	for _, sub := range re.Sub {
		n += treeStates(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= float64(max(re.Max, re.Min, 1))
	}
	return n
}

// mayBeLarge is false for patterns whose states are no more than a few for each
// of their characters.
func mayBeLarge(src string) bool {
	return len(src) > 2000 || strings.ContainsRune(src, '{') || strings.Contains(src, `\p`) || strings.Contains(src, `\P`)
}

// PerState is a step of one state over one byte, in nanoseconds, and perByte
// what a byte takes in any case.
const (
	PerState = 14
	perByte  = 16
)

// PerByte is what looking for a match may take for each byte of the text, in
// nanoseconds.
func (p *Pattern) PerByte() int {
	if n := p.perByte.Load(); n != 0 {
		return int(n)
	}
	p.measure()
	return int(p.perByte.Load())
}

// Rescans: after one match is found, the text may have been read to its end, so
// that to find all takes the square of its length.
func (p *Pattern) Rescans() bool {
	p.measure()
	return p.rescans
}

// measure is left until somebody asks: it takes as long as making the pattern.
func (p *Pattern) measure() {
	p.once.Do(func() {
		units := perByte
		if tree, err := syntax.Parse(p.src, syntax.Perl); err == nil && !p.TooLarge() {
			p.rescans = rescans(tree)
			if prog, err := syntax.Compile(tree.Simplify()); err == nil {
				units += PerState * liveStates(prog)
			}
		}
		p.perByte.Store(int64(units))
	})
}

// rescans is false where a match can only go on as what repeats at its end, or
// is of bounded length.
func rescans(re *syntax.Regexp) bool {
	if !unbounded(re) {
		return false
	}
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		sub := re.Sub[0].Op
		return sub != syntax.OpCharClass && sub != syntax.OpLiteral && sub != syntax.OpAnyChar && sub != syntax.OpAnyCharNotNL
	case syntax.OpCapture:
		return rescans(re.Sub[0])
	case syntax.OpConcat:
		last := len(re.Sub) - 1
		for _, sub := range re.Sub[:last] {
			if unbounded(sub) {
				return true
			}
		}
		return rescans(re.Sub[last])
	}
	return true
}

func unbounded(re *syntax.Regexp) bool {
	if re.Op == syntax.OpStar || re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Max < 0 {
		return true
	}
	for _, sub := range re.Sub {
		if unbounded(sub) {
			return true
		}
	}
	return false
}

// maxSteps is how far liveStates looks.
const maxSteps = 512

// liveStates is how many states of a program can be live at once, whatever the
// text: an upper bound, by letting every byte match everything.
func liveStates(prog *syntax.Prog) int {
	all := len(prog.Inst)
	if prog.StartCond()&syntax.EmptyBeginText == 0 {
		return all // it begins anew at each byte
	}
	most := 0
	seen := map[string]bool{}
	live := reach(prog, []uint32{uint32(prog.Start)})
	for range maxSteps {
		most = max(most, count(live))
		if key := string(live); !seen[key] {
			seen[key] = true
		} else {
			return most
		}
		var next []uint32
		for i := range prog.Inst {
			if in := &prog.Inst[i]; live[i/8]&(1<<(i%8)) != 0 && isRune(in.Op) {
				next = append(next, in.Out)
			}
		}
		if len(next) == 0 {
			return most
		}
		live = reach(prog, next)
	}
	return all
}

func isRune(op syntax.InstOp) bool {
	return op == syntax.InstRune || op == syntax.InstRune1 || op == syntax.InstRuneAny || op == syntax.InstRuneAnyNotNL
}

// reach is the set of states that follow without a byte, as bits.
func reach(prog *syntax.Prog, from []uint32) []byte {
	set := make([]byte, (len(prog.Inst)+7)/8)
	for len(from) > 0 {
		at := from[len(from)-1]
		from = from[:len(from)-1]
		if set[at/8]&(1<<(at%8)) != 0 {
			continue
		}
		set[at/8] |= 1 << (at % 8)
		switch in := &prog.Inst[at]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			from = append(from, in.Arg, in.Out)
		case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
			from = append(from, in.Out)
		}
	}
	return set
}

func count(set []byte) (n int) {
	for _, b := range set {
		n += bits.OnesCount8(b)
	}
	return n
}

// Package regexcost estimates the cost of a regular expression before it is compiled or run. Go's
// engine never backtracks exponentially, but a pattern of a few characters can have millions of
// states, and each state may take a step for every byte.
package regexcost

import (
	"math/bits"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// MaxStates limits the size of a pattern. A state takes about 200 bytes.
const MaxStates = 50_000

// A Pattern is a regular expression with its estimated cost. It is safe for concurrent use.
type Pattern struct {
	*regexp.Regexp // nil if the pattern is too large
	states         int
	measured       func() (perByte int, rescans bool)
}

// New returns a Pattern. If the pattern is too large, its Regexp is nil. New returns the error of
// regexp.Compile.
func New(src string) (*Pattern, error) {
	n, err := States(src)
	if err != nil {
		return nil, err
	}
	p := &Pattern{states: int(min(n, MaxStates+1))}
	p.measured = sync.OnceValues(p.measure) // on first use, because it takes as long as compiling the pattern
	if n > MaxStates {
		return p, nil
	}
	if p.Regexp, err = regexp.Compile(src); err != nil {
		return nil, err
	}
	return p, nil
}

// Matcher returns a compiled pattern, or nil if it is invalid or too large.
func Matcher(src string) *regexp.Regexp {
	p, err := New(src)
	if err != nil {
		return nil
	}
	return p.Regexp
}

// Drop releases the compiled pattern, as if it were too large.
func (p *Pattern) Drop() { p.Regexp = nil }

// States returns the approximate number of states.
func (p *Pattern) States() int { return p.states }

// TooLarge reports whether the pattern was not compiled.
func (p *Pattern) TooLarge() bool { return p.Regexp == nil }

// States estimates the number of states of a pattern without compiling it. It returns the error of
// regexp.Compile, but does not detect all invalid patterns.
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

// Valid reports whether regexp.Compile would accept a pattern, regardless of its size. Only parsing
// can fail.
func Valid(src string) bool {
	_, err := syntax.Parse(src, syntax.Perl)
	return err == nil
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

// mayBeLarge reports whether the pattern is long or may have more than a few states per character.
func mayBeLarge(src string) bool {
	return len(src) > 2000 || strings.ContainsRune(src, '{') || strings.Contains(src, `\p`) || strings.Contains(src, `\P`)
}

// PerState is the time for a step of one state over one byte, in nanoseconds. perByte is the fixed
// time per byte.
const (
	PerState = 14
	perByte  = 16
)

// PerByte estimates the time to search for a match, in nanoseconds per byte of text.
func (p *Pattern) PerByte() int {
	n, _ := p.measured()
	return n
}

// Rescans reports whether finding all matches may take quadratic time, because finding one match can require reading
// the text to its end.
func (p *Pattern) Rescans() bool {
	_, yes := p.measured()
	return yes
}

func (p *Pattern) measure() (units int, again bool) {
	if p.TooLarge() {
		return perByte, false
	}
	tree, _ := syntax.Parse(p.String(), syntax.Perl) // regexp.Compile has accepted the pattern
	again = rescans(tree)
	prog, _ := syntax.Compile(tree.Simplify())
	return perByte + PerState*liveStates(prog), again
}

// rescans reports whether a match has unbounded length, unless its only unbounded part is a simple
// repetition at its end.
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

const maxSteps = 512

// liveStates returns an upper bound for the number of states that can be live at once. It assumes
// that every byte matches every instruction.
func liveStates(prog *syntax.Prog) int {
	all := len(prog.Inst)
	if prog.StartCond()&syntax.EmptyBeginText == 0 {
		return all // a match can begin at each byte
	}
	largest := 0
	seen := map[string]bool{}
	live := reach(prog, []uint32{uint32(prog.Start)})
	for range maxSteps {
		largest = max(largest, count(live))
		if key := string(live); !seen[key] {
			seen[key] = true
		} else {
			return largest
		}
		var next []uint32
		for i := range prog.Inst {
			if in := &prog.Inst[i]; live[i/8]&(1<<(i%8)) != 0 && isRune(in.Op) {
				next = append(next, in.Out)
			}
		}
		if len(next) == 0 {
			return largest
		}
		live = reach(prog, next)
	}
	return all
}

func isRune(op syntax.InstOp) bool {
	return op == syntax.InstRune || op == syntax.InstRune1 || op == syntax.InstRuneAny || op == syntax.InstRuneAnyNotNL
}

// reach returns the set of states reachable without consuming a byte, as a bit set.
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

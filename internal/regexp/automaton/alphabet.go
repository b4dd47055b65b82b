package automaton

import (
	"regexp/syntax"
	"slices"
	"unicode"
)

// An alphabet divides the code points into classes that no pattern distinguishes.
type alphabet []class

// A class is a range of code points and its representative.
type class struct{ from, to, shown rune }

const (
	surrogates, behindSurrogates = 0xd800, 0xe000
	pastLastRune                 = unicode.MaxRune + 1
)

// newAlphabet returns the classes of the patterns. Common characters are first, so that the first
// strings found look natural.
func newAlphabet(patterns []*syntax.Prog) alphabet {
	cuts := []rune{0, surrogates, behindSurrogates, pastLastRune}
	for _, p := range patterns {
		for i := range p.Inst {
			cuts = appendCuts(cuts, &p.Inst[i])
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var a alphabet
	for i, from := range cuts[:len(cuts)-1] {
		if from != surrogates { // no string contains these
			a = append(a, class{from, cuts[i+1] - 1, preferredRune(from, cuts[i+1]-1)})
		}
	}
	slices.SortStableFunc(a, func(x, y class) int { return rank(x.shown) - rank(y.shown) })
	return a
}

// appendCuts appends the code points where a class must begin because of an instruction.
func appendCuts(cuts []rune, in *syntax.Inst) []rune {
	switch in.Op {
	case syntax.InstRuneAnyNotNL:
		return append(cuts, '\n', '\n'+1)
	case syntax.InstEmptyWidth: // depends on line breaks and words
		return append(cuts, '\n', '\n'+1, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1)
	case syntax.InstRune, syntax.InstRune1:
		if len(in.Rune) == 1 {
			return appendFolded(cuts, in)
		}
		for i := 0; i+1 < len(in.Rune); i += 2 {
			cuts = append(cuts, in.Rune[i], in.Rune[i+1]+1)
		}
	}
	return cuts
}

func appendFolded(cuts []rune, in *syntax.Inst) []rune {
	r := in.Rune[0]
	cuts = append(cuts, r, r+1)
	if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			cuts = append(cuts, f, f+1)
		}
	}
	return cuts
}

// letters returns up to n code points of the class, starting with the representative.
func (c class) letters(n int) []rune {
	size := int(c.to - c.from + 1)
	letters := make([]rune, min(n, size))
	for i := range letters {
		letters[i] = c.from + (c.shown-c.from+rune(i))%rune(size)
	}
	return letters
}

// preferredRanges are the ranges from which representatives are chosen, in order of preference.
var preferredRanges = [][2]rune{{'a', 'z'}, {'0', '9'}, {'A', 'Z'}, {'-', '-'}, {'.', '.'}, {'_', '_'}, {' ', '~'}, {0xc0, 0x24f}, {0x20ac, 0x20ac}, {'\n', '\n'}}

func preferredRune(from, to rune) rune {
	for _, nice := range preferredRanges {
		if lo, hi := max(from, nice[0]), min(to, nice[1]); lo <= hi {
			return lo
		}
	}
	return from
}

// rank returns the preference of r. Lower is better.
func rank(r rune) int {
	for i, nice := range preferredRanges {
		if nice[0] <= r && r <= nice[1] {
			return i
		}
	}
	return len(preferredRanges)
}

package automaton

import "unicode/utf8"

// Table is a pattern that was walked through once and for all: a byte of a text in
// ASCII is one lookup, where Go's engine keeps track of all ways of matching. It is
// immutable.
type Table struct {
	classes [utf8.RuneSelf]uint8 // of bytes
	width   int                  // how many classes there are
	next    []uint8              // by state and class
	matches []bool               // by state, at the end of a text
	start   uint8
}

// Patterns of which nothing is made: with more states than a byte counts, with more
// steps than a few kilobytes hold, or such as take longer to walk through than many
// texts to match.
const (
	maxTable      = 255
	maxTableSize  = 8 << 10
	maxTableSteps = 20_000
)

// Table is the language's; nil where that is not one small pattern.
func (l *Language) Table() *Table {
	if l.op != leaf {
		return nil
	}
	m := newMachine(l.pattern, newAlphabet(l.leaves(nil)))
	t := &Table{start: uint8(m.begin())}
	ascii := t.classify(m.alphabet)
	for at := 0; at < len(m.states); at++ {
		for _, class := range ascii {
			to := m.step(at, class)
			if len(m.states) > maxTable || len(t.next) == maxTableSize || m.spent > maxTableSteps {
				return nil
			}
			t.next = append(t.next, uint8(to))
		}
		t.matches = append(t.matches, m.ends(at))
	}
	return t
}

// classify gives each byte its class, and tells which of the alphabet's those are.
func (t *Table) classify(a alphabet) (ascii []int) {
	for i, class := range a {
		if class.from >= utf8.RuneSelf {
			continue
		}
		for r := class.from; r <= class.to && r < utf8.RuneSelf; r++ {
			t.classes[r] = uint8(len(ascii))
		}
		ascii = append(ascii, i)
	}
	t.width = len(ascii)
	return ascii
}

// Matches says whether the pattern matches a text; ok is false where that is not
// ASCII alone.
func (t *Table) Matches(text string) (matches, ok bool) {
	at := int(t.start)
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return false, false
		}
		at = int(t.next[at*t.width+int(t.classes[c])])
	}
	return t.matches[at], true
}

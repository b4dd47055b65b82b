package automaton

import "unicode/utf8"

// A Table is a pattern compiled to a complete automaton for ASCII. It needs a lookup per byte,
// while Go's engine tracks all ways of matching. It is immutable.
type Table struct {
	classes [utf8.RuneSelf]uint8 // of bytes
	width   int                  // number of classes
	next    []uint8              // by state and class
	matches []bool               // by state, at the end of the text
	start   uint8
}

// Limits for a table: the number of states, which must fit in a byte; the size of next; and the
// steps to construct it, so that this takes no longer than matching many strings.
const (
	maxTable      = 255
	maxTableSize  = 8 << 10
	maxTableSteps = 20_000
)

// Table returns the table of a language, or nil if the language is not a single small pattern.
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

// classify sets the class of each byte and returns the alphabet's classes that contain ASCII.
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

// Matches reports whether the pattern matches text. ok is false if text is not ASCII.
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

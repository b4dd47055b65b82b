package coverage

import "github.com/google/cel-go/common/operators"

// How it works. A condition is shown to be decisive (masking MC/DC) by two evaluations of its
// decision with different outcomes. It is true in the first and false in the second, and in both it
// is not masked: if it alone had the opposite value, the outcome would differ. An error is a third
// outcome. A condition that was not evaluated can have any value.
//
// Evaluating the decision again for each condition would take quadratic time. So the opposite value
// is only carried upward until it makes no difference, and a chain of && or || counts its operands.

type set uint8

const (
	isFalsy set = 1 << iota
	isTruthy
	isError

	anything = isFalsy | isTruthy | isError
)

func (x set) opposite() set { return x&isError | x&isFalsy<<1 | x&isTruthy>>1 }

// tally counts the operands of && or || by their possible values.
type tally [anything + 1]int

// joined returns the possible values of && or ||, given the value that decides alone.
func (t *tally) joined(decides set) (v set) {
	anyOf, allOf := set(0), anything
	for s, n := range t {
		if n > 0 {
			anyOf |= set(s)
			allOf &= set(s)
		}
	}
	v = anyOf&decides | allOf&^decides&^isError
	if t[decides] == 0 { // no operand is sure to take precedence over an error
		v |= anyOf & isError
	}
	return v
}

// shown holds the outcomes of a decision in evaluations in which a condition was not masked: those
// with the condition false, and those with it true.
type shown [2]set

// counts reports whether a false and a true condition led to different outcomes.
func (s shown) counts() bool {
	return s[0] != 0 && s[1] != 0 && (s[0] != s[1] || s[0]&(s[0]-1) != 0)
}

type scale struct {
	*decision
	shown []shown // by index of the rule's conditions; shared with other decisions
	// now holds the values of the conditions in the current evaluation, one set per part.
	now  []byte
	open bool            // an evaluation is in progress
	seen map[string]bool // evaluations that were already analyzed

	value   []set // by part
	tallies []tally
}

// maxSeen limits the size of seen. Further evaluations may be analyzed again.
const maxSeen = 256

func newScale(d *decision, all []shown) *scale {
	n := len(d.parts)
	return &scale{decision: d, shown: all, now: make([]byte, n), value: make([]set, n), tallies: make([]tally, n), seen: map[string]bool{}}
}

func (s *scale) begin() {
	clear(s.now)
	s.open = true
}

// end analyzes an evaluation unless an equal evaluation was analyzed before.
func (s *scale) end() {
	if !s.open {
		return
	}
	s.open = false
	if s.seen[string(s.now)] {
		return
	}
	if len(s.seen) < maxSeen {
		s.seen[string(s.now)] = true
	}
	s.analyze()
}

func (s *scale) analyze() {
	for i := range s.parts {
		s.evaluate(i)
	}
	outcome := s.value[len(s.parts)-1]
	for i, p := range s.parts {
		if v := set(s.now[i]); p.op == leaf && v&^isError != 0 && s.decides(i, v.opposite()) {
			s.shown[p.cond][v>>1] |= outcome
		}
	}
}

func (s *scale) evaluate(i int) {
	p := &s.parts[i]
	if p.op == leaf {
		if s.value[i] = set(s.now[i]); s.value[i] == 0 {
			s.value[i] = anything
		}
		return
	}
	s.tallies[i] = tally{}
	for _, below := range p.below {
		s.tallies[i][s.value[below]]++
	}
	s.value[i] = s.with(i, p.below[0], s.value[p.below[0]])
}

// decides reports whether the outcome can differ if part i has value v instead.
func (s *scale) decides(i int, v set) bool {
	for v&^s.value[i] != 0 {
		if i == len(s.parts)-1 {
			return true
		}
		above := s.parts[i].above
		i, v = above, s.with(above, i, v)
	}
	return false
}

// with returns the possible values of part i if its given operand has the values v.
func (s *scale) with(i, operand int, v set) set {
	p := &s.parts[i]
	of := func(n int) set {
		if p.below[n] == operand {
			return v
		}
		return s.value[p.below[n]]
	}
	switch p.op {
	case operators.LogicalNot:
		return v.opposite()
	case operators.Conditional:
		chosen := of(0) & isError
		if of(0)&isTruthy != 0 {
			chosen |= of(1)
		}
		if of(0)&isFalsy != 0 {
			chosen |= of(2)
		}
		return chosen
	}
	t := s.tallies[i]
	t[s.value[operand]]--
	t[v]++
	if p.op == operators.LogicalAnd {
		return t.joined(isFalsy)
	}
	return t.joined(isTruthy)
}

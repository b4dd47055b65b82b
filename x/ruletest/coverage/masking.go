package coverage

import "bytes"

// How it works. A condition is shown to be decisive (masking MC/DC) by two evaluations of its
// decision with different outcomes. It is true in the first and false in the second, and in both it
// is not masked: if it alone had the opposite value, the outcome would differ. An error is a third
// outcome. A condition that was not evaluated can have any value.
//
// Testing each condition separately would take quadratic time. So each decision is traversed twice:
// upward to compute the value of each part, and downward to compute the outcome of the whole for
// each possible value of a part.

// set is a set of values.
type set uint8

const (
	isFalsy set = 1 << iota
	isTruthy
	isError

	anything = isFalsy | isTruthy | isError
)

var values = [...]set{isFalsy, isTruthy, isError}

// table maps two sets of operand values to the set of results.
type table [anything + 1][anything + 1]set

var bothOf, eitherOf = tableOf(isFalsy), tableOf(isTruthy)

// tableOf returns the table of && or ||, given the value that decides alone.
func tableOf(decides set) *table {
	t := new(table)
	for _, a := range values {
		for _, b := range values {
			for x := range anything + 1 {
				for y := range anything + 1 {
					if x&a != 0 && y&b != 0 {
						t[x][y] |= junction(a, b, decides)
					}
				}
			}
		}
	}
	return t
}

// opposite returns the set of negated values.
func (x set) opposite() set { return x&isError | x&isFalsy<<1 | x&isTruthy>>1 }

// junction returns the result of && or ||. The value in decides takes precedence over an error.
func junction(a, b, decides set) set {
	switch {
	case a == decides || b == decides:
		return decides
	case a == isError || b == isError:
		return isError
	}
	return anything &^ isError &^ decides
}

// effect holds the possible values of the whole decision if a part is false, true, or an error.
type effect [len(values)]set

// of returns the possible values of the whole decision if the part has a value in a set.
func (e *effect) of(part set) (whole set) {
	for i, v := range values {
		if part&v != 0 {
			whole |= e[i]
		}
	}
	return whole
}

// shown holds the outcomes of a decision in evaluations in which a condition was not masked: those
// with the condition false, and those with it true.
type shown [2]set

// counts reports whether a false and a true condition led to different outcomes.
func (s shown) counts() bool {
	return s[0] != 0 && s[1] != 0 && (s[0] != s[1] || s[0]&(s[0]-1) != 0)
}

// scale analyzes the evaluations of a decision.
type scale struct {
	*decision
	shown []shown // by index of the rule's conditions; shared with other decisions
	// now holds the values of the conditions in the current evaluation, one set per part.
	now  []byte
	open bool // an evaluation is in progress
	// seen holds evaluations that were already analyzed, and last the latest evaluation.
	seen map[string]bool
	last []byte

	value   []set // by part
	effects []effect
}

// maxSeen limits the size of seen. Further evaluations may be analyzed again.
const maxSeen = 256

func newScale(d *decision, all []shown) *scale {
	n := len(d.parts)
	return &scale{decision: d, shown: all, now: make([]byte, n), last: make([]byte, n), value: make([]set, n), effects: make([]effect, n), seen: map[string]bool{}}
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
	if bytes.Equal(s.now, s.last) || s.seen[string(s.now)] {
		return
	}
	copy(s.last, s.now)
	if len(s.seen) < maxSeen {
		s.seen[string(s.now)] = true
	}
	s.analyze()
}

func (s *scale) analyze() {
	s.computeValues()
	root := len(s.parts) - 1
	outcome := s.value[root]
	s.effects[root] = effect(values)
	for i := root; i >= 0; i-- {
		s.down(i)
		p := &s.parts[i]
		if p.op != leaf {
			continue
		}
		switch v := set(s.now[i]); v {
		case isFalsy, isTruthy:
			if s.effects[i].of(v.opposite())&^outcome != 0 {
				s.shown[p.cond][v>>1] |= outcome
			}
		}
	}
}

// computeValues computes the possible values of each part.
func (s *scale) computeValues() {
	for i := range s.parts {
		p := &s.parts[i]
		switch p.op {
		case leaf:
			if s.value[i] = set(s.now[i]); s.value[i] == 0 {
				s.value[i] = anything
			}
		case not:
			s.value[i] = s.value[p.below[0]].opposite()
		case choice:
			s.value[i] = s.chosen(p, s.value[p.below[0]])
		default:
			table, v := p.table()
			for _, below := range p.below {
				v = table[v][s.value[below]]
			}
			s.value[i] = v
		}
	}
}

// chosen returns the possible values of a ?: for a value of its condition.
func (s *scale) chosen(p *part, cond set) (v set) {
	if cond&isTruthy != 0 {
		v |= s.value[p.below[1]]
	}
	if cond&isFalsy != 0 {
		v |= s.value[p.below[2]]
	}
	return v | cond&isError
}

// table returns the table of && or ||, and its neutral value.
func (p *part) table() (t *table, none set) {
	if p.op == and {
		return bothOf, isTruthy
	}
	return eitherOf, isFalsy
}

// down computes the effects of the operands of a part.
func (s *scale) down(i int) {
	p, whole := &s.parts[i], &s.effects[i]
	switch p.op {
	case not:
		for k, v := range values {
			s.effects[p.below[0]][k] = whole.of(v.opposite())
		}
	case choice:
		cond := s.value[p.below[0]]
		for k, v := range values {
			s.effects[p.below[0]][k] = whole.of(s.chosen(p, v))
			s.effects[p.below[1]][k] = s.branch(whole, cond, isTruthy, p.below[2], v)
			s.effects[p.below[2]][k] = s.branch(whole, cond, isFalsy, p.below[1], v)
		}
	case and, or:
		s.downTerms(p, whole)
	}
}

// branch returns the effect of value v in a branch of a ?:. The branch is taken if the condition
// has the value takes.
func (s *scale) branch(whole *effect, cond, takes set, other int, v set) (out set) {
	if cond&takes != 0 {
		out |= whole.of(v)
	}
	if cond&(anything&^isError&^takes) != 0 {
		out |= whole.of(s.value[other])
	}
	return out | whole.of(cond&isError)
}

// downTerms is down for && and ||. The effect of a term is computed from all terms before and after
// it.
func (s *scale) downTerms(p *part, whole *effect) {
	table, none := p.table()
	before := none
	for _, term := range p.below { // temporarily store the result of the preceding terms
		s.effects[term][0] = before
		before = table[before][s.value[term]]
	}
	rest := none
	for i := len(p.below) - 1; i >= 0; i-- {
		term := p.below[i]
		others := table[s.effects[term][0]][rest]
		for k, v := range values {
			s.effects[term][k] = whole.of(table[v][others])
		}
		rest = table[rest][s.value[term]]
	}
}

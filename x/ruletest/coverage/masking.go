package coverage

import "bytes"

// How it works: a condition is shown to count (MC/DC in its masking form) by two
// evaluations of its decision, one where it is true and one where it is false, of
// different outcomes, in both of which it is not masked: had it alone been the
// other way, the decision would have come out another way. An error is a third
// outcome. What was not evaluated might have been anything.
//
// To ask this of each condition by itself would take the square of their number.
// So a decision is gone through twice: upwards, what each part came to, and
// downwards, what the whole would come to if a part came to something else.

// set is a set of values.
type set uint8

const (
	isFalsy set = 1 << iota
	isTruthy
	isError

	anything = isFalsy | isTruthy | isError
)

var values = [...]set{isFalsy, isTruthy, isError}

// table is what two sets of values come to.
type table [anything + 1][anything + 1]set

var bothOf, eitherOf = tableOf(isFalsy), tableOf(isTruthy)

// tableOf is that of && or ||, by the value that decides alone.
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

// opposite is ! of a set.
func (x set) opposite() set { return x&isError | x&isFalsy<<1 | x&isTruthy>>1 }

// junction is && or || of two values: what decides wins over an error.
func junction(a, b, decides set) set {
	switch {
	case a == decides || b == decides:
		return decides
	case a == isError || b == isError:
		return isError
	}
	return anything &^ isError &^ decides
}

// effect is what a whole comes to where a part is false, true or an error.
type effect [len(values)]set

// of is what the whole can come to where the part is one of a set.
func (e *effect) of(part set) (whole set) {
	for i, v := range values {
		if part&v != 0 {
			whole |= e[i]
		}
	}
	return whole
}

// shown are the outcomes of a decision while a condition was not masked and was
// false, and while it was true.
type shown [2]set

// counts is true where a false and a true led to different outcomes.
func (s shown) counts() bool {
	return s[0] != 0 && s[1] != 0 && (s[0] != s[1] || s[0]&(s[0]-1) != 0)
}

// scale weighs the evaluations of one decision.
type scale struct {
	*decision
	shown []shown // by condition of the rule; shared with other decisions
	// now is what the conditions of the evaluation at hand came to, a set a part.
	now  []byte
	open bool // an evaluation is under way
	// seen are evaluations that were weighed already, last the latest.
	seen map[string]bool
	last []byte

	value   []set // by part
	effects []effect
}

// maxSeen bounds what is remembered of one decision: beyond, evaluations are
// weighed again.
const maxSeen = 256

func newScale(d *decision, all []shown) *scale {
	n := len(d.parts)
	return &scale{decision: d, shown: all, now: make([]byte, n), last: make([]byte, n), value: make([]set, n), effects: make([]effect, n), seen: map[string]bool{}}
}

// begin starts an evaluation.
func (s *scale) begin() {
	clear(s.now)
	s.open = true
}

// end weighs an evaluation, of what it says that others did not.
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
	s.weigh()
}

func (s *scale) weigh() {
	s.up()
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

// up finds what each part can have come to.
func (s *scale) up() {
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

// chosen is what a ?: comes to with its condition.
func (s *scale) chosen(p *part, cond set) (v set) {
	if cond&isTruthy != 0 {
		v |= s.value[p.below[1]]
	}
	if cond&isFalsy != 0 {
		v |= s.value[p.below[2]]
	}
	return v | cond&isError
}

// table is that of && or ||, with the value that changes nothing.
func (p *part) table() (t *table, none set) {
	if p.op == and {
		return bothOf, isTruthy
	}
	return eitherOf, isFalsy
}

// down finds the effects of what a part is made of.
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

// branch is the effect of v in the branch of a ?: that is taken where the
// condition is takes.
func (s *scale) branch(whole *effect, cond, takes set, other int, v set) (out set) {
	if cond&takes != 0 {
		out |= whole.of(v)
	}
	if cond&(anything&^isError&^takes) != 0 {
		out |= whole.of(s.value[other])
	}
	return out | whole.of(cond&isError)
}

// downTerms is down for && and ||: a term's effect is that beside all others,
// those before it and those behind it.
func (s *scale) downTerms(p *part, whole *effect) {
	table, none := p.table()
	before := none
	for _, term := range p.below { // the effects hold what stands before, for a moment
		s.effects[term][0] = before
		before = table[before][s.value[term]]
	}
	behind := none
	for i := len(p.below) - 1; i >= 0; i-- {
		term := p.below[i]
		others := table[s.effects[term][0]][behind]
		for k, v := range values {
			s.effects[term][k] = whole.of(table[v][others])
		}
		behind = table[behind][s.value[term]]
	}
}

package prove

import (
	"slices"

	"github.com/celadon-cel/celadon/internal/regexp/automaton"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

type content struct {
	gates *gates
	kind  types.Kind
	// present holds if there is a value other than null.
	present sat.Lit
	flag    sat.Lit
	// numbers orders the value of a number. sizes orders the number of code points of a string, of
	// items of a list, or of entries of a map.
	numbers, sizes *order
	members        []*member
	byKey          map[string]*member
}

// member is a literal that holds if a string is in a language.
type member struct {
	key      string
	language *automaton.Language
	text     string // the only string of the language, if exact is set
	exact    bool
	lit      sat.Lit
}

func (w *formula) newContent(kind types.Kind) *content {
	c := &content{
		gates: &w.gates, kind: kind, present: w.free(), flag: w.free(),
		numbers: newOrder(&w.gates), sizes: newOrder(&w.gates), byKey: map[string]*member{},
	}
	w.clause(c.sizes.less(cut{i: 0}).Not())
	w.contents = append(w.contents, c)
	return c
}

// perInstruction is the work of compiling an instruction of a pattern. maxInstructions limits the
// patterns of a question, because they use memory. minInstructions is added to the size of each
// pattern.
const (
	perInstruction  = 4
	maxInstructions = 400_000
	minInstructions = 20
	largePattern    = 1_000 // size above which instructions cost more
)

// in returns a literal that holds if the string is in a language. key identifies the language.
func (c *content) in(key string, language func() (*automaton.Language, error)) (sat.Lit, bool) {
	if m := c.byKey[key]; m != nil {
		return m.lit, true
	}
	l, err := language()
	if err != nil {
		return 0, false
	}
	size := minInstructions + l.Size()
	c.gates.meter.Spend(perInstruction * (size + 2*max(0, size-largePattern)))
	if c.gates.instructions += size; c.gates.instructions > maxInstructions {
		return 0, false
	}
	m := &member{key: key, language: l, lit: c.gates.free()}
	c.members = append(c.members, m)
	c.byKey[key] = m
	return m.lit, true
}

func (c *content) is(text string) (lit sat.Lit, ok bool) {
	key := "=" + text
	if lit, ok = c.in(key, func() (*automaton.Language, error) { return automaton.Text(text) }); ok {
		m := c.byKey[key]
		m.exact, m.text = true, text
	}
	return lit, ok
}

// shared returns the literal for another content's language in this content.
func (c *content) shared(m *member) sat.Lit {
	if mine := c.byKey[m.key]; mine != nil {
		return mine.lit
	}
	mine := *m
	mine.lit = c.gates.free()
	c.members, c.byKey[m.key] = append(c.members, &mine), &mine
	return mine.lit
}

// agree makes the values of two contents equal if when holds.
func (w *formula) agree(a, b *content, when sat.Lit) {
	same := func(x, y sat.Lit) {
		w.implies(x, y, when)
		w.implies(y, x, when)
	}
	same(a.flag, b.flag)
	for _, pair := range [][2]*order{{a.numbers, b.numbers}, {a.sizes, b.sizes}} {
		for _, c := range slices.Concat(pair[0].cuts, pair[1].cuts) {
			if w.spend(1) {
				return
			}
			same(pair[0].less(c), pair[1].less(c))
		}
	}
	for _, m := range slices.Concat(a.members, b.members) {
		if w.spend(1) {
			return
		}
		same(a.shared(m), b.shared(m))
	}
}

// equality is a literal that holds if two scalars of the same type are equal.
type equality struct {
	a, b *content
	lit  sat.Lit
}

// equate adds the consequences of an equality, and the equality as a consequence of known strings
// and numbers.
func (w *formula) equate(e equality) {
	w.agree(e.a, e.b, e.lit)
	for _, m := range e.a.members {
		if other := e.b.byKey[m.key]; m.exact && other != nil {
			w.implies(e.lit, m.lit, other.lit)
		}
	}
}

// cut divides numbers into those less than i or f and the rest. If closed is set, f itself is in
// the lower part.
type cut struct {
	i      int64
	f      float64
	closed bool
}

func (c cut) before(d cut) bool {
	switch {
	case c.i != d.i:
		return c.i < d.i
	case c.f != d.f:
		return c.f < d.f
	}
	return !c.closed && d.closed
}

// order has a literal for each cut, which holds if the number is below the cut. Each literal implies the literals of
// greater cuts.
type order struct {
	gates *gates
	cuts  []cut // sorted
	lits  []sat.Lit
}

func newOrder(g *gates) *order { return &order{gates: g} }

func (o *order) less(c cut) sat.Lit {
	at, ok := slices.BinarySearchFunc(o.cuts, c, func(a, b cut) int {
		switch {
		case a.before(b):
			return -1
		case b.before(a):
			return 1
		}
		return 0
	})
	if ok {
		return o.lits[at]
	}
	l := o.gates.free()
	o.cuts, o.lits = slices.Insert(o.cuts, at, c), slices.Insert(o.lits, at, l)
	if at > 0 {
		o.gates.implies(l, o.lits[at-1])
	}
	if at+1 < len(o.lits) {
		o.gates.implies(o.lits[at+1], l)
	}
	return l
}

func (o *order) equal(c int64) sat.Lit {
	low := o.less(cut{i: c}).Not()
	if c == maxInt {
		return low
	}
	return o.gates.both(low, o.less(cut{i: c + 1}))
}

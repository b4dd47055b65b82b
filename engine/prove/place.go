package prove

import (
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/automaton"
	"github.com/celadon-cel/celadon/internal/sat"
	"github.com/celadon-cel/celadon/types"
)

// place is where a value of the object may stand: a field, or one item of a list
// or entry of a map.
type place struct {
	world  *world
	key    string // names it in this world
	path   []engine.Step
	parent *place
	schema *schema.Structural // nil where the CRD says nothing
	decl   *types.Decl

	// present: there is a value, and it is not null.
	present sat.Lit
	below   map[string]*place

	flag sat.Lit // the value of a bool
	// numbers orders the value of a number; sizes the code points of a string,
	// the items of a list, the entries of a map.
	numbers, sizes *order
	members        []*member // what a string is a member of
	byKey          map[string]*member
}

// member is the proposition that a string is in a language.
type member struct {
	language *automaton.Language
	text     string // the one text of the language, where exact
	exact    bool
	lit      sat.Lit
}

// maxPlaces bounds a world.
const maxPlaces = 3000

func (w *world) newPlace(parent *place, key string, path []engine.Step, s *schema.Structural, d *types.Decl) *place {
	p := &place{world: w, key: key, path: path, parent: parent, schema: s, decl: d, present: w.free(), below: map[string]*place{}, byKey: map[string]*member{}}
	p.flag = w.free()
	p.numbers, p.sizes = newOrder(&w.gates), newOrder(&w.gates)
	w.sat.Add(p.sizes.less(cut{i: 0}).Not())
	if parent != nil {
		w.implies(parent.present, p.present)
	}
	if len(w.places) >= maxPlaces {
		w.tooMuch = true
		return p // of which nothing more is said
	}
	w.places = append(w.places, p)
	return p
}

// field is the place of a field; nil where rules cannot see it.
func (p *place) field(f *types.Field) *place {
	if q := p.below[f.Name]; q != nil {
		return q
	}
	var s *schema.Structural
	if p.schema != nil {
		if prop, ok := p.schema.Properties[f.Name]; ok {
			s = &prop
		}
	}
	q := p.world.newPlace(p, p.key+"."+strconv.Quote(f.Name), below(p.path, engine.Step{Name: f.Name}), s, f.Decl)
	p.below[f.Name] = q
	if p.hasAlways(f, s) {
		p.world.implies(q.present, p.present, p.world.schema)
	}
	return q
}

func below(path []engine.Step, step engine.Step) []engine.Step {
	return append(slices.Clip(slices.Clone(path)), step)
}

// hasAlways: a field is required, or has a default, and cannot be null; or it is
// of what a server puts into every object.
func (p *place) hasAlways(f *types.Field, s *schema.Structural) bool {
	if len(p.path) == 0 && p.decl.Root && (f.Name == "apiVersion" || f.Name == "kind" || f.Name == "metadata") {
		return true
	}
	if len(p.path) == 1 && p.parent != nil && p.parent.decl.Root && p.path[0].Name == "metadata" && f.Name == "name" {
		return true
	}
	if s == nil || s.Nullable || f.Decl.Nullable {
		return false
	}
	if s.Default.Object != nil {
		return true
	}
	v := p.schema.ValueValidation
	return v != nil && slices.Contains(v.Required, f.Name)
}

// entry is the place of a map's value; item that of a list's.
func (p *place) entry(name string) *place {
	id := "entry " + strconv.Quote(name)
	if q := p.below[id]; q != nil {
		return q
	}
	q := p.one(id)
	return q
}

func (p *place) item(index int64) *place {
	id := fmt.Sprintf("item %d", index)
	if q := p.below[id]; q != nil {
		return q
	}
	q := p.one(id)
	there := p.sizes.less(cut{i: index + 1}).Not()
	p.world.implies(there, q.present)
	if !p.decl.Elem.Nullable {
		p.world.implies(q.present, p.present, there)
	}
	return q
}

// one is some item or entry.
func (p *place) one(id string) *place {
	if q := p.below[id]; q != nil {
		return q
	}
	var s *schema.Structural
	if p.schema != nil {
		switch {
		case p.schema.Items != nil:
			s = p.schema.Items
		case p.schema.AdditionalProperties != nil:
			s = p.schema.AdditionalProperties.Structural
		}
	}
	q := p.world.newPlace(p, p.key+"["+id+"]", below(p.path, engine.Step{Any: true}), s, p.decl.Elem)
	p.below[id] = q
	p.world.implies(p.sizes.less(cut{i: 1}).Not(), q.present)
	return q
}

// in is the proposition that a string is in a language, which key names.
func (p *place) in(key string, language func() (*automaton.Language, error)) (sat.Lit, bool) {
	if m := p.byKey[key]; m != nil {
		return m.lit, true
	}
	l, err := language()
	if err != nil {
		return 0, false
	}
	m := &member{language: l, lit: p.world.free()}
	p.members = append(p.members, m)
	p.byKey[key] = m
	return m.lit, true
}

// is is the proposition that a string is one text.
func (p *place) is(text string) (lit sat.Lit, ok bool) {
	key := "=" + text
	if lit, ok = p.in(key, func() (*automaton.Language, error) { return automaton.Text(text) }); ok {
		m := p.byKey[key]
		m.exact, m.text = true, text
	}
	return lit, ok
}

// cut parts numbers: those less than i, or than f, with f itself where closed.
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

// order has a proposition for each cut: the number is below it. They follow from
// each other in the order of the cuts, and between two cuts there is always a
// number.
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

// equal is the proposition that the number is c, a whole one.
func (o *order) equal(c int64) sat.Lit {
	low := o.less(cut{i: c}).Not()
	if c == maxInt {
		return low
	}
	return o.gates.both(low, o.less(cut{i: c + 1}))
}

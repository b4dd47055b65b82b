package prove

import (
	"fmt"
	"strconv"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

// formula is the formula of one question.
type formula struct {
	gates
	prover *Prover
	// asked is the rule that the question is about, which nothing assumes.
	asked    *engine.RuleRef
	places   []*place
	contents []*content
	made     int // places
	names    map[string]sat.Lit
	terms    map[string]int
	loops    map[string]truth
	// comparables are what equality is between values, by declaration.
	comparables map[*types.Decl]comparable
	// quantifiers are all and exists over lists and maps; see instantiate.
	quantifiers []*quantifier
	instances   int
	vague       int // how often only a text was known
	equalities  []equality
	// old is the object that an update replaces, and update that there is one, by
	// place of the new one; of a question about a transition rule only.
	old    map[*place]*place
	update sat.Lit
	// schema and siblings are what the formula assumes; next is the schema of a
	// second version.
	schema, next sat.Lit
	siblings     []sibling
	known        map[engine.RuleRef]sat.Lit // the siblings' by path and index
	ruleless     bool                       // no siblings are assumed
	// work is counted in expressions; beyond a bound, nothing more is said.
	work    int
	tooMuch bool
	rounds  int // in which the solver was asked
	steps   int // of the automata
}

// sibling is a rule that admitted objects satisfy.
type sibling struct {
	ref engine.RuleRef
	lit sat.Lit
}

func newFormula(p *Prover) *formula {
	w := &formula{gates: newGates(p.recording, p.work), prover: p, names: map[string]sat.Lit{}, terms: map[string]int{}, old: map[*place]*place{}, loops: map[string]truth{}, comparables: map[*types.Decl]comparable{}, known: map[engine.RuleRef]sat.Lit{}}
	w.schema, w.next, w.update = w.free(), w.free(), w.free()
	return w
}

// spend counts expressions, and says when there are too many.
func (w *formula) spend(n int) bool {
	w.meter.Spend(perStep * n)
	if w.work += n; w.work > maxWork || w.meter.Empty() {
		w.tooMuch = true
	}
	return w.tooMuch
}

// perStep is the work of planning one expression or making one place.
const perStep = 50

// term is a short name for a text, so that what is made of names stays short, too.
func (w *formula) term(text string) string {
	n, ok := w.terms[text]
	if !ok {
		n = len(w.terms)
		w.terms[text] = n
	}
	return "#" + strconv.Itoa(n)
}

// maxWork is above what one question of a real CRD takes, by far.
const maxWork = 50_000

// named is a proposition of which only the text is known.
func (w *formula) named(key string) sat.Lit {
	w.vague++
	l, _ := w.relation(key)
	return l
}

// relation is a proposition known by its text.
func (w *formula) relation(key string) (l sat.Lit, known bool) {
	if l, known = w.names[key]; !known {
		l = w.free()
		w.names[key] = l
	}
	return l, known
}

// tree is the place of a path as a version reads it, and all above it up to the
// item, the entry or the root in which it stands, all present. It is nil where
// rules cannot see it.
func (w *formula) tree(of *Prover, steps []engine.Step) *place {
	anchor := 0
	for i, step := range steps {
		if step.Any {
			anchor = i + 1
		}
	}
	p := w.anchor(of, steps[:anchor])
	if p == nil {
		return nil
	}
	w.clause(p.present)
	for _, step := range steps[anchor:] {
		f := p.decl.Fields[step.Name]
		if f == nil {
			return nil
		}
		p = p.field(f)
		w.clause(p.present)
	}
	return p
}

// reach lets there be a value at a path.
func (w *formula) reach(of *Prover, steps []engine.Step) error {
	if w.tree(of, steps) == nil {
		return fmt.Errorf("%q: %w: the schema has no such place", engine.FormatPath(steps), ErrNotAnalysed)
	}
	return nil
}

// settle says of all places what the schema and the rules there say, and of the
// places that these speak of.
func (w *formula) settle() {
	for i := 0; i < len(w.places) && !w.tooMuch; {
		for ; i < len(w.places) && !w.tooMuch; i++ {
			p := w.places[i]
			w.bound(p)
			w.assume(p)
		}
		w.instantiate()
	}
	for _, p := range w.places {
		p.name()
	}
	for _, p := range w.places {
		w.mirror(p)
	}
	for _, e := range w.equalities {
		w.equate(e)
	}
	for _, c := range w.contents {
		w.relate(c)
	}
}

// schemaOf is the assumption that the schema of a place's version holds.
func (w *formula) schemaOf(p *place) sat.Lit {
	if p.of == w.prover {
		return w.schema
	}
	return w.next
}

// assume lets the rules of a place hold there; those of a second version need
// not. Transition rules have run where there is an old value.
func (w *formula) assume(p *place) {
	if w.ruleless || p.schema == nil || p.decl.Kind == types.Hidden || p.of != w.prover {
		return
	}
	old := w.old[p]
	for i := range p.schema.XValidations {
		r := w.prover.rule(p.path, p.schema, p.decl, i)
		if r == nil || r.usesOld && old == nil || w.asked != nil && same(r.ref, *w.asked) {
			continue
		}
		w.implies(w.reading(r, p, old).truth(r.tree.Expr()).t, p.present, w.runs(r), w.sibling(r.ref))
	}
}

// runs is the proposition that a rule runs where there is a value: one with
// oldSelf, on updates.
func (w *formula) runs(r *one) sat.Lit {
	if r.usesOld && !r.checked.Optional {
		return w.update
	}
	return w.yes
}

// reading is a rule over the values of a place.
func (w *formula) reading(r *one, self, old *place) *reading {
	x := &reading{world: w, ast: r.tree, nulls: r.nulls, hidden: r.hidden, vars: map[string]variable{types.Self: self.variable()}}
	switch {
	case r.checked.Optional:
		key := "optional old " + self.key
		x.vars[types.OldSelf] = variable{key: key, alts: []alt{{when: w.yes, key: key}}}
	case old != nil:
		x.vars[types.OldSelf] = old.variable()
	}
	return x
}

func (p *place) variable() variable {
	v := variable{key: p.key, alts: []alt{{when: p.world.yes, place: p}}}
	if p.decl.Kind == types.Bool {
		v.truth = &truth{p.flag, p.flag.Not()}
	}
	return v
}

func (w *formula) sibling(ref engine.RuleRef) sat.Lit {
	key := engine.RuleRef{Path: ref.Path, Index: ref.Index}
	lit, ok := w.known[key]
	if !ok {
		lit = w.free()
		w.known[key] = lit
		w.siblings = append(w.siblings, sibling{ref, lit})
	}
	return lit
}

// same: two references are to one rule.
func same(a, b engine.RuleRef) bool { return a.Path == b.Path && a.Index == b.Index }

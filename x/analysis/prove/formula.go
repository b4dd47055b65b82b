package prove

import (
	"fmt"
	"strconv"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

type formula struct {
	gates
	prover *Prover
	// target is the rule that the question is about. It is not assumed to hold.
	target      *engine.RuleRef
	places      []*place
	contents    []*content
	placeCount  int
	names       map[string]sat.Lit
	terms       map[string]int
	loops       map[string]truth
	comparables map[*types.Decl]comparable
	quantifiers []*quantifier
	instances   int
	vague       int // how often an expression was known only by its text
	equalities  []equality
	// old maps the values of the new object to the values of the object that an update replaces, and update holds if
	// there is such an object. Both are only used for questions about rules with oldSelf.
	old    map[*place]*place
	update sat.Lit
	// schema and the siblings' literals are assumptions. next is the assumption for the schema of a
	// second version.
	schema, next    sat.Lit
	siblings        []sibling
	known           map[engine.RuleRef]sat.Lit
	withoutSiblings bool
	// work counts expressions. If it exceeds its limit, tooLarge is set and nothing more is added.
	work     int
	tooLarge bool
	rounds   int
	steps    int
}

// sibling is a rule that accepted objects satisfy.
type sibling struct {
	ref engine.RuleRef
	lit sat.Lit
}

func newFormula(p *Prover) *formula {
	w := &formula{gates: newGates(p.recorder, p.work), prover: p, names: map[string]sat.Lit{}, terms: map[string]int{}, old: map[*place]*place{}, loops: map[string]truth{}, comparables: map[*types.Decl]comparable{}, known: map[engine.RuleRef]sat.Lit{}}
	w.schema, w.next, w.update = w.free(), w.free(), w.free()
	return w
}

// spend adds n expressions to the work and reports whether the limit is exceeded.
func (w *formula) spend(n int) bool {
	w.meter.Spend(perStep * n)
	if w.work += n; w.work > maxWork || w.meter.Empty() {
		w.tooLarge = true
	}
	return w.tooLarge
}

// perStep is the work of planning an expression or adding a value to the formula.
const perStep = 50

// term returns a short name for a text, which keeps composite names short.
func (w *formula) term(text string) string {
	n, ok := w.terms[text]
	if !ok {
		n = len(w.terms)
		w.terms[text] = n
	}
	return "#" + strconv.Itoa(n)
}

const maxWork = 50_000

// named returns the literal for an expression that is known only by its text.
func (w *formula) named(key string) sat.Lit {
	w.vague++
	l, _ := w.relation(key)
	return l
}

func (w *formula) relation(key string) (l sat.Lit, known bool) {
	if l, known = w.names[key]; !known {
		l = w.free()
		w.names[key] = l
	}
	return l, known
}

// tree returns the value at a path in a version. It asserts that the value and its parents are
// present, up to the enclosing item, entry, or root. It returns nil if rules cannot see the path.
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

func (w *formula) reach(of *Prover, steps []engine.Step) error {
	if w.tree(of, steps) == nil {
		return fmt.Errorf("%q: %w: the schema has no such path", engine.FormatPath(steps), ErrNotAnalyzed)
	}
	return nil
}

// settle adds the constraints of the schema and rules for all values, including values that these
// constraints add.
func (w *formula) settle() {
	for i := 0; i < len(w.places) && !w.tooLarge; {
		for ; i < len(w.places) && !w.tooLarge; i++ {
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

func (w *formula) schemaOf(p *place) sat.Lit {
	if p.of == w.prover {
		return w.schema
	}
	return w.next
}

// assume adds the rules at p as assumptions, except for the target and rules of a second version.
func (w *formula) assume(p *place) {
	if w.withoutSiblings || p.schema == nil || p.decl.Kind == types.Hidden || p.of != w.prover {
		return
	}
	old := w.old[p]
	for i := range p.schema.XValidations {
		r := w.prover.rule(p.path, p.schema, p.decl, i)
		if r == nil || r.usesOld && old == nil || w.target != nil && sameRule(r.ref, *w.target) {
			continue
		}
		w.implies(w.reading(r, p, old).truth(r.tree.Expr()).t, p.present, w.runs(r), w.sibling(r.ref))
	}
}

// runs returns a literal that holds if a rule runs for an existing value. Transition rules run only on
// updates.
func (w *formula) runs(r *compiledRule) sat.Lit {
	if r.usesOld && !r.checked.Optional {
		return w.update
	}
	return w.yes
}

func (w *formula) reading(r *compiledRule, self, old *place) *reading {
	x := &reading{formula: w, ast: r.tree, nulls: r.nulls, hidden: r.hidden, vars: map[string]variable{types.Self: self.variable()}}
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
	v := variable{key: p.key, alts: []alt{{when: p.formula.yes, place: p}}}
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

func sameRule(a, b engine.RuleRef) bool { return a.Path == b.Path && a.Index == b.Index }

// gates builds literals from other literals. Equal combinations share a literal.
type gates struct {
	sat          *sat.Solver
	yes          sat.Lit
	and          map[[2]sat.Lit]sat.Lit
	recorder     recorder // nil outside tests
	meter        *work.Meter
	instructions int // the size of all patterns
}

// A recorder gets clauses of a formula, and the meaning of some propositions: that a = b, that a < b, or that a is an
// int64. Tests write them as a script for other solvers (script_test.go).
type recorder interface {
	clause(lits []sat.Lit)
	meaning(l sat.Lit, relation string, a, b alt)
}

func newGates(r recorder, m *work.Meter) gates {
	g := gates{meter: m, sat: sat.New(), and: map[[2]sat.Lit]sat.Lit{}, recorder: r}
	g.yes = g.sat.Var()
	g.clause(g.yes)
	return g
}

func (g *gates) clause(lits ...sat.Lit) {
	g.meter.Spend(4 + len(lits))
	g.sat.Add(lits...)
	if g.recorder != nil {
		g.recorder.clause(lits)
	}
}

func (g *gates) means(l sat.Lit, relation string, a, b alt) {
	if g.recorder != nil {
		g.recorder.meaning(l, relation, a, b)
	}
}

func (g *gates) no() sat.Lit { return g.yes.Not() }

func (g *gates) free() sat.Lit { return g.sat.Var() }

func (g *gates) all(lits ...sat.Lit) sat.Lit {
	result := g.yes
	for _, l := range lits {
		result = g.both(result, l)
	}
	return result
}

func (g *gates) any(lits ...sat.Lit) sat.Lit {
	result := g.no()
	for _, l := range lits {
		result = g.both(result.Not(), l.Not()).Not()
	}
	return result
}

func (g *gates) both(a, b sat.Lit) sat.Lit {
	switch {
	case a == g.no() || b == g.no() || a == b.Not():
		return g.no()
	case a == g.yes || a == b:
		return b
	case b == g.yes:
		return a
	}
	key := [2]sat.Lit{min(a, b), max(a, b)}
	if l, ok := g.and[key]; ok {
		return l
	}
	l := g.free()
	g.clause(l.Not(), a)
	g.clause(l.Not(), b)
	g.clause(l, a.Not(), b.Not())
	g.and[key] = l
	return l
}

func (g *gates) either(condition, then, otherwise sat.Lit) sat.Lit {
	return g.any(g.all(condition, then), g.all(condition.Not(), otherwise))
}

// implies asserts that then holds if all of when hold.
func (g *gates) implies(then sat.Lit, when ...sat.Lit) {
	lits := []sat.Lit{then}
	for _, l := range when {
		lits = append(lits, l.Not())
	}
	g.clause(lits...)
}

// truth is the result of a bool expression. It is an error if neither t nor f holds.
type truth struct{ t, f sat.Lit }

func (v truth) defined(g *gates) sat.Lit { return g.any(v.t, v.f) }

func (v truth) not() truth { return truth{v.f, v.t} }

// given returns a truth that has the value holds if defined is true, and is an error otherwise.
func (g *gates) given(defined, holds sat.Lit) truth {
	return truth{g.both(defined, holds), g.both(defined, holds.Not())}
}

// anything returns an unconstrained truth that is an error at least if defined is false.
func (g *gates) anything(defined sat.Lit) truth {
	return g.given(g.both(defined, g.free()), g.free())
}

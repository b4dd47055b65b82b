package prove

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/sat"
	"github.com/celadon-cel/celadon/types"
)

// world is the formula of one question.
type world struct {
	gates
	prover *Prover
	// asked is the rule that the question is about, which nothing assumes.
	asked  *engine.RuleRef
	places []*place
	names  map[string]sat.Lit
	loops  map[string]truth
	// schema and siblings are what the formula assumes.
	schema   sat.Lit
	siblings []sibling
	// work is counted in expressions; beyond a bound, nothing is proved.
	work    int
	tooMuch bool
}

// sibling is a rule that admitted objects satisfy.
type sibling struct {
	ref engine.RuleRef
	lit sat.Lit
}

func newWorld(p *Prover, asked *engine.RuleRef) *world {
	w := &world{gates: newGates(), prover: p, asked: asked, names: map[string]sat.Lit{}, loops: map[string]truth{}}
	w.schema = w.free()
	return w
}

// spend counts one expression, and says when there are too many.
func (w *world) spend() bool {
	if w.work++; w.work > maxWork {
		w.tooMuch = true
	}
	return w.tooMuch
}

// maxWork is above what one question of a real CRD takes, by far.
const maxWork = 200_000

// named is a proposition known by its text.
func (w *world) named(key string) sat.Lit {
	if l, ok := w.names[key]; ok {
		return l
	}
	l := w.free()
	w.names[key] = l
	return l
}

// tree is the place of a path, and all above it up to the item, the entry or the
// root in which it stands, all present. It is nil where rules cannot see it.
func (w *world) tree(prefix string, steps []engine.Step) *place {
	s, d := w.prover.schema, w.prover.decl
	anchor := 0
	for i, step := range steps {
		if !step.Any {
			continue
		}
		anchor = i + 1
	}
	for _, step := range steps[:anchor] {
		if s, d = descend(s, d, step); d == nil {
			return nil
		}
	}
	p := w.newPlace(nil, prefix, steps[:anchor], s, d)
	w.sat.Add(p.present)
	for _, step := range steps[anchor:] {
		f := p.decl.Fields[step.Name]
		if f == nil {
			return nil
		}
		p = p.field(f)
		w.sat.Add(p.present)
	}
	return p
}

func descend(s *schema.Structural, d *types.Decl, step engine.Step) (*schema.Structural, *types.Decl) {
	if !step.Any {
		f := d.Fields[step.Name]
		if f == nil || s == nil {
			return nil, nil
		}
		prop, ok := s.Properties[step.Name]
		if !ok {
			return nil, f.Decl
		}
		return &prop, f.Decl
	}
	switch {
	case s == nil:
		return nil, d.Elem
	case s.Items != nil:
		return s.Items, d.Elem
	case s.AdditionalProperties != nil:
		return s.AdditionalProperties.Structural, d.Elem
	}
	return nil, d.Elem
}

// settle says of all places what the schema and the rules there say, and of the
// places that these speak of.
func (w *world) settle() {
	for i := 0; i < len(w.places) && !w.tooMuch; i++ {
		p := w.places[i]
		w.bound(p)
		w.assume(p)
	}
	for _, p := range w.places {
		p.relate()
	}
}

// assume lets the rules of a place hold there. Transition rules are left out:
// they need not have run.
func (w *world) assume(p *place) {
	if p.schema == nil || p.decl.Kind == types.Hidden {
		return
	}
	for i := range p.schema.XValidations {
		r := w.prover.rule(p.path, p.schema, p.decl, i)
		if r == nil || r.usesOld || w.asked != nil && r.ref == *w.asked {
			continue
		}
		w.implies(w.reading(r, p, nil).truth(r.checked.Expr()).t, p.present, w.sibling(r.ref))
	}
}

// reading is a rule over the values of a place.
func (w *world) reading(r *rule, self, old *place) *reading {
	x := &reading{world: w, ast: r.checked, vars: map[string]variable{types.Self: self.variable()}}
	switch {
	case r.optional:
		key := "optional old"
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

func (w *world) sibling(ref engine.RuleRef) sat.Lit {
	for _, s := range w.siblings {
		if s.ref == ref {
			return s.lit
		}
	}
	s := sibling{ref, w.free()}
	w.siblings = append(w.siblings, s)
	return s.lit
}

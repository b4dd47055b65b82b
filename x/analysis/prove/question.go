package prove

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/rule"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

// Equal proves that a rule and another that stands in its stead refuse the same
// objects: of those that all else accepts. Where the proof names no siblings, of
// all objects that the schema admits. A rule that fails to evaluate refuses. It
// is nil where there is no proof.
func (p *Prover) Equal(ref engine.RuleRef, instead apiextensionsv1.ValidationRule) (*Proof, error) {
	return p.prove(func(w *formula) error {
		q, err := w.question(p, ref)
		if err != nil {
			return err
		}
		other := p.compile(q.rule.ref, q.self.decl, instead.Rule, rule.OptionalOldSelf(instead.OptionalOldSelf))
		if other == nil {
			return fmt.Errorf("rule instead of %d of %q: %w: it does not compile", ref.Index, ref.Path, ErrNotAnalysed)
		}
		w.asked = &q.rule.ref
		w.before(q, other)
		a, b := q.refuses(q.rule), q.refuses(other)
		w.clause(a, b)
		w.clause(a.Not(), b.Not())
		return nil
	})
}

// Passes proves that a rule of another version refuses nothing that this one
// admits and the schema of the other takes; that it accepts at least as much. An
// object is one that was written without fields that this version does not know,
// or what this version made of it when it was stored. The rule is one of next,
// named by path and index; the proof's siblings are rules of this version. It is
// nil where there is no proof.
func (p *Prover) Passes(next *Prover, ref engine.RuleRef) (*Proof, error) {
	return p.prove(func(w *formula) error {
		q, err := w.question(next, ref)
		if err != nil {
			return err
		}
		w.clause(q.refuses(q.rule))
		return nil
	})
}

// question is a rule over a place, and over the old value there.
type question struct {
	world     *formula
	of        *Prover
	rule      *one
	self, old *place
}

// question finds a rule of a version.
func (w *formula) question(of *Prover, ref engine.RuleRef) (*question, error) {
	steps, err := engine.ParsePath(ref.Path)
	if err != nil {
		return nil, err
	}
	// What both versions read alike is the first one's place, with its rules.
	n := of.root()
	for _, step := range steps {
		n = n.below(step)
	}
	self := w.tree(of, steps)
	if self == nil || n.schema == nil || ref.Index < 0 || ref.Index >= len(n.schema.XValidations) {
		return nil, fmt.Errorf("rule %d of %q: %w: the schema has none there", ref.Index, ref.Path, ErrNotAnalysed)
	}
	r := of.rule(steps, n.schema, n.decl, ref.Index)
	if r == nil {
		return nil, fmt.Errorf("rule %d of %q: %w: it does not compile", ref.Index, ref.Path, ErrNotAnalysed)
	}
	q := &question{world: w, of: of, rule: r, self: self}
	w.before(q, r)
	return q, nil
}

// before makes the old object where a rule is about it: one that the first
// version admits, too, with a value at the same places.
func (w *formula) before(q *question, r *one) {
	if !r.usesOld || q.old != nil {
		return
	}
	q.old = w.tree(q.of, q.self.path)
	for p, old := q.self, q.old; p != nil; p, old = p.parent, old.parent {
		w.old[p] = old
		if p.twin != nil && old.twin != nil {
			w.old[p.twin.place] = old.twin.place
		}
	}
}

// truth is a rule's, and an error where upstream may panic: no part of the rule
// absorbs that.
func (q *question) truth(r *one) truth {
	g := &q.world.gates
	v := q.world.reading(r, q.self, q.old).truth(r.tree.Expr())
	if !eval.MayPanic(r.tree) {
		return v
	}
	calm := g.free()
	return truth{g.both(calm, v.t), g.both(calm, v.f)}
}

// refuses is the proposition that a rule refuses: that it runs, and does not give
// true.
func (q *question) refuses(r *one) sat.Lit {
	return q.world.both(q.world.runs(r), q.truth(r).t.Not())
}

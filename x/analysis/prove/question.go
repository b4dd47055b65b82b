package prove

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

// Equal proves that a rule and its replacement reject the same objects among those that are
// otherwise accepted. If the proof lists no siblings, that holds for all objects that satisfy the
// schema. A rule that fails to evaluate rejects the object. Equal returns nil if it finds no proof.
func (p *Prover) Equal(ref engine.RuleRef, instead apiextensionsv1.ValidationRule) (*Proof, error) {
	return p.prove(func(w *formula) error {
		q, err := w.question(p, ref)
		if err != nil {
			return err
		}
		other := p.compile(q.rule.ref, q.self.decl, instead.Rule, expr.HasOptionalOldSelf(instead.OptionalOldSelf))
		if other == nil {
			return fmt.Errorf("rule instead of %d of %q: %w: it does not compile", ref.Index, ref.Path, ErrNotAnalyzed)
		}
		w.target = &q.rule.ref
		w.before(q, other)
		a, b := q.rejects(q.rule), q.rejects(other)
		w.clause(a, b)
		w.clause(a.Not(), b.Not())
		return nil
	})
}

// Passes proves that a rule of another version rejects no object that this version accepts and that
// satisfies the other version's schema. The object is either as it was written, without fields that
// are unknown to this version, or as this version stored it. ref identifies a rule of next by path
// and index. The siblings in the proof are rules of this version. Passes returns nil if it finds no
// proof.
func (p *Prover) Passes(next *Prover, ref engine.RuleRef) (*Proof, error) {
	return p.prove(func(w *formula) error {
		q, err := w.question(next, ref)
		if err != nil {
			return err
		}
		w.clause(q.rejects(q.rule))
		return nil
	})
}

// question is a rule for a value and its old value.
type question struct {
	formula   *formula
	of        *Prover
	rule      *compiledRule
	self, old *place
}

func (w *formula) question(of *Prover, ref engine.RuleRef) (*question, error) {
	steps, err := engine.ParsePath(ref.Path)
	if err != nil {
		return nil, err
	}
	// Values that both versions read alike belong to the first version and have its rules.
	n := of.root()
	for _, step := range steps {
		n = n.below(step)
	}
	self := w.tree(of, steps)
	if self == nil || n.schema == nil || ref.Index < 0 || ref.Index >= len(n.schema.XValidations) {
		return nil, fmt.Errorf("rule %d of %q: %w: no such rule in the schema", ref.Index, ref.Path, ErrNotAnalyzed)
	}
	r := of.rule(steps, n.schema, n.decl, ref.Index)
	if r == nil {
		return nil, fmt.Errorf("rule %d of %q: %w: it does not compile", ref.Index, ref.Path, ErrNotAnalyzed)
	}
	q := &question{formula: w, of: of, rule: r, self: self}
	w.before(q, r)
	return q, nil
}

// before adds the old object if the rule reads it. The first version accepts the old object as well,
// and it has values at the same paths.
func (w *formula) before(q *question, r *compiledRule) {
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

// truth returns the truth of a rule. If upstream may panic, the result may be an error regardless
// of the operands.
func (q *question) truth(r *compiledRule) truth {
	g := &q.formula.gates
	v := q.formula.reading(r, q.self, q.old).truth(r.tree.Expr())
	if !eval.MayPanic(r.tree) {
		return v
	}
	noError := g.free()
	return truth{g.both(noError, v.t), g.both(noError, v.f)}
}

// rejects returns a literal that holds if a rule rejects the object: it runs and is not true.
func (q *question) rejects(r *compiledRule) sat.Lit {
	return q.formula.both(q.formula.runs(r), q.truth(r).t.Not())
}

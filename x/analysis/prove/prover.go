package prove

import (
	"errors"
	"fmt"
	"sync"

	"github.com/google/cel-go/common/ast"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

// Config holds options for New. The zero value means the newest supported Kubernetes version.
type Config struct {
	KubeVersion string
}

// Outcome is the outcome of a rule that is to be proved impossible.
type Outcome uint8

// The outcomes of a rule.
const (
	// Rejected means that the rule is false or fails for an object that is otherwise accepted.
	Rejected Outcome = iota
	// Failed means that the rule fails to evaluate for such an object.
	Failed
)

// Prover proves that outcomes of the rules of a schema are impossible. It is not safe for
// concurrent use.
type Prover struct {
	version  string
	schema   *schema.Structural
	decl     *types.Decl
	compiler *expr.KeyedCompiler[*expr.Checked]
	elementTraits
	closed   map[string]func() (*Proof, error) // the results of acceptsNothing, by path
	work     *work.Meter                       // of the run; nil if it has no limit
	recorder recorder                          // of formulas; nil outside tests
}

type compiledRule struct {
	ref     engine.RuleRef
	checked *expr.Checked
	tree    *ast.AST
	usesOld bool
	elementTraits
}

// New returns a prover for a version of a CRD.
func New(of *apiextensionsv1.CustomResourceDefinitionVersion, cfg Config) (*Prover, error) {
	_, s, err := structural.Of(of.Schema)
	if err != nil {
		return nil, fmt.Errorf("version %s: %w", of.Name, err)
	}
	v, err := types.ParseVersion(cfg.KubeVersion)
	if err != nil {
		return nil, err
	}
	decl := types.NewInterner().FromSchema(s, types.ResourceRoot)
	return &Prover{
		closed:  map[string]func() (*Proof, error){},
		version: of.Name, schema: s, decl: decl, elementTraits: elementTraitsOf(decl, map[*types.Decl]bool{}),
		compiler: expr.NewKeyedCompiler(expr.KeyedConfig[*expr.Checked]{
			Env: celenv.StoredRules(v), Finish: func(c *expr.Checked) (*expr.Checked, error) { return c, nil },
		}),
	}, nil
}

// Charge makes the following questions consume work from m. A question that uses up m has no proof.
func (p *Prover) Charge(m *work.Meter) { p.work = m }

// ErrNotAnalyzed means that a question cannot be analyzed, for example because a rule does not
// compile.
var ErrNotAnalyzed = errors.New("not analyzed")

// Never proves that a rule never has an outcome. It returns nil if it finds no proof. The rule is
// identified by its path and index.
func (p *Prover) Never(ref engine.RuleRef, outcome Outcome) (*Proof, error) {
	steps, err := engine.ParsePath(ref.Path)
	if err != nil || len(steps) > work.MaxDepth {
		return nil, err
	}
	proof, err := p.prove(func(w *formula) error {
		q, err := w.question(p, ref)
		if err != nil {
			return err
		}
		w.target = &q.rule.ref
		v := q.truth(q.rule)
		w.clause(v.t.Not())
		if outcome == Failed {
			w.clause(v.f.Not())
		}
		w.clause(w.runs(q.rule))
		return nil
	})
	// The formula does not contain the parents of an item, so the list or map of the rule may never exist.
	for i := 0; i < len(steps) && proof == nil && err == nil; i++ {
		if !steps[i].Any {
			continue
		}
		// If all rules together do not imply it, neither do the rules without ref.
		if proof, err = p.acceptsNothing(steps[:i]); proof == nil {
			continue
		}
		proof, err = p.prove(func(w *formula) error {
			w.target = &ref // the rule must not support its own proof
			return w.reach(p, steps[:i])
		})
	}
	return proof, err
}

// AcceptsNothing proves that the schema and rules accept no value at a path; "" is the root. It
// returns nil if it finds no proof.
func (p *Prover) AcceptsNothing(path string) (*Proof, error) {
	steps, err := engine.ParsePath(path)
	if err != nil || len(steps) > work.MaxDepth {
		return nil, err
	}
	return p.acceptsNothing(steps)
}

func (p *Prover) acceptsNothing(steps []engine.Step) (*Proof, error) {
	path := engine.FormatPath(steps)
	if p.closed[path] == nil {
		p.closed[path] = sync.OnceValues(func() (*Proof, error) {
			return p.prove(func(w *formula) error { return w.reach(p, steps) })
		})
	}
	return p.closed[path]()
}

func (p *Prover) rule(steps []engine.Step, s *schema.Structural, d *types.Decl, index int) *compiledRule {
	ref := engine.RuleRef{Version: p.version, Path: engine.FormatPath(steps), Index: index}
	return p.compile(ref, d, s.XValidations[index].Rule, expr.HasOptionalOldSelf(s.XValidations[index].OptionalOldSelf))
}

func (p *Prover) compile(ref engine.RuleRef, d *types.Decl, text string, optional bool) *compiledRule {
	checked, rejected, err := p.compiler.Compile(expr.Key{Decl: d, Part: expr.Itself, Optional: optional, Source: text})
	if rejected != nil || err != nil {
		return nil
	}
	ref.Rule, ref.OptionalOldSelf = text, optional
	tree, odd := checked.AST.NativeRep(), p.elementTraits
	odd.nulls = odd.nulls || usesNullAsValue(tree.Expr())
	return &compiledRule{ref: ref, checked: checked, tree: tree, usesOld: checked.UsesOldSelf(), elementTraits: odd}
}

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
	// A place that both versions read alike has the schema of the first version, so the rule is found by its path.
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

// If upstream may panic, the result may be an error regardless of the operands.
func (q *question) truth(r *compiledRule) truth {
	g := &q.formula.gates
	v := q.formula.reading(r, q.self, q.old).truth(r.tree.Expr())
	if !eval.MayPanic(r.tree) {
		return v
	}
	noError := g.free()
	return truth{g.both(noError, v.t), g.both(noError, v.f)}
}

func (q *question) rejects(r *compiledRule) sat.Lit {
	return q.formula.both(q.formula.runs(r), q.truth(r).t.Not())
}

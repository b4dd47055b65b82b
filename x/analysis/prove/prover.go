package prove

import (
	"errors"
	"fmt"

	"github.com/google/cel-go/common/ast"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/types"
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
	closed    map[string]closedResult // by path
	work      *work.Meter             // of the run; nil if it has no limit
	recording *recording              // of formulas; nil outside tests
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
		closed:  map[string]closedResult{},
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
	if steps, err := engine.ParsePath(ref.Path); err != nil || len(steps) > work.MaxDepth {
		return nil, err
	}
	proof, err := p.proveNever(ref, outcome)
	if proof != nil || err != nil {
		return proof, err
	}
	return p.proveUnreachable(ref)
}

func (p *Prover) proveNever(ref engine.RuleRef, outcome Outcome) (*Proof, error) {
	return p.prove(func(w *formula) error {
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
}

// proveUnreachable proves that no object has the list or map that contains a rule. Parents of an item are
// otherwise not modeled.
func (p *Prover) proveUnreachable(ref engine.RuleRef) (*Proof, error) {
	steps, err := engine.ParsePath(ref.Path)
	if err != nil {
		return nil, err
	}
	for i, step := range steps {
		if !step.Any {
			continue
		}
		// If all rules together do not imply it, neither do the rules without ref.
		if proof, err := p.acceptsNothing(steps[:i]); err != nil {
			return nil, err
		} else if proof == nil {
			continue
		}
		proof, err := p.prove(func(w *formula) error {
			w.target = &ref // the rule must not support its own proof
			return w.reach(p, steps[:i])
		})
		if proof != nil || err != nil {
			return proof, err
		}
	}
	return nil, nil
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

// closedResult caches the result of acceptsNothing, which is needed for each rule below a path.
type closedResult struct {
	proof *Proof
	err   error
}

func (p *Prover) acceptsNothing(steps []engine.Step) (*Proof, error) {
	path := engine.FormatPath(steps)
	c, ok := p.closed[path]
	if !ok {
		c.proof, c.err = p.prove(func(w *formula) error { return w.reach(p, steps) })
		p.closed[path] = c
	}
	return c.proof, c.err
}

// rule compiles a rule of a schema node, or returns nil if it does not compile.
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

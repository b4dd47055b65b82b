package coverage

import (
	"context"
	"sync"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/types"
)

// rule is the recorded coverage of a version's rule in all variants of its CRD, or of an expression
// of a policy.
type rule struct {
	mu   sync.Mutex
	item Item // without Conditions until a program with probes is planned
}

// probes returns probes for the rule's conditions by expression ID, or nil if the conditions cannot
// be measured.
func (r *rule) probes(checked *cel.Ast) map[int64]eval.Probe {
	source := lex.NewSource(r.item.Rule, checked)
	found := conditionsOf(checked.NativeRep(), source)
	if r.item.Conditions == nil {
		r.item.Conditions = make([]Condition, len(found))
		for i, e := range found {
			c := &r.item.Conditions[i]
			c.Text = source.Of(e)
			c.Start, c.End, _ = source.Range(e)
		}
	}
	if len(found) != len(r.item.Conditions) {
		// The same source has different types in another variant, so it has other conditions.
		r.item.Unmeasured = "its conditions differ in another variant of the CRD"
		return nil
	}
	probes := map[int64]eval.Probe{}
	for i, e := range found {
		c := &r.item.Conditions[i]
		probes[e.ID()] = func(value, ok bool) {
			switch {
			case !ok:
				c.Errors++
			case value:
				c.True++
			default:
				c.False++
			}
		}
	}
	return probes
}

type engineRule struct {
	*rule
	ref     *engine.RuleRef
	decl    *types.Decl
	program *eval.Program // nil if conditions are not measured
	vars    eval.Activation
}

// ran evaluates the rule again to observe its conditions.
func (p *engineRule) ran(run *engine.RuleRun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.item.Ran++
	switch run.Outcome {
	case engine.Passed:
		p.item.Passed++
	case engine.Rejected:
		p.item.Rejected++
	case engine.Ratcheted:
		p.item.Ratcheted++
	case engine.Failed:
		p.item.Errors++
	default:
		p.item.Errors++
		return // too much work to repeat
	}
	if p.program == nil {
		return
	}
	p.vars.BindOld(p.decl, run.Self, run.Old)
	p.vars.SetOptional(p.ref.OptionalOldSelf)
	p.program.Eval(context.Background(), &p.vars)
	p.vars.Unbind()
}

// plan creates the program with probes. If it fails, the rule's runs are still counted.
func (p *engineRule) plan(w *Watch) error {
	node, err := w.engine.At(p.ref.Version, p.ref.Path)
	if err != nil {
		return err
	}
	p.decl = node.Decl
	checked, err := w.scope.Compile(p.decl, p.ref.OptionalOldSelf, p.ref.Rule)
	if err != nil {
		return err
	}
	limit := cost.Limits{}.WithDefaults().PerCall
	p.program, err = w.planner.PlanProbed(checked, celenv.RuleRoots(p.decl, p.ref.OptionalOldSelf), limit, p.probes(checked))
	return err
}

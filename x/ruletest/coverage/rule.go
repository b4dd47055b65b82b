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
	mu     sync.Mutex
	item   Item
	looked bool     // item.Conditions and scales are set
	scales []*scale // by decision
}

// look determines the rule's conditions on the first call, and returns probes for them by expression
// ID. It returns nil if the conditions cannot be measured.
func (r *rule) look(checked *cel.Ast) map[int64]eval.Probe {
	source := lex.NewSource(r.item.Rule, checked)
	a := dissect(checked.NativeRep(), source)
	if !r.looked {
		r.looked = true
		r.item.Conditions = make([]Condition, len(a.conditions))
		r.item.shown = make([]shown, len(a.conditions))
		for i, e := range a.conditions {
			c := &r.item.Conditions[i]
			c.Text = source.Of(e)
			c.Start, c.End, _ = source.Range(e)
		}
		for _, d := range a.decisions {
			r.scales = append(r.scales, newScale(d, r.item.shown))
		}
	}
	if len(a.conditions) != len(r.item.Conditions) || len(a.decisions) != len(r.scales) {
		// The same source has different types in another variant, so it has other conditions.
		r.item.Unmeasured = "its conditions differ in another variant of the CRD"
		return nil
	}
	probes := map[int64]eval.Probe{}
	for n, d := range a.decisions {
		for i := range d.parts {
			if p := &d.parts[i]; p.op == leaf {
				e := a.conditions[p.cond]
				probes[e.ID()] = &probe{rule: r, scale: r.scales[n], part: i, seen: &r.item.Conditions[p.cond], whole: e.ID() == d.root}
			}
		}
		if probes[d.root] == nil {
			probes[d.root] = &probe{scale: r.scales[n], whole: true}
		}
	}
	return probes
}

// probe records the values of a condition or a decision.
type probe struct {
	*rule
	scale *scale
	part  int
	seen  *Condition // nil for a decision that is not a condition
	whole bool       // the probe begins and ends a decision
}

// Begin implements eval.Probe.
func (p *probe) Begin() {
	if p.whole {
		p.scale.begin()
	}
}

// End implements eval.Probe.
func (p *probe) End(v eval.Truth) {
	if p.seen != nil {
		count, value := &p.seen.Errors, isError
		switch v {
		case eval.True:
			count, value = &p.seen.True, isTruthy
		case eval.False:
			count, value = &p.seen.False, isFalsy
		}
		*count++
		p.scale.now[p.part] = byte(value)
	}
	if p.whole {
		p.scale.end()
	}
}

type engineRule struct {
	*rule
	ref     *engine.RuleRef
	decl    *types.Decl
	program *eval.Program // nil if conditions are not measured
	vars    eval.Activation
}

// ran counts a run and evaluates the rule again to observe its conditions.
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
	p.program, err = w.planner.PlanProbed(checked, celenv.RuleRoots(p.decl, p.ref.OptionalOldSelf), limit, p.look(checked))
	return err
}

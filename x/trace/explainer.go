// Package trace explains why an object was rejected. For each cause that comes from a rule, it
// returns the values in the rule that determined the result.
//
//	res, err := e.Validate(ctx, req)
//	all, err := trace.NewExplainer(e).Explain(ctx, res.Prepared, res.Causes, record.MaxObjectWork)
//
// Explaining never changes a verdict. The work is bounded: see Explainer.Explain.
package trace

// How it works. The rule of a cause is evaluated again for the same value, by the same evaluator, with a plan that
// records each node (x/trace/record). The same limits apply: the CEL cost limit, a check of each call's cost before
// the call, and a limit on work, which all explanations of an object share.

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/access"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/x/trace/record"
)

// Explainer explains why the rules of a CRD rejected an object. It caches compiled rules and is
// safe for concurrent use.
type Explainer struct {
	engine *engine.Engine

	mu       sync.Mutex
	scope    *celenv.Scope // nil before the first rule
	programs map[engine.RuleRef]compiled
}

// NewExplainer returns an explainer for rejections by e.
func NewExplainer(e *engine.Engine) *Explainer {
	return &Explainer{engine: e, programs: map[engine.RuleRef]compiled{}}
}

// Explain explains the causes of a rejection and returns one Explanation per cause. seen is the
// Prepared object of the result. The explanations share the allowance of work, which is capped at
// record.MaxObjectWork; values beyond it are not shown. Explain stops early if ctx is done.
//
// The error joins an *engine.InternalError for each cause whose explanation failed because of a bug
// in Celadon. The other causes are explained nevertheless.
func (x *Explainer) Explain(ctx context.Context, seen *engine.Prepared, causes []engine.Cause, allowance uint64) (all Explanations, err error) {
	all.Causes = make([]Explanation, len(causes))
	if seen == nil {
		return all, nil
	}
	budget := record.NewBudget(allowance)
	var bugs []error
	for i, cause := range causes {
		if cause.Rule == nil || ctx.Err() != nil {
			continue
		}
		var err error
		if all.Causes[i], err = x.explain(ctx, seen, cause, budget); err != nil {
			bugs = append(bugs, err)
		}
	}
	all.Work = budget.Spent()
	return all, errors.Join(bugs...)
}

// An error is a bug in Celadon; it names the rule.
func (x *Explainer) explain(ctx context.Context, seen *engine.Prepared, cause engine.Cause, budget *record.Budget) (why Explanation, err error) {
	defer func() {
		if p := recover(); p != nil {
			why, err = Explanation{}, &engine.InternalError{Rule: cause.Rule, Reason: fmt.Sprintf("explaining: %v", p), Stack: debug.Stack()}
		}
	}()
	t, err := x.trace(ctx, seen, cause, budget)
	var broken *eval.InternalError
	var over *eval.OverworkError
	var complex *celenv.ComplexError
	switch {
	case errors.As(err, &broken):
		return Explanation{}, &engine.InternalError{Rule: cause.Rule, Reason: fmt.Sprintf("explaining: %v", broken.Panic), Stack: broken.Stack}
	case errors.As(err, &over):
		return Explanation{NotShown: over.Error()}, nil
	case errors.As(err, &complex):
		return Explanation{NotShown: complex.Error()}, nil
	case err != nil || ctx.Err() != nil:
		return Explanation{}, nil // the path is not found, the rule does not compile, or ctx is done
	}
	why.Values = values(t.Why())
	if t.Cut() {
		why.NotShown = "the rest exceeds the work limit"
	}
	return why, nil
}

func values(parts []record.Part) (out []Value) {
	for _, p := range parts {
		if p.Step {
			continue
		}
		text := p.Text
		if p.At != "" {
			text += " (" + p.At + ")"
		}
		out = append(out, Value{text, expr.Native(p.Value)})
	}
	return out
}

var errNotFound = errors.New("the cause's path was not found in the object")

func (x *Explainer) trace(ctx context.Context, seen *engine.Prepared, cause engine.Cause, budget *record.Budget) (*record.Trace, error) {
	steps, err := pathOf(cause)
	if err != nil {
		return nil, err
	}
	at, before, ok := seen.Values(steps)
	if !ok {
		return nil, errNotFound
	}
	p, err := x.Program(*cause.Rule)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, at, before, budget)
}

func pathOf(cause engine.Cause) ([]engine.Step, error) {
	steps, err := engine.ParsePath(cause.Rule.Path)
	if err != nil || !slices.ContainsFunc(steps, func(s engine.Step) bool { return s.Any }) {
		return steps, err
	}
	field, err := engine.ParsePath(cause.Field)
	if err != nil { // a rule's fieldPath can end it as ".[key]"
		field, err = engine.ParsePath(strings.ReplaceAll(cause.Field, ".[", "["))
	}
	if err != nil || len(field) < len(steps) {
		return nil, errNotFound
	}
	for i := range steps {
		if steps[i].Any {
			steps[i] = field[i]
		}
	}
	return steps, nil
}

type compiled struct {
	program *record.Program
	err     error
}

// Program returns the program that records evaluations of a rule.
func (x *Explainer) Program(rule engine.RuleRef) (*record.Program, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	c, ok := x.programs[rule]
	if !ok {
		c.program, c.err = x.compile(rule)
		x.programs[rule] = c
	}
	return c.program, c.err
}

func (x *Explainer) compile(rule engine.RuleRef) (*record.Program, error) {
	node, err := x.engine.At(rule.Version, rule.Path)
	if err != nil {
		return nil, err
	}
	if x.scope == nil {
		env, err := access.Env(x.engine.Info().Config)
		if err != nil {
			return nil, err
		}
		if x.scope, err = env.Scope(); err != nil {
			return nil, err
		}
	}
	return record.Compile(x.scope, node.Decl, node.Config.Limits.PerCall, rule.Rule, rule.OptionalOldSelf)
}

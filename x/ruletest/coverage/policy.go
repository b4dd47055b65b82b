package coverage

import (
	"context"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/eval"
)

// How it works: after each request, the policies that matched are evaluated again by programs with
// probes. These programs are not safe for concurrent use, and the counts that they update are shared
// by all watched sets of policies, so only one request is evaluated again at a time.

var partOrder = map[string]int{policy.PartCondition: 1, policy.PartVariable: 2, policy.PartValidation: 3}

// PolicyObserver records the evaluations for a request. set is the watched set, or a set that WithParams derives from
// it, and res is its result for req. It can be called concurrently.
type PolicyObserver = func(ctx context.Context, set *policy.Set, req policy.Request, res *policy.Result) error

// WatchPolicies registers the expressions of the policies in set. An error is an internal error.
func (r *Recorder) WatchPolicies(set *policy.Set) (PolicyObserver, error) {
	r.replays.Lock()
	defer r.replays.Unlock()
	watch, err := set.Watch(func(x policy.Expression) policy.ExpressionObserver {
		return &expressionRule{r.rule(Item{Policy: x.Policy, Part: x.Part, Name: x.Name, Path: x.Path, Index: x.Index, Rule: x.Source})}
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, set *policy.Set, req policy.Request, res *policy.Result) error {
		r.replays.Lock()
		defer r.replays.Unlock()
		return watch.Replay(ctx, set, req, res)
	}, nil
}

// expressionRule records the evaluations of an expression in its rule. Recorder.replays guards it.
type expressionRule struct{ *rule }

// Probes implements policy.ExpressionObserver.
func (x *expressionRule) Probes(checked *cel.Ast) map[int64]eval.Probe {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.probes(checked)
}

// Ran implements policy.ExpressionObserver.
func (x *expressionRule) Ran(value *bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.item.Ran++
	x.item.isBool = x.item.isBool || value != nil
	switch {
	case err != nil:
		x.item.Errors++
	case value != nil && !*value:
		x.item.Rejected++
	default:
		x.item.Passed++
	}
}

// PolicyCounts counts the expressions of policies.
type PolicyCounts struct {
	// Expressions is the number of validations and matchConditions. Ran is how many of them were
	// evaluated, and False is how many of them were false.
	Expressions int `json:"expressions"`
	Ran         int `json:"ran"`
	False       int `json:"false"`
	// Variables is the number of variables, and Evaluated is how many of them were evaluated.
	Variables int `json:"variables"`
	Evaluated int `json:"evaluated"`
}

func (c *PolicyCounts) add(item *Item) {
	if item.Part == policy.PartVariable {
		c.Variables++
		c.Evaluated += min(item.Ran, 1)
		return
	}
	c.Expressions++
	c.Ran += min(item.Ran, 1)
	c.False += min(item.Rejected, 1)
}

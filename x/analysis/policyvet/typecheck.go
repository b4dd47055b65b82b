package policyvet

import (
	"context"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/policy"
)

// A Warning is an expression that does not fit the types of objects that the policy matches. The API server writes
// such warnings about validations and their message expressions into status.typeChecking of policies. Vet also checks
// variables, matchConditions, audit annotations, and more kinds.
type Warning struct {
	// Path is the field with the expression.
	Path, Expression string
	// Message names the kinds and the error.
	Message string
	// Harmless is set if the server warns although the expression does not fail: expressions are evaluated without
	// types, and the part with the error may not be evaluated for these kinds, or only test a field.
	Harmless bool
	Advice

	kinds []*kind
	never bool // the validation is never true for them
}

// An Estimate is the estimated cost of a policy for a kind, in CEL cost units. Costs are for the largest object that
// the schema allows. A cost above Unbounded means that a size has no bound.
type Estimate struct {
	// Kind is the kind of objects, such as "apps/v1, Kind=Deployment".
	Kind string `json:"kind"`
	// Validations is the cost of validations and message expressions with their variables, which
	// share the budget of the policy. Conditions and Annotations are the costs of matchConditions and
	// audit annotations, with budgets of their own.
	Validations uint64 `json:"validations"`
	Conditions  uint64 `json:"matchConditions"`
	Annotations uint64 `json:"auditAnnotations"`
	// Budget limits Validations, and also Annotations. ConditionsBudget limits Conditions. They are 0 if each
	// expression has only a limit of its own.
	Budget           uint64 `json:"budget"`
	ConditionsBudget uint64 `json:"matchConditionsBudget"`
	// Incomplete is set if the cost of an expression is not known, because it does not fit the type of the
	// kind. The expression then counts as 0.
	Incomplete bool `json:"incomplete,omitempty"`
	// Expressions holds all expressions.
	Expressions []ExpressionEstimate `json:"expressions"`
}

// An ExpressionEstimate is the estimated cost of an evaluation of an expression, without the variables
// that it uses.
type ExpressionEstimate struct {
	Path       string `json:"path"`
	Expression string `json:"-"`
	Cost       uint64 `json:"estimatedCost"`
	Limit      uint64 `json:"limit"`
}

// Fits reports whether all costs are known and within the limits.
func (e *Estimate) Fits() bool {
	return !e.Incomplete && e.Validations <= e.Budget && e.Annotations <= e.Budget && e.Conditions <= e.ConditionsBudget &&
		!slices.ContainsFunc(e.Expressions, func(x ExpressionEstimate) bool { return x.Cost > x.Limit })
}

// Unbounded is a cost that no object reaches. If a size is not known, the API server's model assumes the
// largest number.
const Unbounded = 1 << 56

// maxIssues limits the expressions with type errors in all documents, because each requires the types of a
// whole schema. maxChecks limits the expressions. Both count an expression once for each kind.
const (
	maxIssues = 1000
	maxChecks = 300_000
)

func (v *vetter) typeCheck(ctx context.Context, r *Report, c *policy.TypeChecker, s *subject) error {
	kinds, complete := v.cfg.Schemas.matched(&s.match)
	if !complete {
		r.Limited = "types are checked for the first 200 kinds only"
	}
	params := v.params(s)
	found := &typeErrors{subject: s, issues: map[*expression][]kindIssue{}, tests: map[node]int{}}
	for _, k := range kinds {
		d := v.cfg.Schemas.declare(k.kind)
		if d == nil {
			continue
		}
		if v.issues > maxIssues || v.checks > maxChecks {
			r.Limited = "types are not checked for all kinds: the documents have too many expressions or type errors"
			break
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		list, err := c.Check(d, params)
		if err != nil {
			return err
		}
		v.checks += len(list)
		list = slices.DeleteFunc(list, func(x policy.TypedExpression) bool { return !strings.HasPrefix(x.Path, s.prefix) })
		v.issues += found.add(k, list)
		r.Estimates = append(r.Estimates, v.estimate(s, k.kind, list))
	}
	for _, x := range s.expressions {
		if !r.hasError(x.Path) {
			r.Warnings = append(r.Warnings, found.warnings(x)...)
			v.explainWarnings(r, c, s, x.Path)
		}
	}
	return nil
}

func (v *vetter) estimate(s *subject, k *kind, list []policy.TypedExpression) Estimate {
	e := Estimate{Kind: k.String(), Budget: uint64(v.limits.PerObject), ConditionsBudget: conditionsBudget}
	costs := map[string]uint64{}
	for _, x := range list {
		costs[x.Path] = x.Cost.Max
		e.Incomplete = e.Incomplete || x.Issues != ""
		e.Expressions = append(e.Expressions, ExpressionEstimate{Path: x.Path, Expression: x.Source, Cost: x.Cost.Max, Limit: uint64(v.limits.PerCall)})
	}
	e.Conditions = s.group(costs, policy.PartCondition)
	e.Validations = cost.Add(s.group(costs, policy.PartValidation), s.group(costs, policy.PartMessage))
	e.Annotations = s.group(costs, policy.PartAnnotation)
	return e
}

// group returns the cost of the expressions of a part. Each variable that they use is counted once.
func (s *subject) group(costs map[string]uint64, part string) (sum uint64) {
	for x := range s.used(func(x *expression) bool { return x.Part == part }) {
		sum = cost.Add(sum, costs[x.Path])
	}
	return sum
}

// used returns the expressions for which of holds, and the variables that they need.
func (s *subject) used(of func(*expression) bool) map[*expression]bool {
	all := map[*expression]bool{}
	var add func(x *expression)
	add = func(x *expression) {
		if x == nil || all[x] {
			return
		}
		all[x] = true
		for name := range x.uses {
			add(s.variables[name])
		}
	}
	for _, x := range s.expressions {
		if of(x) {
			add(x)
		}
	}
	return all
}

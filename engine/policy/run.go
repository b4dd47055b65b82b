package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/engine/x/eval"
)

// The limits of a request. Policies within the server's cost budgets need far less.
const (
	// maxWork limits the work of a request, in the units of the evaluator.
	maxWork = 4 * eval.MaxWork
	// maxKept limits the evaluations and decisions in a result, and maxTexts their messages in bytes.
	maxKept  = 20_000
	maxTexts = 8 << 20
)

// The work of steps other than evaluating an expression.
const (
	evaluationWork = 4_000  // a policy with a binding and a params object
	expressionWork = 100    // an expression, in addition to evaluating it
	candidateWork  = 100    // testing whether a binding selects a params object
	copyWork       = 8      // copying a byte of a mutated object; each value counts nodeBytes in addition
	levelWork      = 16     // a byte in a level of an object that a JSON patch decodes and encodes
	mergeWork      = 1_000  // merging a value
	keyedWork      = 30_000 // merging an item of a list by key
)

var errWork = &undecidedError{"the policies exceed the work limit of a request"}

// A run evaluates the expressions of one program. It is reused to save memory.
type run struct {
	program    *program
	activation *eval.Activation
	variables  variablesValue
	authority  authority
	results    []result

	ctx context.Context
	// workLeft excludes the work that an expression in evaluation has reserved.
	workLeft uint64
	// depth counts the variables in evaluation, and variableCost is the cost of those that the current expression
	// evaluated.
	depth        int
	variableCost int64
	undecided    string
	// doubt is the reason why the result of the last expression is not known, or "". firstDoubt is the first such
	// reason, and doubts is the number of such expressions. noNamespace is the reason why namespaceObject is not
	// known; its value is then an error.
	doubt, firstDoubt, noNamespace string
	doubts                         int64
	bug                            error
}

type result struct {
	value      ref.Val // nil if failure is set, or if the expression is absent
	failure    string
	isDoubtful bool
	// cost includes the variables that were evaluated for the expression.
	cost int64
}

func newRun(p *program) *run {
	r := &run{program: p, activation: eval.NewActivation(p.roots)}
	n := len(p.parts[partVariable])
	r.variables = variablesValue{run: r, values: make([]ref.Val, n), pending: make([]bool, n)}
	r.results = make([]result, max(len(p.parts[partCondition]), len(p.parts[partValidation]), len(p.parts[partAnnotation]), 1))
	return r
}

func (r *run) start(ctx context.Context, workLeft uint64) {
	r.ctx, r.workLeft, r.depth, r.undecided, r.noNamespace, r.bug = ctx, workLeft, 0, "", "", nil
	r.forget()
}

func (r *run) forget() { r.authority.unknown, r.firstDoubt, r.doubts = nil, "", 0 }

// isWithin reports whether the expressions with unknown results cannot exceed the rest of a budget,
// whatever their results are.
func (r *run) isWithin(remaining, perCall int64) bool {
	return r.doubts*perCall*int64(1+len(r.program.parts[partVariable])) <= remaining
}

// A spendFunc returns errWork if fewer units of work are left.
type spendFunc = func(units uint64) error

func (r *run) spend(units uint64) error {
	if units > r.workLeft {
		r.workLeft = 0
		return errWork
	}
	r.workLeft -= units
	return nil
}

func (r *run) whyUndecided() string { return cmp.Or(r.undecided, r.firstDoubt) }

// evaluate lets x use half of the work that is left, so that work is left for later expressions.
func (r *run) evaluate(x *expression) eval.Outcome {
	limit := min(r.workLeft/2, eval.MaxWork)
	r.workLeft -= limit
	if len(r.program.parts[partVariable]) == 0 { // otherwise, a variable may have the result of an earlier check
		r.authority.unknown = nil
	}
	out := r.evaluateWith(x, r.activation, limit)
	r.doubt = ""
	switch a := r.authority.unknown; {
	case a != nil:
		r.doubt = a.reason()
	case out.Err != nil:
		r.doubt = r.noNamespace
	}
	if r.doubt != "" {
		r.firstDoubt = cmp.Or(r.firstDoubt, r.doubt)
		r.doubts++
	}
	r.workLeft += limit - min(r.activation.Work()+expressionWork, limit)
	return out
}

func (r *run) evaluateWith(x *expression, a *eval.Activation, limit uint64) eval.Outcome {
	a.LimitWork(limit)
	out := x.program.Eval(r.ctx, a)
	if x.observer != nil {
		observe(x.observer, out)
	}
	return out
}

func (r *run) finish() {
	r.ctx = nil
	for i, used := range r.program.uses {
		if used {
			r.activation.Set(i, nil)
		}
	}
	r.variables.reset()
	clear(r.results)
}

const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run"

// group evaluates expressions and returns their results, which are valid until the next group. If
// they exceed the budget, failure is the server's error and there are no results.
func (r *run) group(expressions []*expression, budget int64) (results []result, remaining int64, failure string) {
	r.variables.reset()
	results, remaining = r.results[:len(expressions)], budget
	for i, x := range expressions {
		results[i] = result{}
		switch {
		case x == nil:
			continue
		case x.program == nil:
			results[i].failure = "compilation error: " + x.failure
			continue
		}
		r.variableCost = 0
		out := r.evaluate(x)
		results[i].isDoubtful = r.doubt != ""
		if r.variableCost > remaining || addCost(r.variableCost, out.Cost) > remaining {
			return nil, -1, outOfBudget
		}
		results[i].cost = addCost(r.variableCost, out.Cost)
		remaining -= results[i].cost
		if out.Err == nil {
			results[i].value = out.Value
			continue
		}
		r.note(out.Err)
		results[i].failure = fmt.Sprintf("expression '%v' resulted in error: %v", x.text, out.Err)
	}
	return results, remaining, ""
}

func addCost(a int64, b uint64) int64 {
	if b > math.MaxInt64 || a > math.MaxInt64-int64(b) {
		return math.MaxInt64
	}
	return a + int64(b)
}

// note records an error that is not a verdict.
func (r *run) note(err error) {
	var overwork *eval.OverworkError
	var broken *eval.InternalError
	switch {
	case errors.As(err, &broken):
		r.bug = internal("", broken)
	case errors.As(err, &overwork) && r.undecided == "":
		r.undecided = "an expression exceeds the work limit: " + overwork.Error()
	}
}

func (r *run) variable(i int) ref.Val {
	x := r.program.parts[partVariable][i]
	switch {
	case x.program == nil:
		return celtypes.NewErr("composited variable %q fails to compile: %v", x.name, x.failure)
	case r.variables.pending[i]:
		return r.unknownVariable("variable %q needs its own value, on which an API server crashes: remove the cycle", x.name)
	case r.depth == maxVariableDepth:
		return r.unknownVariable("variable %q is needed by a chain of %d others: shorten it", x.name, maxVariableDepth)
	}
	outer := r.activation // of the expression that needs the variable
	for range r.depth {
		outer = outer.Nested()
	}
	inner := outer.Nested()
	r.depth++
	r.variables.pending[i] = true
	out := r.evaluateWith(x, inner, outer.WorkLeft())
	r.variables.pending[i] = false
	r.depth--
	outer.AddWork(inner.Work() + expressionWork)
	r.variableCost = addCost(r.variableCost, out.Cost)
	if out.Err != nil {
		r.note(out.Err)
		return celtypes.NewErr("composited variable %q fails to evaluate: %v", x.name, out.Err)
	}
	return out.Value
}

func (r *run) unknownVariable(format string, args ...any) ref.Val {
	if r.undecided == "" {
		r.undecided = fmt.Sprintf(format, args...)
	}
	return celtypes.NewErr(format, args...)
}

func (r *run) bindUsed(root int, value map[string]any) {
	if r.program.uses[root] {
		r.bind(root, value)
	}
}

func (r *run) bind(root int, value map[string]any) {
	if value == nil {
		r.activation.Set(root, celtypes.NullValue)
		return
	}
	r.activation.SetObject(root, value)
}

// typedRequests is the first minor version in which request and namespaceObject are Go structs in
// comparisons.
const typedRequests = 37 // k8s.io/apiserver 0.37, pkg/admission/plugin/cel/activation.go, newActivation

// bindStruct is like bind, for a root that is a Go struct in the server.
func (r *run) bindStruct(s *situation, root int, value map[string]any) {
	if value == nil || s.set.settings.version.Minor < typedRequests {
		r.bind(root, value)
		return
	}
	r.activation.Set(root, celvalue.FromGo(value))
}

// bindAuthorizer makes the authorizer an unknown attribute if bound is false.
func (r *run) bindAuthorizer(req *Request, bound bool) {
	if !r.program.uses[authorizerRoot] && !r.program.uses[resourceRoot] {
		return
	}
	if !bound {
		r.activation.Set(authorizerRoot, nil)
		r.activation.Set(resourceRoot, nil)
		return
	}
	all, resource := r.authority.values(req)
	r.activation.Set(authorizerRoot, all)
	r.activation.Set(resourceRoot, resource)
}

// conditions evaluates matchConditions. name is the first that is false, or, if none is false, the first that fails.
func (r *run) conditions(s *situation, to *converted) (name, failure string, isFalse bool, cost int64) {
	if len(r.program.parts[partCondition]) == 0 {
		return "", "", false, 0
	}
	r.bindConditions(s, to)
	budget := s.set.settings.MatchConditions
	results, remaining, failure := r.group(r.program.parts[partCondition], budget)
	if failure != "" {
		return "", failure, false, budget
	}
	cost = budget - remaining
	var failures []error
	for i := range results {
		if results[i].failure != "" {
			failures = append(failures, errors.New(results[i].failure))
			name = cmp.Or(name, r.program.parts[partCondition][i].name)
		}
		if results[i].value == celtypes.False && !results[i].isDoubtful {
			if r.isWithin(remaining, s.set.settings.Limits.PerCall) {
				r.forget() // any false condition excludes the request
			}
			return r.program.parts[partCondition][i].name, "", true, cost
		}
	}
	if len(failures) > 0 {
		failure = utilerrors.NewAggregate(failures).Error()
	}
	return name, failure, false, cost
}

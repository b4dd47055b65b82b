package policy

import (
	"cmp"
	"context"
	"slices"

	"github.com/celadon-cel/celadon/engine/x/expr"
)

// An Outcome is the result of [Set.Eval].
type Outcome struct {
	// Value is decoded JSON, or a description of a value of the authorizer. It is nil if Failure is set.
	Value any
	// Type is the type of the expression, such as "bool" or "list(string)".
	Type string
	// Cost is in CEL cost units, with the variables that were evaluated.
	Cost int64
	// Failure is the reason why Value is not set, such as the error of the evaluation, or "".
	Failure string
	// Undecided is the reason why the result is not known, or "".
	Undecided string
}

// An ExpressionError reports that an expression does not compile.
type ExpressionError struct{ Detail string }

func (e *ExpressionError) Error() string { return e.Detail }

const maxOutcome = 16 << 20

// Eval evaluates an expression of any type as if it were in a ValidatingAdmissionPolicy: with its variables,
// and for the params object of its first binding that has one. The policy need not match the request. The error
// is an *ExpressionError if the expression does not compile.
func (s *Set) Eval(ctx context.Context, req Request, policy, source string) (out *Outcome, err error) {
	defer recovered(&policy, &out, &err)
	_, p, err := s.policy(policy)
	if err != nil {
		return nil, err
	}
	if err := req.check(); err != nil {
		return nil, err
	}
	explained, err := p.explained()
	if err != nil {
		return nil, err
	}
	program := *explained
	x, typeName, err := program.add(source)
	if err != nil {
		return nil, err
	}
	at := situation{ctx: ctx, set: s, req: &req, workLeft: maxWork}
	params, unknown := s.firstParams(p, &req)
	for root := range program.uses {
		program.uses[root] = true
	}
	r := newRun(&program)
	to := at.to(nil)
	at.begin(r, to, params)
	if expr.Mentions(x.checked, "namespaceObject") {
		r.bindNamespace(&at, at.filteredNamespace)
	}
	r.bindRequestValue(&at, to.resource, to)
	return r.outcome(x, typeName, unknown), ctx.Err()
}

// outcome evaluates an expression. unknown is the reason why params are not known, or "".
func (r *run) outcome(x *expression, typeName, unknown string) *Outcome {
	r.variables.reset()
	r.authority.explains = true
	res := r.evaluate(x)
	out := &Outcome{Type: typeName, Cost: addCost(r.variableCost, res.Cost), Undecided: r.whyUndecided()}
	switch {
	case res.Err != nil:
		r.note(res.Err)
		out.Failure = res.Err.Error()
		if unknown != "" {
			out.Failure += " (" + unknown + ")"
		}
	default:
		out.Value, out.Failure = r.nativeValue(res.Value, maxOutcome)
	}
	return out
}

// firstParams returns nil if there are no params. unknown is then a reason why the params of a binding are not
// available, or "".
func (s *Set) firstParams(p *compiledPolicy, req *Request) (params map[string]any, unknown string) {
	for _, b := range p.bindings {
		found, failure, undecided := s.paramsOf(p, b, req)
		unknown = cmp.Or(failure, undecided, unknown)
		if len(found) > 0 && found[0] != nil {
			return found[0], ""
		}
	}
	return nil, unknown
}

// add compiles an expression that is not in the policy.
func (p *program) add(text string) (*expression, string, error) {
	p.compiler.Lock()
	defer p.compiler.Unlock()
	p.compiler.scope.Forget()
	var detail string
	x, t := p.compiler.compile(p, source{text: text}, func(_, text string, _ int) { detail = text })
	if t == nil {
		return nil, "", &ExpressionError{detail}
	}
	return x, t.String(), nil
}

// VariableNames returns the names of the variables of a ValidatingAdmissionPolicy, or nil for an unknown policy.
func (s *Set) VariableNames(policy string) []string {
	_, p, err := s.policy(policy)
	if err != nil {
		return nil
	}
	return slices.Clone(p.program.variableNames)
}

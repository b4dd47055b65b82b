package policy

import (
	"cmp"
	"context"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/kubecel"
)

// An ExpressionValue is the value of an expression of a policy.
type ExpressionValue struct {
	Path, Expression string
	// Value is decoded JSON, or a description of a value of the authorizer. It is nil if Problem is set.
	Value any
	// Problem is the error, or the reason why the value is not known or not shown.
	Problem string
	// Cost is the cost in CEL cost units, including the variables that were evaluated for the expression.
	Cost int64
}

// Values evaluates the expressions of a ValidatingAdmissionPolicy for a request: only the matchConditions if they exclude
// it, and otherwise all, even messageExpressions that do not matter. It ignores the budget of the policy. req and e are
// from a call of Evaluate. The variables come first, then matchConditions, validations, messageExpressions, and audit
// annotations. The error is the cause of ctx, or an internal error.
func (s *Set) Values(ctx context.Context, req Request, e *Evaluation) (list []ExpressionValue, err error) {
	defer recovered(&e.Policy, &list, &err)
	p := e.of
	if p == nil {
		return nil, nil
	}
	at := situation{ctx: ctx, set: s, req: &req, workLeft: maxWork}
	to := at.to(e.to)
	if to.err != nil {
		return nil, nil
	}
	r := newRun(p.program)
	at.begin(r, to, e.params)
	for of := range partMutation {
		switch of {
		case partCondition:
			r.bindConditions(&at, to)
		case partVariable, partValidation:
			r.bindValidations(&at, to)
		case partMessage:
			r.bindAuthorizer(nil, false)
		case partAnnotation:
			r.bindNamespace(&at, at.fullNamespace)
		}
		if r.variables.reset(); e.Excluded && of != partCondition {
			continue
		}
		for _, x := range p.program.parts[of] {
			if x != nil {
				list = append(list, r.expressionValue(x))
			}
		}
	}
	_, err = at.end(r, p.name)
	return list, err
}

func (r *run) expressionValue(x *expression) ExpressionValue {
	v := ExpressionValue{Path: x.path, Expression: x.text}
	if x.program == nil {
		v.Problem = "compilation error: " + x.failure
		return v
	}
	r.undecided, r.variableCost = "", 0
	r.variables.reset()
	r.authority.explains, r.authority.accesses, r.authority.unknown = true, 0, nil
	out := r.evaluate(x)
	v.Cost = addCost(r.variableCost, out.Cost)
	if out.Err != nil {
		r.note(out.Err)
		v.Problem = out.Err.Error()
	} else {
		v.Value, v.Problem = r.nativeValue(out.Value, maxValueBytes)
	}
	if unknown := cmp.Or(r.undecided, r.doubt); unknown != "" {
		v.Value, v.Problem = nil, "undecided: "+unknown
	}
	return v
}

// nativeValue returns a value as ExpressionValue has it, or the reason why it is not shown, such as a string of over
// limit bytes.
func (r *run) nativeValue(v ref.Val, limit int) (value any, problem string) {
	a := &r.authority
	switch name := v.Type().TypeName(); {
	case name == kubecel.DecisionType.TypeName() && a.accesses == 1:
		return a.asked.explain(a.answered), ""
	case strings.HasPrefix(name, "kubernetes.authorization."):
		return name, ""
	}
	if _, fits := eval.TextSize(v, limit); !fits || celtypes.IsUnknown(v) {
		return nil, "the value is too large to show"
	}
	return expr.Native(v), ""
}

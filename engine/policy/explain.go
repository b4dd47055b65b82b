package policy

import (
	"context"
	"maps"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/internal/cel/loops"
)

// A Value is a part of an expression with its value.
type Value struct {
	// Expression is the source of the part, such as "object.spec.replicas".
	Expression string
	// Offset is the position of the part in the expression in code points. It is -1 if it is not known, such as for
	// an element of a list.
	Offset int
	// Value is decoded JSON. It is nil if Problem is set.
	Value any
	// Problem is the reason why the part has no value, such as "no such key: replicas". For a check of an access, it is
	// the decision with its reason.
	Problem string
	// Hint describes how to avoid Problem, or is "".
	Hint string
}

// Limits of an explanation.
const (
	maxValues      = 20
	maxValueBytes  = 64 << 10
	maxExplainWork = eval.MaxWork / 64
)

// Explain returns values that determined the result of a validation or mutation, such as fields of object, sides of
// comparisons, and the element that ended all() or exists(). Parts that did not matter, such as the true side of a
// false &&, are left out. req and e are from a call of Evaluate, or from MutationEvaluation.Failing. index is the
// index of the validation or mutation, or -1 for the matchCondition that failed. Explain returns nil if the policy
// does not have the expression or it cannot be evaluated. The error is the cause of ctx, or an internal error.
func (s *Set) Explain(ctx context.Context, req Request, e *Evaluation, index int) (values []Value, err error) {
	defer recovered(&e.Policy, &values, &err)
	p := e.of
	if p == nil {
		return nil, nil
	}
	explained, err := p.explained()
	if err != nil {
		return nil, err
	}
	x := explained.find(e, index)
	if x == nil || x.checked == nil {
		return nil, nil
	}
	at := situation{ctx: ctx, set: s, req: &req, workLeft: maxExplainWork}
	to := at.to(e.to)
	if to.err != nil {
		return nil, nil
	}
	program := explained.withElements(x)
	r := newRun(program)
	at.begin(r, to, e.params)
	switch {
	case index < 0:
		r.bindConditions(&at, to)
	case p.kind == mutatingKind:
		r.bindMutations(&at, to.resource, to)
	default:
		r.bindValidations(&at, to)
	}
	values = r.explain(&req, x)
	if p.paramKind != nil && e.params == nil {
		values = append(values, Value{Expression: "params", Offset: -1, Problem: "null, because the binding has no paramRef"})
	}
	if _, err := at.end(r, p.name); err != nil {
		return nil, err
	}
	return values, nil
}

// find returns the validation or mutation with an index, or for -1 the matchCondition that failed. It may return nil.
func (p *program) find(e *Evaluation, index int) *expression {
	if list := slices.Concat(p.parts[partValidation], p.parts[partMutation]); index >= 0 && index < len(list) {
		return list[index]
	}
	for _, d := range e.Decisions {
		for _, c := range p.parts[partCondition] {
			if index < 0 && d.Condition != "" && d.Condition == c.name {
				return c
			}
		}
	}
	return nil
}

// visitReads visits the longest selections below the roots. The variables of macros hide roots.
func (c *valueCollector) visitReads(list ...ast.Expr) {
	for _, e := range list {
		if c.selects(e) {
			c.visit(e)
			continue
		}
		if e.Kind() != ast.ComprehensionKind {
			c.visitReads(loops.Children(e)...)
			continue
		}
		m, outer := e.AsComprehension(), c.roots
		c.visitReads(m.IterRange(), m.AccuInit())
		c.roots = maps.Clone(outer)
		for _, name := range []string{m.IterVar(), m.IterVar2(), m.AccuVar()} {
			delete(c.roots, name)
		}
		c.visitReads(m.LoopCondition(), m.LoopStep(), m.Result())
		c.roots = outer
	}
}

func (c *valueCollector) selects(e ast.Expr) bool {
	switch e.Kind() {
	case ast.IdentKind:
		return c.roots[e.AsIdent()]
	case ast.SelectKind:
		return c.selects(e.AsSelect().Operand())
	case ast.CallKind:
		args := e.AsCall().Args()
		switch e.AsCall().FunctionName() {
		case operators.Index, operators.OptIndex, operators.OptSelect:
			return args[1].Kind() == ast.LiteralKind && c.selects(args[0])
		}
	}
	return false
}

package policy

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/eval"
)

// A Value is a part of an expression with its value.
type Value struct {
	// Expression is the source of the part, such as "object.spec.replicas".
	Expression string
	// Offset is the position of the part in the expression in code points. It is -1 for an element of a list or
	// map, for a part of a variable, and for missing params.
	Offset int
	// Value is decoded JSON. It is nil if Problem is set.
	Value any
	// Problem is the reason why the part has no value, such as "no such key: replicas".
	Problem string
	// Hint is how to avoid Problem, or "".
	Hint string
}

// Limits of an explanation.
const (
	maxValues      = 20
	maxValueBytes  = 64 << 10
	maxExplainWork = eval.MaxWork / 64
)

// Explain returns the values that determined the result of a validation, in the order of its expression: fields of
// object, params, and the other variables, the sides of comparisons, and the element that ended all() or exists().
// Parts that did not matter, such as the true side of &&, are left out. e is an evaluation from the result of
// Evaluate for req. With the validation -1, Explain explains the matchCondition that failed. It returns nothing for an
// expression that the policy does not have. It returns an error only if ctx is done or on an internal error.
func (s *Set) Explain(ctx context.Context, req Request, e *Evaluation, validation int) (values []Value, err error) {
	defer recovered(&e.Policy, &values, &err)
	p := e.of
	if p == nil {
		return nil, nil
	}
	explained, err := p.explained()
	if err != nil {
		return nil, err
	}
	x := explained.find(e, validation)
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
	if validation < 0 {
		r.bindConditions(&at, to)
	} else {
		r.bindValidations(&at, to)
	}
	values = r.explain(x)
	if p.paramKind != nil && e.params == nil {
		values = append(values, Value{Expression: "params", Offset: -1, Problem: "null, because the binding has no paramRef"})
	}
	if _, err := at.end(r, p.name); err != nil {
		return nil, err
	}
	return values, nil
}

// find returns the expression of a validation, or of the matchCondition that failed for -1. It returns nil if there
// is none.
func (p *program) find(e *Evaluation, validation int) *expression {
	if list := p.parts[partValidation]; validation >= 0 && validation < len(list) {
		return list[validation]
	}
	for _, d := range e.Decisions {
		for _, c := range p.parts[partCondition] {
			if validation < 0 && d.Condition != "" && d.Condition == c.name {
				return c
			}
		}
	}
	return nil
}

// A read is a part of an expression that selects a value below a variable.
type read struct {
	text string
	part ast.Expr
}

// A readCollector finds the longest selections below the roots, each once.
type readCollector struct {
	reads []read
	seen  map[string]bool
	roots map[string]bool
}

func (w *readCollector) visit(e ast.Expr) {
	if text, ok := w.text(e); ok {
		if !w.seen[text] {
			w.seen[text] = true
			w.reads = append(w.reads, read{text, e})
		}
		return
	}
	if e.Kind() == ast.ComprehensionKind {
		w.comprehension(e.AsComprehension())
		return
	}
	for _, child := range ast.NavigateExpr(nil, e).Children() {
		w.visit(child)
	}
}

func (w *readCollector) all(list ...ast.Expr) {
	for _, e := range list {
		w.visit(e)
	}
}

// comprehension visits the parts of a macro, in which the macro's variables hide roots.
func (w *readCollector) comprehension(c ast.ComprehensionExpr) {
	w.all(c.IterRange(), c.AccuInit())
	hidden := map[string]bool{}
	for _, name := range []string{c.IterVar(), c.IterVar2(), c.AccuVar()} {
		if w.roots[name] {
			hidden[name] = true
			delete(w.roots, name)
		}
	}
	w.all(c.LoopCondition(), c.LoopStep(), c.Result())
	for name := range hidden {
		w.roots[name] = true
	}
}

// text returns the text of a selection below a root.
func (w *readCollector) text(e ast.Expr) (string, bool) {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent(), w.roots[e.AsIdent()]
	case ast.SelectKind:
		s := e.AsSelect()
		of, ok := w.text(s.Operand())
		if s.IsTestOnly() {
			return "has(" + of + "." + s.FieldName() + ")", ok
		}
		return of + "." + s.FieldName(), ok
	case ast.CallKind:
		return w.callText(e.AsCall())
	}
	return "", false
}

// callText returns the text of an index with a constant, or of an optional selection.
func (w *readCollector) callText(call ast.CallExpr) (string, bool) {
	form := map[string]string{operators.Index: "%s[%s]", operators.OptIndex: "%s[?%s]", operators.OptSelect: "%s.?%s"}[call.FunctionName()]
	if form == "" || len(call.Args()) != 2 || call.Args()[1].Kind() != ast.LiteralKind {
		return "", false
	}
	of, ok := w.text(call.Args()[0])
	if !ok {
		return "", false
	}
	key := fmt.Sprint(call.Args()[1].AsLiteral().Value())
	if name, isText := call.Args()[1].AsLiteral().(celtypes.String); isText && call.FunctionName() != operators.OptSelect {
		key = strconv.Quote(string(name))
	}
	return fmt.Sprintf(form, of, key), true
}

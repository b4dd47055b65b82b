package engine

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// loop is a macro's condition, which is evaluated once an element.
type loop struct {
	condition int64
	variables []string
	inner     []int64 // conditions of loops in the condition
}

// loopsOf finds the conditions of all and exists, by their id.
func loopsOf(e ast.Expr) map[int64]*loop {
	loops := map[int64]*loop{}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind || e.AsComprehension().LoopStep().Kind() != ast.CallKind {
			return
		}
		c := e.AsComprehension()
		condition := conditionOf(c)
		l := &loop{condition: condition.ID(), variables: []string{c.IterVar()}}
		if c.HasIterVar2() {
			l.variables = append(l.variables, c.IterVar2())
		}
		for id := range loopsOf(condition) {
			l.inner = append(l.inner, id)
		}
		loops[l.condition] = l
	}))
	return loops
}

// conditionOf is the condition in the step of a loop that all or exists makes:
// accumulator && condition.
func conditionOf(c ast.ComprehensionExpr) ast.Expr {
	args := c.LoopStep().AsCall().Args()
	return args[len(args)-1]
}

// loopRecorder is an activation that remembers the last element of each loop.
type loopRecorder struct {
	interpreter.Activation
	last map[int64]*element
}

// element is where a loop stood last.
type element struct {
	index  int
	values map[string]ref.Val
}

// watchedLoop is a loop's condition that tells the loopRecorder of each element.
type watchedLoop struct {
	interpreter.Interpretable
	loop *loop
}

// watch decorates the conditions of loops when a program is planned.
func watch(loops map[int64]*loop) interpreter.InterpretableDecorator {
	return func(i interpreter.Interpretable) (interpreter.Interpretable, error) {
		l := loops[i.ID()]
		if _, twice := i.(*watchedLoop); l == nil || twice {
			return i, nil
		}
		return &watchedLoop{i, l}, nil
	}
}

// Eval implements Interpretable.
func (w *watchedLoop) Eval(vars interpreter.Activation) ref.Val {
	for at := vars; at != nil; at = at.Parent() {
		if r, ok := at.(*loopRecorder); ok {
			r.record(w.loop, vars)
			break
		}
	}
	return w.Interpretable.Eval(vars)
}

func (r *loopRecorder) record(l *loop, vars interpreter.Activation) {
	at := r.last[l.condition]
	if at == nil {
		at = &element{index: -1}
		r.last[l.condition] = at
	}
	at.index++
	at.values = map[string]ref.Val{}
	for _, name := range l.variables {
		if v, ok := vars.ResolveName(name); ok {
			at.values[name], _ = v.(ref.Val)
		}
	}
	for _, id := range l.inner {
		delete(r.last, id)
	}
}

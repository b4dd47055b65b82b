package engine

import (
	"context"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/cost"
)

// Trace is what happened at each node of an expression in one evaluation. In a
// macro's body it is what happened for the last element, the one that decided.
type Trace struct {
	// Value and Err are the outcome; Cost is that of the whole.
	Value ref.Val
	Err   error
	Cost  uint64

	seen map[int64]observed
	// chains are the values of a.b.c as a whole, by the id of one of its links.
	chains map[int64]observed
}

// observed is what a node gave last; cost is that of all its runs, operands
// included.
type observed struct {
	value ref.Val
	cost  uint64
	runs  int
}

// At is the value of a node, and its cost with all its operands, summed over
// the elements of a macro. It is false for a node that did not run. Of a chain
// of selections and indexes only the whole can be asked for.
func (t *Trace) At(e ast.Expr) (value ref.Val, units uint64, ok bool) {
	if e.Kind() == ast.LiteralKind {
		return e.AsLiteral(), 0, true
	}
	if s := t.seen[e.ID()]; s.value != nil && chained(e) == nil {
		return s.value, s.cost, true
	}
	for ; e != nil; e = chained(e) {
		if s := t.chains[e.ID()]; s.value != nil {
			return s.value, s.cost, true
		}
	}
	return nil, 0, false
}

// Runs is how often a node that is no selection ran: the step of a macro once
// for each element.
func (t *Trace) Runs(e ast.Expr) int { return max(t.seen[e.ID()].runs, t.chains[e.ID()].runs) }

// chained is what a selection or an index is taken from, else nil.
func chained(e ast.Expr) ast.Expr {
	switch e.Kind() {
	case ast.SelectKind:
		if !e.AsSelect().IsTestOnly() {
			return e.AsSelect().Operand()
		}
	case ast.CallKind:
		switch e.AsCall().FunctionName() {
		case operators.Index, operators.OptIndex, operators.OptSelect:
			return e.AsCall().Args()[0]
		}
	}
	return nil
}

// Trace evaluates an expression as Eval does, node by node. It is far slower.
func (d *Desk) Trace(ctx context.Context, x *Expr, optionalOldSelf bool, self, old any) (t *Trace, err error) {
	env, err := d.Env(optionalOldSelf)
	if err != nil {
		return nil, err
	}
	t = &Trace{seen: map[int64]observed{}, chains: map[int64]observed{}}
	r := &recorder{trace: t, loops: loopBodies(x.ast.NativeRep().Expr())}
	plan, err := r.plan(env, x, d.limits.PerCall)
	if err != nil {
		return nil, err
	}
	frame, err := interpreter.NewExecutionFrame(d.activation(optionalOldSelf, self, old))
	if err != nil {
		return nil, err
	}
	defer frame.Close()
	frame.SetContext(ctx, celconfig.CheckFrequency)
	r.run(plan, frame)
	return t, nil
}

// recorder watches a plan of cel-go's, whatever evaluates the rules themselves.
type recorder struct {
	trace   *Trace
	tracker *interpreter.CostTracker
	// loops are the ids below each macro's step, by the step's.
	loops map[int64][]int64
}

func (r *recorder) plan(env *cel.Env, x *Expr, limit int64) (interpreter.InterpretableV2, error) {
	dispatcher := interpreter.NewDispatcher()
	for _, f := range env.Functions() {
		bindings, err := f.Bindings()
		if err != nil {
			return nil, err
		}
		if err := dispatcher.Add(bindings...); err != nil {
			return nil, err
		}
	}
	attrs := interpreter.NewAttributeFactory(env.Container, env.CELTypeAdapter(), env.CELTypeProvider())
	interp := interpreter.NewInterpreter(dispatcher, env.Container, env.CELTypeProvider(), env.CELTypeAdapter(), attrs)
	newTracker := func() (tracker *interpreter.CostTracker, err error) {
		r.tracker, err = interpreter.NewCostTracker(cost.Estimator(x.decl), interpreter.PresenceTestHasCost(false), interpreter.CostTrackerLimit(uint64(limit)))
		return r.tracker, err
	}
	return interp.NewInterpretable(x.ast.NativeRep(),
		interpreter.CustomDecoratorV2(unwatch),
		interpreter.CustomDecoratorV2(orElse),
		interpreter.InterruptableEval(),
		interpreter.Optimize(),
		interpreter.CompileRegexConstants(interpreter.MatchesRegexOptimization),
		interpreter.CostObserver(interpreter.CostTrackerFactory(newTracker)),
		interpreter.CustomDecoratorV2(r.watch)) // last, so that costs are counted inside
}

func (r *recorder) run(plan interpreter.InterpretableV2, frame *interpreter.ExecutionFrame) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case interpreter.EvalCancelledError:
			r.trace.Err = p
		default:
			r.trace.Err = fmt.Errorf("internal error: %v", p)
		}
		if r.tracker != nil {
			r.trace.Cost = r.tracker.ActualCost()
		}
	}()
	var v ref.Val
	if o, ok := plan.(*interpreter.ObservableInterpretable); ok {
		v = o.ObserveExec(frame, func(any) {}) // starts the cost tracker
	} else {
		v = plan.Exec(frame)
	}
	if e, ok := v.(*celtypes.Err); ok {
		r.trace.Err = e
		return
	}
	r.trace.Value = v
}

func (r *recorder) watch(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	switch i := i.(type) {
	case *watched, *watchedAttribute:
		return i, nil
	case interpreter.InterpretableConst:
		return i, nil // the planner looks for them
	case interpreter.InterpretableAttribute:
		return &watchedAttribute{i, r}, nil
	}
	return &watched{i, r}, nil
}

// unwatch shows the planner's own type to the other decorators: an attribute
// passes them again with each selection.
func unwatch(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	if w, ok := i.(*watchedAttribute); ok {
		return w.InterpretableAttribute, nil
	}
	return i, nil
}

// orElse gives optional's or() and orValue() their meaning, which cel-go adds
// where a program is made.
func orElse(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok || len(call.Args()) != 2 {
		return i, nil
	}
	switch call.OverloadID() {
	case "optional_or_optional":
		return &alternative{InterpretableV2: i, args: call.Args()}, nil
	case "optional_orValue_value":
		return &alternative{InterpretableV2: i, args: call.Args(), unwrap: true}, nil
	}
	return i, nil
}

// alternative is an optional, or what stands in for it when it is empty.
type alternative struct {
	interpreter.InterpretableV2
	args   []interpreter.InterpretableV2
	unwrap bool
}

func (a *alternative) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	v := a.args[0].Exec(frame)
	o, ok := v.(*celtypes.Optional)
	switch {
	case ok && !o.HasValue():
		return a.args[1].Exec(frame)
	case ok && a.unwrap:
		return o.GetValue()
	}
	return v
}

func (a *alternative) Eval(vars interpreter.Activation) ref.Val {
	return a.Exec(interpreter.AsFrame(vars))
}

func (r *recorder) units() uint64 {
	if r.tracker == nil {
		return 0
	}
	return r.tracker.ActualCost()
}

// begin forgets what the element before left in a macro's body.
func (r *recorder) begin(id int64) {
	for _, inner := range r.loops[id] {
		for _, steps := range []map[int64]observed{r.trace.seen, r.trace.chains} {
			if s, ok := steps[inner]; ok {
				steps[inner] = observed{cost: s.cost, runs: s.runs}
			}
		}
	}
}

func note(steps map[int64]observed, id int64, v ref.Val, units uint64) {
	steps[id] = observed{v, steps[id].cost + units, steps[id].runs + 1}
}

// watched is a node that the recorder sees run.
type watched struct {
	interpreter.InterpretableV2
	r *recorder
}

func (w *watched) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	before := w.r.units()
	w.r.begin(w.ID())
	v := w.InterpretableV2.Exec(frame)
	note(w.r.trace.seen, w.ID(), v, w.r.units()-before)
	return v
}

func (w *watched) Eval(vars interpreter.Activation) ref.Val {
	return w.Exec(interpreter.AsFrame(vars))
}

// watchedAttribute is a variable with all that is selected from it.
type watchedAttribute struct {
	interpreter.InterpretableAttribute
	r *recorder
}

func (w *watchedAttribute) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	before := w.r.units()
	w.r.begin(w.ID())
	v := w.InterpretableAttribute.Exec(frame)
	note(w.r.trace.chains, w.ID(), v, w.r.units()-before)
	return v
}

func (w *watchedAttribute) Eval(vars interpreter.Activation) ref.Val {
	return w.Exec(interpreter.AsFrame(vars))
}

// Resolve runs instead of Exec where the node is a branch or an index.
func (w *watchedAttribute) Resolve(vars interpreter.Activation) (any, error) {
	before := w.r.units()
	w.r.begin(w.ID())
	v, err := w.InterpretableAttribute.Resolve(vars)
	if err == nil {
		note(w.r.trace.chains, w.ID(), w.Adapter().NativeToValue(v), w.r.units()-before)
	}
	return v, err
}

// AddQualifier keeps the recorder around what the qualifier is added to.
func (w *watchedAttribute) AddQualifier(q interpreter.Qualifier) (interpreter.Attribute, error) {
	_, err := w.InterpretableAttribute.AddQualifier(q)
	return w, err
}

// loopBodies are the ids of all nodes in each macro's step.
func loopBodies(e ast.Expr) map[int64][]int64 {
	bodies := map[int64][]int64{}
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind {
			return
		}
		step := e.AsComprehension().LoopStep()
		var ids []int64
		ast.PostOrderVisit(step, ast.NewExprVisitor(func(inner ast.Expr) { ids = append(ids, inner.ID()) }))
		bodies[step.ID()] = ids
	}))
	return bodies
}

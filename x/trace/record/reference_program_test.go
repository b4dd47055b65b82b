package record

// How it works. cel-go's planner makes the plan, and a decorator wraps nodes in a recorder
// (reference_record_test.go). The recorded values form a trace with which the traces of this package
// are compared.

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/types"
)

type refProgram struct {
	env      *cel.Env
	checked  *cel.Ast
	source   *lex.Source
	decl     *types.Decl
	limit    int64
	optional bool
	elements int
	rehearse *eval.Program
	idle     sync.Pool // of *recorder
}

func newReference(d *expr.Compiler, checked *cel.Ast, src string, optionalOldSelf bool) (*refProgram, error) {
	env, err := d.Env(optionalOldSelf)
	if err != nil {
		return nil, err
	}
	p := &refProgram{
		env: env, checked: checked, source: lex.NewSource(src, checked),
		decl: d.Decl(), limit: d.Limit(), optional: optionalOldSelf, elements: refMaxElements,
	}
	if p.rehearse, err = eval.New(env, checked, p.decl, p.limit); err != nil {
		return nil, err
	}
	if celenv.LargePattern(checked) {
		return nil, &eval.OverworkError{Why: "a pattern has too many states to be compiled again"}
	}
	r, err := p.plan()
	if err != nil {
		return nil, err
	}
	p.idle.Put(r)
	return p, nil
}

func (p *refProgram) root() ast.Expr { return p.checked.NativeRep().Expr() }

// refMaxElements limits how many elements of one macro are traced, because cel-go's cost tracker
// slows down with each element.
const refMaxElements = 20_000

var refErrTooManyElements error = refTooManyElements{}

type refTooManyElements struct{}

func (refTooManyElements) Error() string {
	return fmt.Sprintf("a macro iterates over more than %d elements: too many to record", refMaxElements)
}

// refMaxWork limits the work of an evaluation to trace. cel-go's planner has no work limit and
// takes several times as long.
const refMaxWork = eval.MaxWork / 64

func (p *refProgram) Run(ctx context.Context, self, old any) (*refTrace, error) {
	known, err := p.rehearsed(ctx, self, old)
	if err != nil {
		return nil, err
	}
	r, _ := p.idle.Get().(*recorder)
	if r == nil {
		var err error
		if r, err = p.plan(); err != nil {
			return nil, err
		}
	}
	defer func() {
		r.trace, r.tracker, r.running = nil, nil, 0
		p.idle.Put(r)
	}()
	vars := eval.BindOld(p.decl, self, old)
	vars.SetOptional(p.optional)
	frame, err := interpreter.NewExecutionFrame(vars)
	if err != nil {
		return nil, err
	}
	defer frame.Close()
	if err := frame.SetContext(ctx, celconfig.CheckFrequency); err != nil {
		return nil, err
	}
	t := &refTrace{program: p, vars: vars, seen: map[int64]observed{}, chains: map[int64]observed{}, last: map[int64]refElement{}, failed: map[int64]*moment{}}
	r.trace = t
	if err := r.run(frame, known); err != nil {
		return nil, err
	}
	return t, nil
}

// rehearsed evaluates with the engine's own evaluator, which limits work and recognizes the panics
// that a server treats as a failure of the rule. known is that failure.
func (p *refProgram) rehearsed(ctx context.Context, self, old any) (known, err error) {
	vars := eval.BindOld(p.decl, self, old)
	vars.SetOptional(p.optional)
	vars.LimitWork(refMaxWork)
	out := p.rehearse.Eval(ctx, vars)
	switch out.Err.(type) {
	case *eval.OverworkError, *eval.InternalError:
		return nil, out.Err
	}
	return out.Err, nil
}

func (p *refProgram) plan() (r *recorder, err error) {
	dispatcher := interpreter.NewDispatcher()
	for _, f := range p.env.Functions() {
		bindings, err := f.Bindings()
		if err != nil {
			return nil, err
		}
		if err := dispatcher.Add(bindings...); err != nil {
			return nil, err
		}
	}
	adapter, provider := p.env.CELTypeAdapter(), p.env.CELTypeProvider()
	attrs := interpreter.NewAttributeFactory(p.env.Container, adapter, provider)
	interp := interpreter.NewInterpreter(dispatcher, p.env.Container, provider, adapter, attrs)
	r = &recorder{loops: loopBodies(p.root()), elements: p.elements}
	newTracker := func() (tracker *interpreter.CostTracker, err error) {
		r.tracker, err = interpreter.NewCostTracker(celcost.Estimator(p.decl), interpreter.PresenceTestHasCost(false), interpreter.CostTrackerLimit(uint64(p.limit)))
		return r.tracker, err
	}
	r.plan, err = interp.NewInterpretable(p.checked.NativeRep(),
		interpreter.CustomDecoratorV2(unwatch),
		interpreter.CustomDecoratorV2(orElse),
		interpreter.InterruptableEval(),
		interpreter.Optimize(),
		interpreter.CompileRegexConstants(interpreter.MatchesRegexOptimization),
		interpreter.CostObserver(interpreter.CostTrackerFactory(newTracker)),
		interpreter.CustomDecoratorV2(r.watch)) // last, so that costs are counted inside
	return r, err
}

// run evaluates the plan. A known panic is a failure of the rule. The error is for any other panic,
// or for too many elements.
func (r *recorder) run(frame *interpreter.ExecutionFrame, known error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case interpreter.EvalCancelledError:
			r.trace.Err = p
		case refTooManyElements:
			err = p
		default:
			if text := fmt.Sprintf("internal error: %v", p); known == nil || known.Error() != text {
				err = &eval.InternalError{Panic: p, Stack: debug.Stack()}
				break
			}
			r.trace.Err = known
		}
		r.trace.Cost = r.units()
	}()
	var v ref.Val
	if o, ok := r.plan.(*interpreter.ObservableInterpretable); ok {
		v = o.ObserveExec(frame, func(any) {}) // starts the cost tracker
	} else {
		v = r.plan.Exec(frame)
	}
	if e, ok := v.(*celtypes.Err); ok {
		r.trace.Err = e
		return nil
	}
	r.trace.Value = v
	return nil
}

// unwatch returns the planner's own node to the other decorators, because an attribute passes them
// again with each selection.
func unwatch(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	if w, ok := i.(*watchedAttribute); ok {
		return w.InterpretableAttribute, nil
	}
	return i, nil
}

// orElse implements or() and orValue() of optionals, which cel-go adds only when it makes a
// program.
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

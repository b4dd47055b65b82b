package record

import (
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// refTrace is what happened at each node of an expression in one evaluation. In a
// macro's body it is what happened for the last element, the one that decided.
type refTrace struct {
	// Value and Err are the outcome; Cost is that of the whole, in CEL cost
	// units.
	Value ref.Val
	Err   error
	Cost  uint64

	program *refProgram
	vars    interpreter.Activation
	seen    map[int64]observed
	// chains are the values of a.b.c as a whole, by the id of one of its links.
	chains map[int64]observed
	// last is where each macro stood last, by the id of its step; failed is
	// what there was where its body first failed.
	last   map[int64]refElement
	failed map[int64]*moment
}

// observed is what a node gave last; cost is that of all its runs, operands
// included.
type observed struct {
	value ref.Val
	cost  uint64
}

// refElement is a macro's turn, from 1, and what its variables were.
type refElement struct {
	number int
	values map[string]ref.Val
}

// at is the value of a node, and its cost with all its operands, summed over
// the elements of a macro. It is false for a node that did not run. Of a chain
// of selections and indexes only the whole can be asked for.
func (t *refTrace) at(e ast.Expr) (value ref.Val, units uint64, ok bool) {
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

// moment is what the nodes of a macro's body gave for one element.
type moment struct {
	seen, chains map[int64]ref.Val
	last         map[int64]refElement
}

// keep notes what there is when a macro's body first fails: the macro may go on
// to other elements, and still fail for this one.
func (t *refTrace) keep(id int64, inner []int64) {
	if t.failed[id] != nil {
		return
	}
	m := &moment{map[int64]ref.Val{}, map[int64]ref.Val{}, map[int64]refElement{}}
	for _, at := range inner {
		if s, ok := t.seen[at]; ok {
			m.seen[at] = s.value
		}
		if s, ok := t.chains[at]; ok {
			m.chains[at] = s.value
		}
		if e, ok := t.last[at]; ok {
			m.last[at] = e
		}
	}
	t.failed[id] = m
}

// recorder notes what the nodes of one plan give.
type recorder struct {
	plan    interpreter.InterpretableV2
	trace   *refTrace
	tracker *interpreter.CostTracker
	loops   map[int64]loopBody
	// elements is how many one macro may go over.
	elements int
	// running is the node that runs: the planner decorates some twice.
	running int64
}

// loopBody is what is to be known of a macro's step: its variables, and all
// nodes in it.
type loopBody struct {
	variables []string
	inner     []int64
}

func loopBodies(e ast.Expr) map[int64]loopBody {
	bodies := map[int64]loopBody{}
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind {
			return
		}
		c := e.AsComprehension()
		body := loopBody{variables: []string{c.IterVar()}}
		if c.HasIterVar2() {
			body.variables = append(body.variables, c.IterVar2())
		}
		ast.PostOrderVisit(c.LoopStep(), ast.NewExprVisitor(func(inner ast.Expr) { body.inner = append(body.inner, inner.ID()) }))
		bodies[c.LoopStep().ID()] = body
	}))
	return bodies
}

func (r *recorder) units() uint64 {
	if r.tracker == nil {
		return 0
	}
	return r.tracker.ActualCost()
}

// begin forgets what the element before left in a macro's body, and notes what
// the variables are now.
func (r *recorder) begin(id int64, vars interpreter.Activation) {
	body, ok := r.loops[id]
	if !ok {
		return
	}
	for _, inner := range body.inner {
		if inner != id {
			delete(r.trace.last, inner)
			delete(r.trace.failed, inner)
		}
		for _, steps := range []map[int64]observed{r.trace.seen, r.trace.chains} {
			if s, ok := steps[inner]; ok {
				steps[inner] = observed{cost: s.cost}
			}
		}
	}
	values := map[string]ref.Val{}
	for _, name := range body.variables {
		if v, ok := vars.ResolveName(name); ok {
			values[name] = celtypes.DefaultTypeAdapter.NativeToValue(v)
		}
	}
	number := r.trace.last[id].number + 1
	if number > r.elements {
		panic(refErrTooManyElements)
	}
	r.trace.last[id] = refElement{number, values}
}

// enter begins a node; done notes what it gave, nil for nothing. Of a node that
// the planner decorates twice, as has(), only the outer counts.
func (r *recorder) enter(id int64, vars interpreter.Activation) (done func(steps map[int64]observed, v ref.Val)) {
	above := r.running
	if above == id {
		return func(map[int64]observed, ref.Val) {}
	}
	r.running = id
	before := r.units()
	r.begin(id, vars)
	return func(steps map[int64]observed, v ref.Val) {
		r.running = above
		if v != nil {
			steps[id] = observed{v, steps[id].cost + r.units() - before}
		}
	}
}

// watch puts the recorder around a node.
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

// watched is a node that the recorder sees run.
type watched struct {
	interpreter.InterpretableV2
	r *recorder
}

func (w *watched) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	done := w.r.enter(w.ID(), frame)
	v := w.InterpretableV2.Exec(frame)
	if done(w.r.trace.seen, v); celtypes.IsError(v) {
		if body, ok := w.r.loops[w.ID()]; ok {
			w.r.trace.keep(w.ID(), body.inner)
		}
	}
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
	done := w.r.enter(w.ID(), frame)
	v := w.InterpretableAttribute.Exec(frame)
	done(w.r.trace.chains, v)
	return v
}

func (w *watchedAttribute) Eval(vars interpreter.Activation) ref.Val {
	return w.Exec(interpreter.AsFrame(vars))
}

// Resolve runs instead of Exec where the node is a branch or an index.
func (w *watchedAttribute) Resolve(vars interpreter.Activation) (any, error) {
	done := w.r.enter(w.ID(), vars)
	v, err := w.InterpretableAttribute.Resolve(vars)
	if err != nil {
		done(w.r.trace.chains, nil)
	} else {
		done(w.r.trace.chains, w.Adapter().NativeToValue(v))
	}
	return v, err
}

// AddQualifier keeps the recorder around what the qualifier is added to.
func (w *watchedAttribute) AddQualifier(q interpreter.Qualifier) (interpreter.Attribute, error) {
	_, err := w.InterpretableAttribute.AddQualifier(q)
	return w, err
}

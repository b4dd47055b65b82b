package record

import (
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

type refTrace struct {
	Value ref.Val
	Err   error
	Cost  uint64

	program *refProgram
	vars    interpreter.Activation
	seen    map[int64]observed
	// chains holds the value of a.b.c as a whole, by the ID of one of its links.
	chains map[int64]observed
	// last holds the last element of each macro, by the ID of its step. failed holds the recorded
	// values when its body first failed.
	last   map[int64]refElement
	failed map[int64]*moment
}

// observed is the last value of a node, and the cost of all its evaluations including operands.
type observed struct {
	value ref.Val
	cost  uint64
}

// refElement is the number of a macro's element, from 1, and the values of its variables.
type refElement struct {
	number int
	values map[string]ref.Val
}

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

type moment struct {
	seen, chains map[int64]ref.Val
	last         map[int64]refElement
}

// keep saves the recorded values when a macro's body first fails. The macro may continue with other
// elements and still fail because of this element.
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

type recorder struct {
	plan     interpreter.InterpretableV2
	trace    *refTrace
	tracker  *interpreter.CostTracker
	loops    map[int64]loopBody
	elements int
	// running is the node being evaluated, because the planner decorates some nodes twice.
	running int64
}

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

// begin discards what the previous element recorded in a macro's body, and records the new values
// of the variables.
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

// enter starts the recording of a node, and done records its value, or nothing if v is nil. If the
// planner decorates a node twice, such as has(), only the outer node is recorded.
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

func (r *recorder) watch(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	switch i := i.(type) {
	case *watched, *watchedAttribute:
		return i, nil
	case interpreter.InterpretableConst:
		return i, nil // the planner checks for constants
	case interpreter.InterpretableAttribute:
		return &watchedAttribute{i, r}, nil
	}
	return &watched{i, r}, nil
}

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

// Resolve is called instead of Exec if the node is a branch or an index.
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

func (w *watchedAttribute) AddQualifier(q interpreter.Qualifier) (interpreter.Attribute, error) {
	_, err := w.InterpretableAttribute.AddQualifier(q)
	return w, err
}

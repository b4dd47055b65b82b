package eval

import (
	"context"
	"fmt"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/types"
)

// How it works: the same planner makes a recording plan, in which each node's code is
// wrapped when it is planned (watch.go). The code inside equals that of an ordinary
// plan, so verdict, error, and cost are the same; only nested && and || are not
// flattened, since each of them has a value of its own. An ordinary program has no
// wrappers and no branch for them.
//
// Nodes are numbered in the order in which they are planned, so those of a macro's
// body are consecutive: when the next element begins, they are forgotten together.
// A value is recorded as it was computed, and becomes CEL's own when asked for.

// A Recorder is a program that records the value and the cost of each node of its
// expression. It is safe for concurrent use.
type Recorder struct {
	program *Program
	plan    *recording
}

// PlanRecorded is PlanWith for a Recorder. A macro may go over at most that many
// elements: an evaluation that has more ends in an OverworkError.
func (p *Planner) PlanRecorded(checked *cel.Ast, roots []types.Root, limit int64, elements int) (*Recorder, error) {
	r := &recording{elements: elements, numbers: map[int64]int{}, steps: map[int64]int{}}
	program, err := p.program(checked, checked.NativeRep().Expr(), roots, limit, func(one *planner) { one.recording = r })
	if err != nil {
		return nil, err
	}
	return &Recorder{program, r}, nil
}

// Eval evaluates the expression as a Program does, and returns the record up to where
// the evaluation ended.
func (r *Recorder) Eval(ctx context.Context, a *Activation) (Outcome, *Record) {
	record := &Record{plan: r.plan, nodes: make([]observation, r.plan.nodes), turns: make([]turn, len(r.plan.bodies))}
	f := a.ownFrame()
	f.record = record
	defer func() { f.record = nil }()
	return r.program.Eval(ctx, a), record
}

// recording is the part of a recording plan that all evaluations share.
type recording struct {
	elements int // at most so many in a macro
	nodes    int
	numbers  map[int64]int // of nodes, by ID
	steps    map[int64]int // of the bodies, by the ID of the macro's step
	bodies   []*body
}

// body is the body of a macro.
type body struct {
	number        int
	vars          []*variable
	nodes, bodies span // inside it
}

// span is a range of numbers, the last one excluded.
type span struct{ from, to int }

// A Record is what one evaluation recorded. In a macro's body it has the values of
// the last element, and the cost of all.
type Record struct {
	plan  *recording
	nodes []observation
	turns []turn // of the bodies
}

// observation is the last value of a node. Its cost is that of all its runs, with
// its operands.
type observation struct {
	value held
	ran   bool
	cost  uint64
}

// turn is the element at which a macro is, from 1, and what its variables hold.
type turn struct {
	number int
	vars   [2]held
	failed *moment
}

// moment is what there was when a macro's body first failed.
type moment struct {
	turn  turn
	nodes []observation
	turns []turn
}

// held is a value in the form in which it was computed.
type held struct {
	kind kind
	num  int64
	dbl  float64
	text string
	raw  any         // of JSON, of an optional, or the items of a list
	decl *types.Decl // of raw, or of the items
	val  ref.Val     // boxed
}

func (h *held) boxed() ref.Val {
	if h.val != nil {
		return h.val
	}
	switch h.kind {
	case intKind:
		h.val = celtypes.Int(h.num)
	case doubleKind:
		h.val = celtypes.Double(h.dbl)
	case stringKind:
		h.val = celtypes.String(h.text)
	case optionalKind:
		h.val = celtypes.OptionalOf(types.Value(h.raw, h.decl))
	case listKind:
		items := h.raw.([]any)
		vals := make([]ref.Val, len(items))
		for i, item := range items {
			vals[i] = types.Value(item, h.decl)
		}
		h.val = celtypes.NewRefValList(celtypes.DefaultTypeAdapter, vals)
	default:
		h.val = types.Value(h.raw, h.decl)
	}
	return h.val
}

// Value is that of the node of an ID, which may be an error. It is nil for a node
// that did not run, and for constants.
func (r *Record) Value(id int64) ref.Val {
	n, ok := r.plan.numbers[id]
	if !ok || !r.nodes[n].ran {
		return nil
	}
	return r.nodes[n].value.boxed()
}

// Cost is that of the node of an ID, in CEL cost units.
func (r *Record) Cost(id int64) uint64 {
	if n, ok := r.plan.numbers[id]; ok {
		return r.nodes[n].cost
	}
	return 0
}

// Element is the element at which the macro was last whose step has the ID: its
// number, from 1, and the values of the macro's variables, by name. It is 0 where
// there was none.
func (r *Record) Element(step int64) (number int, vars map[string]ref.Val) {
	n, ok := r.plan.steps[step]
	if !ok || r.turns[n].number == 0 {
		return 0, nil
	}
	t := &r.turns[n]
	vars = map[string]ref.Val{}
	for i, v := range r.plan.bodies[n].vars {
		vars[v.name] = t.vars[i].boxed()
	}
	return t.number, vars
}

// Failed reports whether the body of a macro failed for an element, and makes that
// element the last one of the record: the macro may have gone on to others.
func (r *Record) Failed(step int64) bool {
	n, ok := r.plan.steps[step]
	if !ok || r.turns[n].failed == nil {
		return false
	}
	m, b := r.turns[n].failed, r.plan.bodies[n]
	for i := range m.nodes {
		cost := r.nodes[b.nodes.from+i].cost
		r.nodes[b.nodes.from+i] = m.nodes[i]
		r.nodes[b.nodes.from+i].cost = cost
	}
	copy(r.turns[b.bodies.from:b.bodies.to], m.turns)
	r.turns[n] = m.turn
	r.turns[n].failed = m
	return true
}

// tooManyElements is what an evaluation panics with whose macro has more elements than a
// Recorder takes. How much work was done until then is the same each time.
type tooManyElements int

func (n tooManyElements) overwork() *OverworkError {
	return &OverworkError{Why: fmt.Sprintf("a macro goes over more than %d elements: too many to record each", int(n))}
}

// beginElement forgets the values of the previous element in the body, and notes the
// macro's variables.
func (f *frame) beginElement(b *body) {
	r := f.record
	t := &r.turns[b.number]
	if t.number >= r.plan.elements {
		panic(tooManyElements(r.plan.elements))
	}
	f.work(perNote + (b.nodes.to - b.nodes.from) + (b.bodies.to - b.bodies.from))
	for i := b.nodes.from; i < b.nodes.to; i++ {
		r.nodes[i].ran = false
	}
	clear(r.turns[b.bodies.from:b.bodies.to])
	t.number++
	for i, v := range b.vars {
		t.vars[i] = f.holds(v)
	}
}

// holds is the value of a macro's variable.
func (f *frame) holds(v *variable) held {
	s := &f.slots[v.slot]
	switch v.form {
	case rawForm:
		return held{kind: rawKind, raw: s.raw, decl: v.decl}
	case textForm:
		return held{kind: stringKind, text: s.text}
	case numForm:
		return held{kind: intKind, num: s.num}
	}
	return held{val: s.val}
}

// failElement keeps what there is when a body first fails.
func (f *frame) failElement(b *body) {
	r := f.record
	t := &r.turns[b.number]
	if t.failed != nil {
		return
	}
	f.work(perNote * (b.nodes.to - b.nodes.from + b.bodies.to - b.bodies.from))
	m := &moment{turn: *t}
	m.nodes = append(m.nodes, r.nodes[b.nodes.from:b.nodes.to]...)
	m.turns = append(m.turns, r.turns[b.bodies.from:b.bodies.to]...)
	t.failed = m
}

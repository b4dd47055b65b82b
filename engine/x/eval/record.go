package eval

import (
	"context"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine/x/celenv"
)

// How it works: the same planner makes a recording plan, in which each node's code is
// wrapped when it is planned (watch.go). The code inside is the same as in an ordinary plan, so
// verdict, error, and cost are the same; only nested && and || are not flattened, since each of
// them has a value of its own. An ordinary program has no wrappers and no branch for them.
//
// Nodes are numbered in planning order, so the nodes of a macro's body are consecutive and can be
// cleared together when the next element begins.

// A Recorder is a program that records the value and the cost of each node of its
// expression. It is safe for concurrent use.
type Recorder struct {
	program *Program
	plan    *recording
}

// PlanRecorded is like PlanWith, but returns a Recorder. elements limits the elements of each
// macro: an evaluation that exceeds it ends with an OverworkError.
func (p *Planner) PlanRecorded(checked *cel.Ast, roots []celenv.Root, limit int64, elements int) (*Recorder, error) {
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
	elements int // the limit for each macro
	nodes    int
	numbers  map[int64]int // of nodes, by ID
	steps    map[int64]int // number of the body, by ID of the macro's loop step
	bodies   []*body
}

type body struct {
	number        int
	vars          []namedValue
	nodes, bodies span
}

type namedValue struct {
	name string
	val  valFunc
}

// A span is a half-open range of numbers.
type span struct{ from, to int }

// A Record holds the values and costs of an evaluation. In a macro's body, the values belong to the
// last element, and the costs are totals.
type Record struct {
	plan  *recording
	nodes []observation
	turns []turn
}

// An observation is the last value of a node. Its cost is the total of all its runs, including its
// operands.
type observation struct {
	value ref.Val
	ran   bool
	cost  uint64
}

// A turn is the current element of a macro, counted from 1, with the values of the macro's
// variables.
type turn struct {
	number int
	vars   [2]ref.Val
	failed *recordCopy
}

// A recordCopy is a copy of a body's part of the record, made when the body first failed.
type recordCopy struct {
	turn  turn
	nodes []observation
	turns []turn
}

// Value returns the value of the node with that ID, which may be an error. It returns nil if no value was recorded, as
// for constants and for nodes that did not run.
func (r *Record) Value(id int64) ref.Val {
	n, ok := r.plan.numbers[id]
	if !ok || !r.nodes[n].ran {
		return nil
	}
	return r.nodes[n].value
}

// Cost returns the cost of the node with that ID, in CEL cost units.
func (r *Record) Cost(id int64) uint64 {
	if n, ok := r.plan.numbers[id]; ok {
		return r.nodes[n].cost
	}
	return 0
}

// Element returns the last element of the macro whose loop step has that ID: its number, counted
// from 1, and the values of the macro's variables by name. The number is 0 if there was no element.
func (r *Record) Element(step int64) (number int, vars map[string]ref.Val) {
	n, ok := r.plan.steps[step]
	if !ok || r.turns[n].number == 0 {
		return 0, nil
	}
	t := &r.turns[n]
	vars = map[string]ref.Val{}
	for i, v := range r.plan.bodies[n].vars {
		vars[v.name] = t.vars[i]
	}
	return t.number, vars
}

// RewindToFailure makes the first element for which a macro's body failed the last of the record, because the macro may
// have continued with other elements. It reports whether such an element was recorded.
func (r *Record) RewindToFailure(step int64) bool {
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

type tooManyElements int

func (n tooManyElements) overwork() *OverworkError {
	return &OverworkError{Why: fmt.Sprintf("a macro iterates over more than %d elements: too many to record", int(n))}
}

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
		t.vars[i] = v.val(f)
	}
}

func (f *frame) failElement(b *body) {
	r := f.record
	t := &r.turns[b.number]
	if t.failed != nil {
		return
	}
	f.work(perNote * (b.nodes.to - b.nodes.from + b.bodies.to - b.bodies.from))
	m := &recordCopy{turn: *t}
	m.nodes = append(m.nodes, r.nodes[b.nodes.from:b.nodes.to]...)
	m.turns = append(m.turns, r.turns[b.bodies.from:b.bodies.to]...)
	t.failed = m
}

package eval

import (
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// How it works: each function of a node's code is wrapped by a function that records its result. A
// parent calls only one function, so each run is recorded once, in the form that the parent uses.

const perNote = 24

// node returns a new number for the node, also if the node is planned again.
func (r *recording) node(id int64) int {
	r.nodes++
	r.numbers[id] = r.nodes - 1
	return r.nodes - 1
}

func (p *planner) watched(c *code, id int64) *code {
	if p.recording == nil || c.isConst() {
		return c
	}
	return p.recording.watch(c, id, true)
}

// watchedPart is like watched, for an index or a conditional's branch without a unit of its own.
// Such a part has no value if it fails.
func (p *planner) watchedPart(c *code, id int64) *code {
	if p.recording == nil || c.isConst() || id == 0 {
		return c
	}
	return p.recording.watch(c, id, false)
}

func (r *recording) watch(c *code, id int64, errors bool) *code {
	n := watcher{r.node(id), errors}
	w := *c
	decl, elem := c.decl, c.elem
	if c.test != nil {
		w.test = n.test(c.test)
	}
	if c.num != nil {
		w.num = watchTyped(n, c.num, func(_ *frame, v int64) ref.Val { return celtypes.Int(v) })
	}
	if c.str != nil {
		w.str = watchTyped(n, c.str, func(_ *frame, v string) ref.Val { return celtypes.String(v) })
	}
	if c.raw != nil {
		w.raw = watchTyped(n, c.raw, func(f *frame, v any) ref.Val { return f.box(v, decl) })
	}
	if c.list != nil {
		w.list = watchTyped(n, c.list, func(f *frame, v []any) ref.Val { return f.boxItems(v, elem) })
	}
	if c.val != nil {
		w.val = n.val(c.val)
	}
	return &w
}

type watcher struct {
	node   int
	errors bool
}

func (w watcher) note(f *frame, before uint64, v ref.Val) {
	f.work(perNote)
	o := &f.record.nodes[w.node]
	o.value, o.ran = v, true
	o.cost += f.cost - before
}

func (w watcher) failed(f *frame, before uint64) {
	if w.errors && f.err != nil {
		w.note(f, before, f.err)
	}
}

func (w watcher) test(run testFunc) testFunc {
	return func(f *frame) truth {
		before := f.cost
		t := run(f)
		switch t {
		case yes:
			w.note(f, before, celtypes.True)
		case no:
			w.note(f, before, celtypes.False)
		default:
			w.failed(f, before)
		}
		return t
	}
}

func watchTyped[T any](w watcher, run func(*frame) (T, bool), hold func(*frame, T) ref.Val) func(*frame) (T, bool) {
	return func(f *frame) (T, bool) {
		before := f.cost
		v, ok := run(f)
		if ok {
			w.note(f, before, hold(f, v))
		} else {
			w.failed(f, before)
		}
		return v, ok
	}
}

func (w watcher) val(run valFunc) valFunc {
	return func(f *frame) ref.Val {
		before := f.cost
		v := run(f)
		if w.errors || !celtypes.IsError(v) {
			w.note(f, before, v)
		}
		return v
	}
}

// watchBody begins the body of a macro: the values of the nodes planned until endBody are cleared
// when the next element begins. It returns nil if the plan does not record.
func (p *planner) watchBody(x ast.ComprehensionExpr, vars []*variable) *body {
	r := p.recording
	if r == nil {
		return nil
	}
	b := &body{number: len(r.bodies)}
	for _, v := range vars {
		if v.form != resultForm && v.form != lazyForm && (v.name == x.IterVar() || v.name == x.IterVar2()) {
			b.vars = append(b.vars, namedValue{v.name, v.boxed()})
		}
	}
	r.bodies = append(r.bodies, b)
	r.steps[x.LoopStep().ID()] = b.number
	b.nodes.from, b.bodies.from = r.nodes, len(r.bodies)
	return b
}

func (p *planner) endBody(b *body) {
	if b != nil {
		b.nodes.to, b.bodies.to = p.recording.nodes, len(p.recording.bodies)
	}
}

// test wraps the function of the body that runs first, so that it begins an element. If decides is
// set, a failure of the function is a failure of the element.
func (b *body) test(run testFunc, decides bool) testFunc {
	if b == nil {
		return run
	}
	return func(f *frame) truth {
		f.beginElement(b)
		t := run(f)
		if t == bad && decides {
			f.failElement(b)
		}
		return t
	}
}

// raw is like test, for a function that returns JSON. It does not wrap a function that is not the
// first.
func (b *body) raw(run rawFunc, first bool) rawFunc {
	if b == nil || !first {
		return run
	}
	return func(f *frame) (any, bool) {
		f.beginElement(b)
		v, ok := run(f)
		if !ok {
			f.failElement(b)
		}
		return v, ok
	}
}

func (b *body) val(run valFunc, first, decides bool) valFunc {
	if b == nil || !first {
		return run
	}
	return func(f *frame) ref.Val {
		f.beginElement(b)
		v := run(f)
		if decides && celtypes.IsError(v) {
			f.failElement(b)
		}
		return v
	}
}

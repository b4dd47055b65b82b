package eval

import (
	"context"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/types"
)

// How it works: cost and work are two counters and a comparison each. Passing a
// limit has to end the evaluation whatever is around it, also where && or ||
// would absorb an error: that is a panic with a value of its own, which finish
// takes up. A flag would have to be looked at behind every step.
//
// slots hold macro variables, by number; the stacks are shared by all that is
// under way and shrink with it. Whatever is popped is cleared, so that a kept
// frame keeps no object alive.

// truth is a bool or an error; the error itself stands in the frame.
type truth uint8

const (
	no truth = iota
	yes
	bad
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// frame is the state of one evaluation.
type frame struct {
	cost, limit uint64

	// err is the error of the code that just failed. Code that looks at two
	// results saves the first error before it asks for the second.
	err *celtypes.Err

	act   *Activation
	roots []root // the activation's
	slots []slot

	// args and lists are stacks: of the arguments of library calls, and of the
	// items of the lists that macros build. keys is one of map keys.
	args  []ref.Val
	lists []any
	keys  []string

	// worked is the work of all evaluations since the activation's last
	// ShareWork, began what it was when this one began, and poll where to look
	// at the limit, and at done. close: the limit is nearer than that.
	worked, began, poll uint64
	close               bool
	made                float64 // memory
	calling             string  // the function whose work is being added

	record *Record // of a recording plan

	done        <-chan struct{}
	steps       uint
	interrupted bool
}

// slot holds one variable of a comprehension, in the form that was planned for
// it. A raw value may not fit its declaration: that is an error when asked for.
type slot struct {
	raw  any
	text string
	num  int64
	val  ref.Val // boxed; of a raw value, once it was asked for
}

// costLimitExceeded is what an evaluation panics with when it must stop: it
// ends whatever the code around would make of an error.
type costLimitExceeded struct{}

func stop() { panic(costLimitExceeded{}) }

// charge adds one step's cost.
func (f *frame) charge(n uint64) {
	f.cost += n
	if f.cost > f.limit {
		stop()
	}
}

// units adds n steps of cost 1: where the limit is passed among them, only
// those up to there are counted.
func (f *frame) units(n uint64) {
	f.cost += n
	if f.cost > f.limit {
		f.stopAmongUnits()
	}
}

func (f *frame) stopAmongUnits() {
	f.cost = f.limit + 1
	stop()
}

// fail keeps an error; a value that is no error is none of the code's making.
func (f *frame) fail(v ref.Val) {
	if err, ok := v.(*celtypes.Err); ok {
		f.err = err
		return
	}
	f.err = errNoOverload
}

// misfit keeps the error of a value that does not fit its declaration.
func (f *frame) misfit(v any, d *types.Decl) {
	f.fail(types.Value(v, d))
}

// tick counts a step of a loop, and looks from time to time whether the
// context is done.
func (f *frame) tick() bool {
	if f.interrupted {
		return false
	}
	f.steps++
	if f.steps%celconfig.CheckFrequency == 0 {
		select {
		case <-f.done:
			f.interrupted = true
			return false
		default:
		}
	}
	return true
}

func newErr(format string, args ...any) *celtypes.Err {
	return celtypes.NewErr(format, args...).(*celtypes.Err)
}

var (
	errInterrupted = celtypes.WrapErr(interpreter.InterruptError{}).(*celtypes.Err)
	errNoOverload  = newErr("no such overload")
)

// maxKept bounds the stacks of a frame that is kept for the next evaluation.
const maxKept = 1 << 12

// start makes the frame ready for one evaluation.
func (f *frame) start(ctx context.Context, p *Program) {
	f.cost, f.limit, f.steps, f.interrupted = 0, p.limit, 0, false
	if f.began = f.worked; f.close {
		f.poll = f.began + min(f.workLimit(), pollWork)
	}
	if f.made != 0 {
		f.made = 0
	}
	if f.done != ctx.Done() {
		f.done = ctx.Done()
	}
	if p.slots > cap(f.slots) {
		f.slots = make([]slot, p.slots)
	}
	f.slots = f.slots[:p.slots]
}

// finish drops what the evaluation points to, and makes an outcome of a panic.
// What is above the stacks' tops was cleared when it was popped.
func (f *frame) finish(ctx context.Context, out *Outcome) {
	if r := recover(); r != nil {
		*out = f.recovered(ctx, r)
		f.calling = ""
	}
	clear(f.slots)
	if cap(f.args)+cap(f.lists)+cap(f.keys) != 0 {
		f.popAll()
	}
	if f.err != nil {
		f.err = nil
	}
}

func (f *frame) popAll() {
	f.popArgs(0)
	f.popLists(0)
	f.popKeys(0)
	if cap(f.args) > maxKept || cap(f.lists) > maxKept || cap(f.keys) > maxKept {
		f.args, f.lists, f.keys = nil, nil, nil
	}
}

func (f *frame) popArgs(to int) {
	clear(f.args[to:])
	f.args = f.args[:to]
}

func (f *frame) popLists(to int) {
	clear(f.lists[to:])
	f.lists = f.lists[:to]
}

func (f *frame) popKeys(to int) {
	clear(f.keys[to:])
	f.keys = f.keys[:to]
}

package eval

import (
	"context"
	"errors"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/types"
)

// How it works: cost and work are counters, each with a single comparison. Exceeding a limit must
// end the evaluation even inside && or ||, which would absorb an error. So it is a panic with a
// private value, which finish recovers. With a flag, every step would have to check it.
//
// slots hold macro variables by number. The stacks are shared by all calls and macros in progress.
// Popped elements are cleared, so that a frame kept for reuse does not keep objects alive.

// truth is a bool or an error. The error itself is in the frame.
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

type frame struct {
	cost, limit uint64
	errorsEnd   bool

	// err is the error of the function that failed last. Code with two operands saves the first
	// error before it evaluates the second operand.
	err *celtypes.Err

	act   *Activation
	roots []root
	slots []slot

	// args and lists are stacks: of the arguments of library calls and of the items of lists that
	// macros build. keys is a stack of map keys.
	args  []ref.Val
	lists []any
	keys  []string

	// worked is the work of all evaluations since the activation's last ShareWork, began is its
	// value when this evaluation began, and poll is the value at which to check the limit and done.
	// close is set if the limit may be less than pollWork away.
	worked, began, poll uint64
	close               bool
	memoryUsed          float64 // in bytes
	calling             string

	record *Record

	done        <-chan struct{}
	steps       uint
	interrupted bool
}

// A slot holds a variable of a comprehension, in its planned form. A raw value may not fit its
// declaration, which is an error only when the variable is read.
type slot struct {
	raw  any
	text string
	num  int64
	val  ref.Val
}

// costLimitExceeded is the panic value when the cost limit is exceeded. Unlike an error, it cannot
// be absorbed by the surrounding expression.
type costLimitExceeded struct{}

func stop() { panic(costLimitExceeded{}) }

func (f *frame) charge(n uint64) {
	f.cost += n
	if f.cost > f.limit {
		stop()
	}
}

// chargeCall adds the cost of a call. ok is false if an operand is an error; with errorsEnd, such a
// call costs nothing.
func (f *frame) chargeCall(n uint64, ok bool) {
	if ok || !f.errorsEnd {
		f.charge(n)
	}
}

// chargeFailure adds the cost of a failing step to a field or item that may be missing. Before
// errorsEnd, it costs nothing.
func (f *frame) chargeFailure() {
	if f.errorsEnd {
		f.charge(1)
	}
}

// units adds n steps of cost 1. If the limit is exceeded, only the steps up to that point are
// counted.
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

// fail stores the error v. If v is not an error, it is a value of a wrong type: fail stores a "no
// such overload" error.
func (f *frame) fail(v ref.Val) {
	if err, ok := v.(*celtypes.Err); ok {
		f.err = err
		return
	}
	f.err = errNoOverload
}

func (f *frame) failMismatch(v any, d *types.Decl) {
	f.fail(celvalue.New(v, d))
}

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
	errInterruption = errors.New("operation interrupted")
	errInterrupted  = celtypes.WrapErr(errInterruption).(*celtypes.Err)
	errNoOverload   = newErr("no such overload")
)

const maxKept = 1 << 12

func (f *frame) start(ctx context.Context, p *Program) {
	f.cost, f.limit, f.steps, f.interrupted, f.errorsEnd = 0, p.limit, 0, false, p.errorsEnd
	if f.began = f.worked; f.close {
		f.poll = f.began + min(f.workLimit(), pollWork)
	}
	if f.memoryUsed != 0 {
		f.memoryUsed = 0
	}
	if f.done != ctx.Done() {
		f.done = ctx.Done()
	}
	if p.slots > cap(f.slots) {
		f.slots = make([]slot, p.slots)
	}
	f.slots = f.slots[:p.slots]
}

func (f *frame) finish(ctx context.Context, out *Outcome) {
	if r := recover(); r != nil {
		*out = f.recovered(ctx, r)
		f.calling = ""
	}
	f.clear()
}

// clear drops all references to values. Stack elements above the top were cleared when they were popped.
func (f *frame) clear() {
	if len(f.slots) != 0 {
		clear(f.slots)
	}
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

// How it works: to measure a rule, it is planned a second time with probes. Programs without probes
// contain no code for them.

// A Probe gets the value of a condition after each evaluation. ok is false if the evaluation failed.
// The probe is not called if a limit ends the evaluation.
type Probe = func(value, ok bool)

// A Prober returns the probes for a checked expression, keyed by the IDs of nodes as PlanProbed
// requires.
type Prober interface {
	Probes(checked *cel.Ast) map[int64]Probe
}

// PlanProbed is like PlanWith, for a program that calls probes, which are keyed by the IDs of
// nodes. Each node must be a condition: an operand of &&, ||, or !, the condition of ?: or a branch
// of type bool, the predicate of a macro, or the whole expression. The cost of a probed program may
// be slightly too low, and the program is not safe for concurrent use.
func (p *Planner) PlanProbed(checked *cel.Ast, roots []celenv.Root, limit int64, probes map[int64]Probe) (*Program, error) {
	return p.program(checked, checked.NativeRep().Expr(), roots, limit, func(one *planner) { one.probes = probes })
}

func probed(c *code, probe Probe) *code {
	test := c.truth()
	return boolCode(func(f *frame) truth {
		t := test(f)
		probe(t == yes, t != bad)
		return t
	})
}

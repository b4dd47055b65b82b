package eval

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/types"
)

// How it works: roots are numbered, and a planned program reads root 0 instead of looking up "self". An object is bound
// in its decoded form and converted to a ref.Val on demand. Each activation owns a frame, whose memory its evaluations
// reuse.

// An Activation holds the values of an expression's roots, such as self and oldSelf, for
// evaluations of programs with the same roots. It is not safe for concurrent use. It can be bound
// again after its evaluations have ended, which saves allocations.
type Activation struct {
	roots []root

	frame *frame
	// work limits each evaluation (0 means MaxWork); for share, see ShareWork.
	work, share uint64
	nested      *Activation
}

type root struct {
	name     string
	raw      any
	decl     *types.Decl // nil if the value is a ref.Val from the start, or an object without a schema
	val      ref.Val     // boxed value; created on demand
	bound    presence
	optional bool
}

type presence uint8

const (
	unbound presence = iota // the attribute is unknown
	none                    // an empty optional, or an unknown attribute if the root is not optional
	value
)

// Indexes of a rule's roots, in the order of celenv.RuleRoots.
const (
	selfRoot = iota
	oldRoot
	ruleRoots
)

// Bind returns an activation with self only; oldSelf is an unknown attribute.
func Bind(d *types.Decl, self any) *Activation {
	a := new(Activation)
	a.Bind(d, self)
	return a
}

// BindOld returns an activation with self and oldSelf. If old is nil, oldSelf is an unknown
// attribute, or an empty optional after SetOptional(true).
func BindOld(d *types.Decl, self, old any) *Activation {
	a := new(Activation)
	a.BindOld(d, self, old)
	return a
}

// Bind binds a again; see the function Bind.
func (a *Activation) Bind(d *types.Decl, self any) {
	a.bindRule(d, self, nil, unbound)
}

// BindOld binds a again; see the function BindOld.
func (a *Activation) BindOld(d *types.Decl, self, old any) {
	bound := value
	if old == nil {
		bound = none
	}
	a.bindRule(d, self, old, bound)
}

func (a *Activation) bindRule(d *types.Decl, self, old any, bound presence) {
	if len(a.roots) != ruleRoots {
		a.roots = make([]root, ruleRoots)
		a.roots[selfRoot].name, a.roots[oldRoot].name = types.Self, types.OldSelf
		if a.frame != nil {
			a.frame.act = nil // its roots slice is outdated
		}
	}
	a.roots[selfRoot].set(d, self, value)
	a.roots[oldRoot].set(d, old, bound)
}

// set binds the root. It writes only pointers that changed, because each write of a pointer is work
// for the garbage collector.
func (r *root) set(d *types.Decl, raw any, bound presence) {
	r.bound, r.optional = bound, false
	if r.decl != d {
		r.decl = d
	}
	if raw != nil || r.raw != nil {
		r.raw = raw
	}
	if r.val != nil {
		r.val = nil
	}
}

// BindRoots returns an activation for programs with the given roots. values is keyed by root name
// and holds decoded JSON for roots with a Decl and ref.Vals for the others. A missing value is an
// unknown attribute, or an empty optional if the root is optional.
func BindRoots(roots []celenv.Root, values map[string]any) *Activation {
	a := &Activation{roots: make([]root, len(roots))}
	for i, of := range roots {
		r := &a.roots[i]
		r.name, r.decl, r.optional = of.Name, of.Decl, of.Optional
		v, ok := values[of.Name]
		own, isOwn := v.(ref.Val)
		switch {
		case ok && of.Decl != nil:
			r.raw, r.bound = v, value
		case ok && isOwn:
			r.val, r.bound = own, value
		case of.Optional:
			r.bound = none
		}
	}
	return a
}

// NewActivation is like BindRoots without values.
func NewActivation(roots []celenv.Root) *Activation { return BindRoots(roots, nil) }

// Set binds the root with the given index, which must not have a Decl, to v. If v is nil, the root
// becomes an unknown attribute.
func (a *Activation) Set(index int, v ref.Val) {
	r := &a.roots[index]
	r.val, r.raw, r.bound = v, nil, value
	if v == nil {
		r.bound = unbound
	}
}

// SetObject is like Set for an object without a schema; see celvalue.Untyped.
func (a *Activation) SetObject(index int, fields map[string]any) {
	r := &a.roots[index]
	r.val, r.raw, r.bound = nil, fields, value
}

// Nested returns an activation that shares the roots and values of a, for programs that run while a program runs with
// a.
func (a *Activation) Nested() *Activation {
	if a.nested == nil {
		a.nested = &Activation{roots: a.roots, work: a.work}
	}
	return a.nested
}

// SetOptional sets whether oldSelf is an optional, as for a rule with optionalOldSelf. Then only programs whose
// environment declares oldSelf as an optional can use a. Bind and BindOld reset it.
func (a *Activation) SetOptional(optional bool) {
	if len(a.roots) == ruleRoots {
		a.roots[oldRoot].optional = optional
	}
}

// Unbind drops all values and work limits, and keeps the memory that evaluations use.
func (a *Activation) Unbind() {
	f := a.frame
	if f != nil {
		f.done = nil
	}
	for i := range a.roots {
		r := &a.roots[i]
		*r = root{name: r.name}
	}
	*a = Activation{roots: a.roots, frame: f, nested: a.nested}
}

// LimitWork limits the work of each following evaluation, in units of work. MaxWork is the maximum.
func (a *Activation) LimitWork(units uint64) {
	a.work = max(units, 1)
	a.ownFrame().close = true
}

// ShareWork limits the total work of all following evaluations. Each evaluation may use half of the
// remaining work, so that work is left for later evaluations.
func (a *Activation) ShareWork(units uint64) {
	f := a.ownFrame()
	a.share, f.worked, f.began, f.poll, f.close = units, 0, 0, pollWork, units < 6*pollWork
}

// Work returns the work of the last evaluation, in units of work. If that evaluation exceeded its
// limit, Work returns the limit.
func (a *Activation) Work() uint64 {
	f := a.ownFrame()
	return f.worked - f.began
}

// WorkLeft returns the work that the evaluation in progress may still do.
func (a *Activation) WorkLeft() uint64 {
	f := a.ownFrame()
	limit := f.began + f.workLimit()
	return limit - min(f.worked, limit)
}

// AddWork adds the work of a program that ran for the evaluation in progress. If that is too much, the evaluation
// ends at its next step that adds work.
func (a *Activation) AddWork(units uint64) { a.ownFrame().worked += units }

func (a *Activation) ownFrame() *frame {
	if a.frame == nil {
		a.frame = &frame{poll: pollWork}
	}
	f := a.frame
	if f.act != a {
		f.act, f.roots = a, a.roots // a may also be a copy of another activation
	}
	return f
}

func (r *root) boxed() ref.Val {
	switch {
	case r.bound == unbound || r.bound == none && !r.optional:
		return nil
	case r.bound == none:
		return celtypes.OptionalNone
	}
	switch {
	case r.val != nil:
	case r.decl == nil:
		r.val = celvalue.Untyped(r.raw)
	default:
		r.val = celvalue.New(r.raw, r.decl)
	}
	if r.optional {
		return celtypes.OptionalOf(r.val)
	}
	return r.val
}

var _ interpreter.Activation = (*Activation)(nil)

// ResolveName implements interpreter.Activation.
func (a *Activation) ResolveName(name string) (any, bool) {
	for i := range a.roots {
		if a.roots[i].name == name {
			v := a.roots[i].boxed()
			return v, v != nil
		}
	}
	return nil, false
}

// Parent implements interpreter.Activation.
func (a *Activation) Parent() interpreter.Activation { return nil }

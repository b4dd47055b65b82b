package eval

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/celadon-cel/celadon/types"
)

// How it works: roots are counted, not named: a planned program asks for number
// 0, not for "self", so that any context's variables cost what a rule's cost.
// An object is bound as it was decoded. Only code that needs CEL's own value
// has it made, once a binding. Each activation owns a frame, which is all that
// an evaluation allocates: bound again and again, it allocates nothing.

// Activation holds what the roots of an expression, as self and oldSelf, stand
// for in one or more evaluations of programs of these roots. It is not safe for
// concurrent use. An Activation can be bound anew when no evaluation needs it
// any more: then evaluations cost no allocations.
type Activation struct {
	roots []root // as planned programs count them

	frame *frame // once there was an evaluation
	// work is the limit of one evaluation, 0 for MaxWork, share what all have
	// together.
	work, share uint64
}

// root is what one root stands for.
type root struct {
	name  string
	raw   any         // decoded JSON, nil when absent
	decl  *types.Decl // of raw; nil where the value is CEL's own from the start
	val   ref.Val     // boxed, once it was asked for
	bound presence
	// optional roots are seen as an optional of the value.
	optional bool
}

type presence uint8

const (
	unbound presence = iota // no such attribute
	none                    // only seen as an optional
	value
)

// The roots of a rule, in the order of types.RuleRoots.
const (
	selfRoot = iota
	oldRoot
	ruleRoots
)

// Bind makes an activation with self alone; oldSelf is an unknown attribute.
func Bind(d *types.Decl, self any) *Activation {
	a := new(Activation)
	a.Bind(d, self)
	return a
}

// BindOld makes an activation with self and oldSelf. Where old is nil, oldSelf
// is an unknown attribute to plain expressions and none to optional ones.
func BindOld(d *types.Decl, self, old any) *Activation {
	a := new(Activation)
	a.BindOld(d, self, old)
	return a
}

// Bind is the function Bind for an activation that is there.
func (a *Activation) Bind(d *types.Decl, self any) {
	a.bindRule(d, self, nil, unbound)
}

// BindOld is the function BindOld for an activation that is there.
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
			a.frame.act = nil // it has other roots
		}
	}
	a.roots[selfRoot].set(d, self, value)
	a.roots[oldRoot].set(d, old, bound)
}

// set writes no pointer that is there already: each costs the collector a look.
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

// BindRoots makes an activation for programs of any roots. The values are by
// name: decoded JSON for those with a Decl, and else CEL's own (a ref.Val). One
// that is missing is an unknown attribute, or none where the root is an
// optional.
func BindRoots(roots []types.Root, values map[string]any) *Activation {
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

// Optional is the same activation as a rule with optionalOldSelf sees it:
// oldSelf is an optional. Only programs of an environment that declares
// oldSelf so can use it.
func (a *Activation) Optional() *Activation {
	b := *a
	b.roots, b.frame = append([]root(nil), a.roots...), nil
	b.SetOptional(true)
	if b.work != 0 {
		b.LimitWork(b.work)
	}
	return &b
}

// SetOptional changes an activation to what Optional gives, and back.
func (a *Activation) SetOptional(optional bool) {
	if len(a.roots) == ruleRoots {
		a.roots[oldRoot].optional = optional
	}
}

// Unbind lets go of all values, and keeps the memory of evaluations for the
// next.
func (a *Activation) Unbind() {
	f := a.frame
	if f != nil {
		f.done = nil
	}
	for i := range a.roots {
		r := &a.roots[i]
		*r = root{name: r.name}
	}
	*a = Activation{roots: a.roots, frame: f}
}

// LimitWork sets what the evaluations that follow may each take, in units of
// work, at most MaxWork.
func (a *Activation) LimitWork(units uint64) {
	a.work = max(units, 1)
	a.ownFrame().close = true
}

// ShareWork sets what all evaluations that follow may take together. Each may
// take half of what is left, so that none takes all from those behind it.
func (a *Activation) ShareWork(units uint64) {
	f := a.ownFrame()
	a.share, f.worked, f.began, f.poll, f.close = units, 0, 0, pollWork, units < 6*pollWork
}

// Work is what the last evaluation took, in units of work; where that would have
// been too much, it is the limit.
func (a *Activation) Work() uint64 {
	f := a.ownFrame()
	return f.worked - f.began
}

func (a *Activation) ownFrame() *frame {
	if a.frame == nil {
		a.frame = &frame{poll: pollWork}
	}
	f := a.frame
	if f.act != a {
		f.act, f.roots = a, a.roots // also where the activation was copied
	}
	return f
}

// boxed is nil where the root is an unknown attribute.
func (r *root) boxed() ref.Val {
	switch {
	case r.bound == unbound || r.bound == none && !r.optional:
		return nil
	case r.bound == none:
		return celtypes.OptionalNone
	}
	if r.val == nil {
		r.val = types.Value(r.raw, r.decl)
	}
	if r.optional {
		return celtypes.OptionalOf(r.val)
	}
	return r.val
}

var _ interpreter.Activation = (*Activation)(nil)

// ResolveName implements cel-go's activation.
func (a *Activation) ResolveName(name string) (any, bool) {
	for i := range a.roots {
		if a.roots[i].name == name {
			v := a.roots[i].boxed()
			return v, v != nil
		}
	}
	return nil, false
}

// Parent implements cel-go's activation.
func (a *Activation) Parent() interpreter.Activation { return nil }

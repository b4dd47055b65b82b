package eval

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/celadon-cel/celadon/types"
)

// Activation holds what self and oldSelf stand for in one or more evaluations
// of programs of one declaration. It is not safe for concurrent use. An
// Activation can be bound anew when no evaluation needs it any more: then
// evaluations cost no allocations.
type Activation struct {
	decl         *types.Decl
	self, old    any
	bound        oldBinding
	selfV, oldV  ref.Val // boxed, once they were asked for
	optionalView bool

	frame *frame // once there was an evaluation
	// work is the limit of one evaluation, 0 for MaxWork, share what all have
	// together.
	work, share uint64
}

// oldBinding is what oldSelf stands for.
type oldBinding uint8

const (
	unbound oldBinding = iota // no such attribute
	none                      // only seen as an optional
	value
)

// Bind makes an activation with self alone; oldSelf is an unknown attribute.
func Bind(d *types.Decl, self any) *Activation {
	return &Activation{decl: d, self: self}
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
	a.bind(d, self)
	if a.old != nil {
		a.old = nil
	}
	a.bound = unbound
}

// BindOld is the function BindOld for an activation that is there.
func (a *Activation) BindOld(d *types.Decl, self, old any) {
	a.bind(d, self)
	a.old, a.bound = old, value
	if old == nil {
		a.bound = none
	}
}

// bind writes no pointer that is there already: each costs the collector a
// look.
func (a *Activation) bind(d *types.Decl, self any) {
	a.decl, a.self, a.optionalView = d, self, false
	if a.selfV != nil {
		a.selfV = nil
	}
	if a.oldV != nil {
		a.oldV = nil
	}
}

// Optional is the same activation as a rule with optionalOldSelf sees it:
// oldSelf is an optional. Only programs of an environment that declares
// oldSelf so can use it.
func (a *Activation) Optional() *Activation {
	b := *a
	b.optionalView, b.frame = true, nil
	if b.work != 0 {
		b.LimitWork(b.work)
	}
	return &b
}

// SetOptional changes an activation to what Optional gives, and back.
func (a *Activation) SetOptional(optional bool) { a.optionalView = optional }

// Unbind lets go of all values, and keeps the memory of evaluations for the
// next.
func (a *Activation) Unbind() {
	f := a.frame
	if f != nil {
		f.done = nil
	}
	*a = Activation{frame: f}
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
	if a.frame.act != a {
		a.frame.act = a // also where the activation was copied
	}
	return a.frame
}

func (a *Activation) selfValue() ref.Val {
	if a.selfV == nil {
		a.selfV = types.Value(a.self, a.decl)
	}
	return a.selfV
}

// oldValue is nil when oldSelf is an unknown attribute.
func (a *Activation) oldValue() ref.Val {
	if a.bound == value && a.oldV == nil {
		a.oldV = types.Value(a.old, a.decl)
	}
	switch {
	case a.bound == unbound:
		return nil
	case a.optionalView && a.bound == none:
		return celtypes.OptionalNone
	case a.optionalView:
		return celtypes.OptionalOf(a.oldV)
	case a.bound == none:
		return nil
	}
	return a.oldV
}

var _ interpreter.Activation = (*Activation)(nil)

// ResolveName implements cel-go's activation.
func (a *Activation) ResolveName(name string) (any, bool) {
	switch name {
	case types.Self:
		return a.selfValue(), true
	case types.OldSelf:
		if v := a.oldValue(); v != nil {
			return v, true
		}
	}
	return nil, false
}

// Parent implements cel-go's activation.
func (a *Activation) Parent() interpreter.Activation { return nil }

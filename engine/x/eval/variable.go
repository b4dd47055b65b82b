package eval

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/types"
)

// How it works: a name refers to a macro's variable or else to a root. Macro variables are in slots
// of the frame, in the form that the loop writes. The boxed form of a raw item is made on demand and
// kept in the slot until the next item.

type variable struct {
	name string
	form form
	slot int
	decl *types.Decl // of rawForm
	init valFunc     // of lazyForm
	// optional is set for a root declared as an optional; absent is the error of reading a root
	// that has no value.
	optional bool
	absent   *celtypes.Err
}

type form uint8

const (
	boxedForm   form = iota // slot.val
	rawForm                 // slot.raw
	untypedForm             // slot.val, or if that is nil, slot.raw, which has no declaration
	textForm                // slot.text
	numForm                 // slot.num
	lazyForm                // slot.val, computed on demand
	resultForm              // the result of a macro that runs as a loop
	rootForm                // a root of the activation; slot is its index
)

func (p *planner) named(id int64, r *ast.ReferenceInfo) (ref.Val, *variable, error) {
	if r.Value != nil {
		return r.Value, nil, nil
	}
	if t := p.types[id]; t.Kind() == celtypes.TypeKind {
		v, ok := p.env.CELTypeProvider().FindIdent(r.Name)
		if !ok {
			return nil, nil, fmt.Errorf("reference to undefined type: %s", r.Name)
		}
		return v, nil, nil
	}
	v, err := p.lookup(r.Name)
	if v != nil && v.form == rootForm {
		v.optional = p.types[id].TypeName() == celtypes.OptionalType.TypeName()
	}
	return nil, v, err
}

// lookup finds a variable by name. A leading dot skips macro variables.
func (p *planner) lookup(name string) (*variable, error) {
	global, isGlobal := strings.CutPrefix(name, ".")
	if !isGlobal {
		for i := len(p.scope) - 1; i >= 0; i-- {
			if v := p.scope[i]; v.name == name {
				if v.form == resultForm {
					return nil, errReadsResult
				}
				return v, nil
			}
		}
	}
	for i, r := range p.roots {
		if r.Name == global {
			return &variable{name: global, form: rootForm, slot: i, decl: r.Decl, absent: p.absent(global)}, nil
		}
	}
	return nil, errUnsupported
}

func (p *planner) newSlot() int {
	p.slots++
	return p.slots - 1
}

func (p *planner) within(vars []*variable, e ast.Expr) (*code, error) {
	outer := len(p.scope)
	p.scope = append(p.scope, vars...)
	c, err := p.plan(e)
	p.scope = p.scope[:outer]
	return c, err
}

func (v *variable) boxed() valFunc {
	slot := v.slot
	switch v.form {
	case rootForm:
		absent := v.absent
		return func(f *frame) ref.Val {
			if v := f.roots[slot].boxed(); v != nil {
				return v
			}
			return absent
		}
	case rawForm:
		decl := v.decl
		return func(f *frame) ref.Val {
			s := &f.slots[slot]
			if s.val == nil {
				s.val = f.box(s.raw, decl)
			}
			return s.val
		}
	case untypedForm:
		return func(f *frame) ref.Val {
			s := &f.slots[slot]
			if s.val == nil {
				s.val = celvalue.Untyped(s.raw)
			}
			return s.val
		}
	case textForm:
		return func(f *frame) ref.Val { return celtypes.String(f.slots[slot].text) }
	case numForm:
		return func(f *frame) ref.Val { return celtypes.Int(f.slots[slot].num) }
	case lazyForm:
		init := v.init
		return func(f *frame) ref.Val {
			if f.slots[slot].val == nil {
				v := init(f)
				f.slots[slot].val = v
			}
			return f.slots[slot].val
		}
	}
	return func(f *frame) ref.Val { return f.slots[slot].val }
}

// fields returns the fields of an object without a declaration that is not boxed yet. It returns nil for any other
// value.
func (v *variable) fields(f *frame) (fields map[string]any) {
	switch v.form {
	case untypedForm:
		if s := &f.slots[v.slot]; s.val == nil {
			fields, _ = s.raw.(map[string]any)
		}
	case rootForm:
		if r := &f.roots[v.slot]; r.val == nil && r.decl == nil && r.bound == value && !r.optional {
			fields, _ = r.raw.(map[string]any)
		}
	}
	return fields
}

// typedVariable returns the code of a loop's key that is a string or an int. It returns nil for any
// other attribute.
func typedVariable(a *attribute, counted bool) *code {
	if a.variable == nil || len(a.qualifiers) > 0 {
		return nil
	}
	step := uint64(0)
	if counted {
		step = 1
	}
	slot := a.variable.slot
	switch a.variable.form {
	case textForm:
		return stringCode(func(f *frame) (string, bool) {
			f.charge(step)
			return f.slots[slot].text, true
		})
	case numForm:
		return intCode(func(f *frame) (int64, bool) {
			f.charge(step)
			return f.slots[slot].num, true
		})
	}
	return nil
}

func (v *variable) counted(step uint64) valFunc {
	val := v.boxed()
	if step == 0 {
		return val
	}
	return func(f *frame) ref.Val {
		v := val(f)
		f.charge(step)
		return v
	}
}

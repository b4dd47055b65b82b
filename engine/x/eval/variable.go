package eval

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/types"
)

// How it works: a name is a macro's variable, or else a root. Those of macros
// live in slots of the frame, in the form that the loop gives them; a boxed
// form is made when first asked for and kept in the slot until the next item.

// variable is a name in scope. A macro's variables have a slot in the frame.
type variable struct {
	name string
	form form
	slot int
	decl *types.Decl // of a raw one
	init valFunc     // of a lazy one
	// optional is true for a root that is declared as an optional; absent is the
	// error of one that stands for nothing.
	optional bool
	absent   *celtypes.Err
}

type form uint8

const (
	boxedForm  form = iota // slot.val
	rawForm                // slot.raw
	textForm               // slot.text
	numForm                // slot.num
	lazyForm               // slot.val, computed when first asked for
	resultForm             // the result of a macro that is planned as a loop
	rootForm               // one of the activation's; slot counts them
)

// named is what an identifier, or a select that the checker took for one,
// stands for: a constant or a variable.
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

// lookup finds a variable; a leading dot skips those of macros.
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

// within plans with more variables in scope, the last one seen first.
func (p *planner) within(vars []*variable, e ast.Expr) (*code, error) {
	outer := len(p.scope)
	p.scope = append(p.scope, vars...)
	c, err := p.plan(e)
	p.scope = p.scope[:outer]
	return c, err
}

// boxed is the code of a variable's value as CEL's own.
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
		parsing := fitOf(decl) == fitValue
		return func(f *frame) ref.Val {
			s := &f.slots[slot]
			if s.val == nil {
				if parsing {
					f.parsed(s.raw)
				}
				s.val = types.Value(s.raw, decl)
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

// typedVariable is the code of a loop's key, nil for any other variable.
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

// counted is the boxed variable with the attribute's own step.
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

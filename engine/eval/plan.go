package eval

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/types"
)

// errUnsupported is of an expression that cel-go is left to refuse.
var errUnsupported = errors.New("not planned here")

// errReadsResult is met when a macro's body names the variable in which the
// macro collects its result.
var errReadsResult = errors.New("reads the macro's result")

// planner makes code of one checked expression. No code keeps the planner.
type planner struct {
	*Planner
	roots []types.Root
	refs  map[int64]*ast.ReferenceInfo
	types map[int64]*celtypes.Type

	scope []*variable
	slots int
}

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

func (p *planner) plan(e ast.Expr) (*code, error) {
	switch e.Kind() {
	case ast.LiteralKind:
		return constant(e.AsLiteral(), p.typeOf(e)), nil
	case ast.IdentKind, ast.SelectKind:
		return p.attributeCode(e)
	case ast.CallKind:
		return p.call(e)
	case ast.ListKind:
		return p.listLiteral(e)
	case ast.MapKind:
		return p.mapLiteral(e)
	case ast.StructKind:
		return p.messageLiteral(e)
	case ast.ComprehensionKind:
		return p.comprehension(e)
	}
	return nil, errUnsupported
}

func (p *planner) typeOf(e ast.Expr) *celtypes.Type { return p.types[e.ID()] }

func (p *planner) plans(exprs []ast.Expr) ([]*code, error) {
	codes := make([]*code, len(exprs))
	for i, e := range exprs {
		c, err := p.plan(e)
		if err != nil {
			return nil, err
		}
		codes[i] = c
	}
	return codes, nil
}

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

func isIdent(e ast.Expr, name string) bool {
	return e.Kind() == ast.IdentKind && e.AsIdent() == name
}

// isCall says whether e calls a function with n arguments, and gives those.
func isCall(e ast.Expr, function string, n int) ([]ast.Expr, bool) {
	if e.Kind() != ast.CallKind {
		return nil, false
	}
	call := e.AsCall()
	if call.IsMemberFunction() || call.FunctionName() != function || len(call.Args()) != n {
		return nil, false
	}
	return call.Args(), true
}

// isAttribute is true for what cel-go evaluates as a path into a variable or
// value: as the branch of a condition, or as an index, it then costs less.
func (p *planner) isAttribute(e ast.Expr) bool {
	switch e.Kind() {
	case ast.IdentKind:
		return !p.isNamedConst(e)
	case ast.SelectKind:
		if _, ok := p.refs[e.ID()]; ok {
			return !p.isNamedConst(e)
		}
		return true
	case ast.CallKind:
		switch e.AsCall().FunctionName() {
		case operators.Index, operators.OptIndex, operators.OptSelect, operators.Conditional:
			return true
		}
	}
	return false
}

func (p *planner) isNamedConst(e ast.Expr) bool {
	r := p.refs[e.ID()]
	return r != nil && (r.Value != nil || p.typeOf(e).Kind() == celtypes.TypeKind)
}

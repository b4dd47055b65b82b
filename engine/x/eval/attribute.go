package eval

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/celenv"
)

// How it works: CEL does not charge a.b.c as two selections but as one attribute with two
// qualifiers, and the qualifiers that follow a conditional apply to both branches. So all parts of
// an attribute are collected first and then resolved: as a path over decoded JSON if every step is
// declared and none is optional (path.go), and otherwise as lookups on ref.Vals (path_boxed.go).

// An attribute is a variable or a value with the selections and indexes that follow it. If it is a conditional, both
// branches get the qualifiers that follow.
// CEL charges a unit for each attempted selection or index and another for the attribute as a whole.
type attribute struct {
	// Exactly one of variable, operand, and cond is set.
	variable   *variable
	operand    *code
	cond       testFunc
	yes, no    *attribute
	branch     int64 // the node's ID if it is a conditional's branch with code of its own, else 0
	qualifiers []qualifier

	has bool
	key bool
	typ *celtypes.Type
}

type qualifier struct {
	key      *code
	optional bool
	test     bool
	// field is set for a selection from a celenv.ObjectValue.
	field bool
}

func (a *attribute) qualify(q qualifier, e ast.Expr, t *celtypes.Type) {
	a.has, a.typ = q.test, t
	if a.cond == nil {
		a.qualifiers = append(a.qualifiers, q)
		return
	}
	a.yes.branch, a.no.branch = 0, 0
	a.yes.qualify(q, e, t)
	a.no.qualify(q, e, t)
}

func (p *planner) attributeCode(e ast.Expr) (*code, error) {
	a, err := p.attribute(e)
	if err != nil {
		return nil, err
	}
	if c := a.plainOperand(); c != nil {
		return c, nil
	}
	return p.resolve(a, true), nil
}

// key plans an index. If the index is itself a list item that does not fit its declaration, cel-go
// reports it as a value of a type that cannot be an index.
func (p *planner) key(e ast.Expr) (*code, error) {
	if !p.isAttribute(e) {
		return p.plan(e)
	}
	a, err := p.attribute(e)
	if err != nil {
		return nil, err
	}
	a.setKey()
	return p.watchedPart(p.resolve(a, false), e.ID()), nil
}

func (a *attribute) setKey() {
	a.key = true
	if a.cond != nil {
		a.yes.setKey()
		a.no.setKey()
	}
}

func (a *attribute) plainOperand() *code {
	if len(a.qualifiers) == 0 {
		return a.operand
	}
	return nil
}

func (p *planner) attribute(e ast.Expr) (*attribute, error) {
	switch e.Kind() {
	case ast.IdentKind:
		r := p.refs[e.ID()]
		if r == nil {
			return nil, errUnsupported
		}
		return p.root(e, r)
	case ast.SelectKind:
		if r := p.refs[e.ID()]; r != nil {
			return p.root(e, r)
		}
		sel := e.AsSelect()
		a, err := p.attribute(sel.Operand())
		if err != nil {
			return nil, err
		}
		key := constant(celtypes.String(sel.FieldName()), celtypes.StringType)
		field := celenv.IsObject(p.typeOf(sel.Operand()))
		a.qualify(qualifier{key: key, test: sel.IsTestOnly(), field: field}, e, p.typeOf(e))
		return a, nil
	case ast.CallKind:
		call := e.AsCall()
		switch call.FunctionName() {
		case operators.Index:
			return p.index(e, false)
		case operators.OptIndex, operators.OptSelect:
			return p.index(e, true)
		case operators.Conditional:
			return p.conditional(e)
		}
	}
	c, err := p.plan(e)
	if err != nil {
		return nil, err
	}
	return &attribute{operand: c, typ: p.typeOf(e)}, nil
}

func (p *planner) root(e ast.Expr, r *ast.ReferenceInfo) (*attribute, error) {
	value, v, err := p.named(e.ID(), r)
	if err != nil {
		return nil, err
	}
	a := &attribute{variable: v, typ: p.typeOf(e)}
	if value != nil {
		a.operand = constant(value, a.typ)
	}
	return a, nil
}

func (p *planner) index(e ast.Expr, optional bool) (*attribute, error) {
	args := e.AsCall().Args()
	a, err := p.attribute(args[0])
	if err != nil {
		return nil, err
	}
	key, err := p.key(args[1])
	if err != nil {
		return nil, err
	}
	if key.isConst() && keyError(key.constant) != nil {
		return nil, errUnsupported // cel-go rejects it too
	}
	a.qualify(qualifier{key: key, optional: optional}, e, p.typeOf(e))
	return a, nil
}

func (p *planner) conditional(e ast.Expr) (*attribute, error) {
	args := e.AsCall().Args()
	cond, err := p.plan(args[0])
	if err != nil {
		return nil, err
	}
	a := &attribute{cond: cond.truth(), typ: p.typeOf(e)}
	if a.yes, err = p.branch(args[1]); err != nil {
		return nil, err
	}
	if a.no, err = p.branch(args[2]); err != nil {
		return nil, err
	}
	return a, nil
}

func (p *planner) branch(e ast.Expr) (*attribute, error) {
	if p.probes[e.ID()] == nil {
		a, err := p.attribute(e)
		if a != nil && a.plainOperand() == nil {
			a.branch = e.ID()
		}
		return a, err
	}
	c, err := p.plan(e)
	return &attribute{operand: c, typ: p.typeOf(e)}, err
}

// resolveBranch returns the code of a conditional's branch, for which CEL charges no extra unit.
func (p *planner) resolveBranch(a *attribute) *code {
	return p.watchedPart(p.resolve(a, false), a.branch)
}

// If counted is set, the code charges the attribute's own unit.
func (p *planner) resolve(a *attribute, counted bool) *code {
	if a.cond != nil {
		c := ternary(a.cond, p.resolveBranch(a.yes), p.resolveBranch(a.no))
		if counted && a.has {
			c = boxedCode(asPath, testOfCondition(c))
		}
		c.typ = a.typ
		return c
	}
	c := a.plainOperand()
	if c == nil {
		c = typedVariable(a, counted)
	}
	if c == nil {
		c = p.typedPath(a, counted)
	}
	if c == nil {
		c = boxedCode(asPath, p.semantics.boxedPath(a, counted))
	}
	c.typ = a.typ
	return c
}

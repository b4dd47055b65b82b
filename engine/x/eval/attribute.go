package eval

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
)

// How it works: CEL prices a.b.c not as two selections of a variable but as one
// attribute with two qualifiers, and a condition's branches share what follows
// it. So all that belongs to one attribute is gathered first, and then
// resolved: as a path over decoded JSON where all of it is declared (path.go),
// as a path that may end early where there is a ? in it (path_optional.go), and
// as lookups on CEL's own values where a type is only known at run time
// (path_boxed.go).

// attribute is a variable or a value with the selects and indexes that follow
// it. Of a condition, both branches get what follows. CEL prices an attribute
// as one step for each select or index that is tried and one for the whole.
type attribute struct {
	variable   *variable // or
	operand    *code     // or
	cond       testFunc
	yes, no    *attribute
	branch     int64 // the ID of the node that it is as a condition's branch, or 0
	qualifiers []qualifier

	has bool // the last qualifier is has()
	key bool // it stands as an index
	typ *celtypes.Type
}

// qualifier is one select or index.
type qualifier struct {
	key      *code // a constant, or code
	optional bool
	test     bool // has(): only presence is asked
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

// attributeCode plans an attribute that stands where its own step is counted.
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

// key plans an index. An item of a list that is an error is there met as a
// value of no type that can be one.
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

// plainOperand is the operand of what turned out to be no attribute.
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
		a.qualify(qualifier{key: key, test: sel.IsTestOnly()}, e, p.typeOf(e))
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
	konst, v, err := p.named(e.ID(), r)
	if err != nil {
		return nil, err
	}
	a := &attribute{variable: v, typ: p.typeOf(e)}
	if konst != nil {
		a.operand = constant(konst, a.typ)
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
	if key.isConst() && keyError(key.konst) != nil {
		return nil, errUnsupported // cel-go refuses it too
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

// branch plans one of a condition's two.
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

// resolveBranch is the code of a condition's branch.
func (p *planner) resolveBranch(a *attribute) *code {
	return p.watchedPart(p.resolve(a, false), a.branch)
}

// resolve is the code of an attribute, with or without its own step.
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
		c = p.optionalPath(a, counted)
	}
	if c == nil {
		c = boxedCode(asPath, boxedPath(a, counted))
	}
	c.typ = a.typ
	return c
}

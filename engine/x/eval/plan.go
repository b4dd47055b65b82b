package eval

import (
	"errors"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/types"
)

// How it works: planning walks the checked tree once, from the leaves up: a
// node's code is chosen by the code of its parts, so that a typed part makes a
// typed whole. What the planner knows, as declarations and slots, ends up in
// closures; it is itself dropped, and with it the tree. What cel-go would
// refuse to plan is refused in its words, by asking it (unplanned); there is no
// expression that runs on cel-go itself.

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
	// notes are the codes of all nodes, where they are asked for.
	notes map[int64]*code
	// probes are told of conditions, by node; see probe.go.
	probes map[int64]Probe
	// recording is of a plan that records its nodes; see record.go.
	recording *recording
}

func (p *planner) plan(e ast.Expr) (*code, error) {
	c, err := p.planned(e)
	if err != nil {
		return nil, err
	}
	if probe := p.probes[e.ID()]; probe != nil {
		c = probed(c, probe)
	}
	c = p.watched(c, e.ID())
	c.typ = p.typeOf(e)
	if p.notes != nil {
		p.notes[e.ID()] = c
	}
	return c, nil
}

func (p *planner) planned(e ast.Expr) (*code, error) {
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

package eval

import (
	"errors"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/celenv"
)

// How it works: planning walks the checked AST once, from the leaves up. The code of a node is chosen by the code of
// its operands, so typed operands make a typed node. Declarations and slots end up in closures; the planner and the AST
// are then dropped. If the planner does not support an expression, cel-go is called to report the error (unplanned).

// errUnsupported is returned for an expression that the planner does not support; see unplanned.
var errUnsupported = errors.New("not planned here")

var errReadsResult = errors.New("reads the macro's result")

// A planner plans a checked expression. The resulting code holds no reference to it.
type planner struct {
	*Planner
	semantics *semantics
	roots     []celenv.Root
	refs      map[int64]*ast.ReferenceInfo
	types     map[int64]*celtypes.Type

	scope []*variable
	slots int
	// notes maps node IDs to their code. It is nil unless Dump needs it.
	notes  map[int64]*code
	probes map[int64]Probe
	// recording is set if the plan records its nodes; see record.go.
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

// isAttribute reports whether cel-go evaluates e as an attribute, that is as a path into a variable
// or value. An attribute costs less as the branch of a conditional or as an index.
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

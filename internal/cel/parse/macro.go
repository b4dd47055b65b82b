package parse

import (
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/parser"
)

// expanded returns the given call, or its expansion if it is a macro. It returns nil if the
// expansion fails in a strict parse.
func (s *state) expanded(id int64, name string, target ast.Expr, args []ast.Expr) ast.Expr {
	if s.Parser.named[name] {
		if m := s.macro(name, target != nil, len(args)); m != nil {
			return s.expand(m, id, name, target, args)
		}
	}
	return s.plainCall(id, name, target, args)
}

func (s *state) plainCall(id int64, name string, target ast.Expr, args []ast.Expr) ast.Expr {
	if target == nil {
		return s.factory.NewCall(id, name, args...)
	}
	return s.factory.NewMemberCall(id, name, target, args...)
}

func (p *Parser) macro(name string, member bool, args int) parser.Macro {
	if m := p.macros[macroKey{name, args, member}]; m != nil {
		return m
	}
	return p.macros[macroKey{name, varArgs, member}]
}

// expand runs macro m. It releases the ID of the call, because the macro allocates new IDs.
func (s *state) expand(m parser.Macro, id int64, name string, target ast.Expr, args []ast.Expr) ast.Expr {
	if s.flood {
		return s.badMacro(id, name, target, args)
	}
	s.helper.id = id
	e, err := m.Expander()(&s.helper, target, args)
	switch {
	case err != nil || s.flood:
		return s.badMacro(id, name, target, args)
	case e == nil:
		return s.plainCall(id, name, target, args)
	}
	if s.config.MacroCalls {
		s.keepCall(e.ID(), name, target, args)
	}
	s.dropID(id)
	return e
}

// keepCall records the call that a macro replaced.
func (s *state) keepCall(id int64, name string, target ast.Expr, args []ast.Expr) {
	args = s.writtenAll(args)
	if target != nil {
		target = s.written(target)
	}
	if s.calls == nil {
		s.calls = map[int64]ast.Expr{}
	}
	s.calls[id] = s.plainCall(0, name, target, args)
}

// written returns e with each macro expansion, known by its ID, replaced by an unspecified node.
// Like cel-go, it searches only calls and lists.
func (s *state) written(e ast.Expr) ast.Expr {
	if s.calls[e.ID()] != nil {
		return s.factory.NewUnspecifiedExpr(e.ID())
	}
	switch e.Kind() {
	case ast.CallKind:
		call := e.AsCall()
		args := s.writtenAll(call.Args())
		if !call.IsMemberFunction() {
			return s.factory.NewCall(e.ID(), call.FunctionName(), args...)
		}
		return s.factory.NewMemberCall(e.ID(), call.FunctionName(), s.written(call.Target()), args...)
	case ast.ListKind:
		list := e.AsList()
		return s.factory.NewList(e.ID(), s.writtenAll(list.Elements()), list.OptionalIndices())
	}
	return e
}

func (s *state) writtenAll(list []ast.Expr) []ast.Expr {
	out := make([]ast.Expr, len(list))
	for i, e := range list {
		out[i] = s.written(e)
	}
	return out
}

// A helper creates nodes for macros, at the position of the macro call.
type helper struct {
	*state
	id int64
}

var _ parser.ExprHelper = &helper{}

func (h *helper) next() int64 {
	at := int32(-1) // cel-go's offset for a call without a position
	if r, ok := h.rangeAt(h.id); ok {
		at = r.Start
	}
	return h.newID(ast.OffsetRange{Start: at, Stop: at})
}

func (h *helper) NewLiteral(value ref.Val) ast.Expr { return h.factory.NewLiteral(h.next(), value) }

func (h *helper) NewList(elems ...ast.Expr) ast.Expr {
	return h.factory.NewList(h.next(), elems, []int32{})
}

func (h *helper) NewMap(entries ...ast.EntryExpr) ast.Expr {
	return h.factory.NewMap(h.next(), entries)
}

func (h *helper) NewMapEntry(key, value ast.Expr, optional bool) ast.EntryExpr {
	return h.factory.NewMapEntry(h.next(), key, value, optional)
}

func (h *helper) NewStruct(name string, fields ...ast.EntryExpr) ast.Expr {
	return h.factory.NewStruct(h.next(), name, fields)
}

func (h *helper) NewStructField(field string, value ast.Expr, optional bool) ast.EntryExpr {
	return h.factory.NewStructField(h.next(), field, value, optional)
}

func (h *helper) NewComprehension(over ast.Expr, v, accu string, init, cond, step, result ast.Expr) ast.Expr {
	return h.factory.NewComprehension(h.next(), over, v, accu, init, cond, step, result)
}

func (h *helper) NewComprehensionTwoVar(over ast.Expr, v, v2, accu string, init, cond, step, result ast.Expr) ast.Expr {
	return h.factory.NewComprehensionTwoVar(h.next(), over, v, v2, accu, init, cond, step, result)
}

func (h *helper) NewIdent(name string) ast.Expr { return h.factory.NewIdent(h.next(), name) }

func (h *helper) NewAccuIdent() ast.Expr { return h.factory.NewAccuIdent(h.next()) }

func (h *helper) AccuIdentName() string { return h.factory.AccuIdentName() }

func (h *helper) NewCall(function string, args ...ast.Expr) ast.Expr {
	return h.factory.NewCall(h.next(), function, args...)
}

func (h *helper) NewMemberCall(function string, target ast.Expr, args ...ast.Expr) ast.Expr {
	return h.factory.NewMemberCall(h.next(), function, target, args...)
}

// NewPresenceTest returns the expression has(of.field).
func (h *helper) NewPresenceTest(of ast.Expr, field string) ast.Expr {
	return h.factory.NewPresenceTest(h.next(), of, field)
}

func (h *helper) NewSelect(of ast.Expr, field string) ast.Expr {
	return h.factory.NewSelect(h.next(), of, field)
}

// OffsetLocation returns the position of the node with the given ID.
func (h *helper) OffsetLocation(id int64) common.Location {
	r, ok := h.rangeAt(id)
	if !ok {
		return common.NoLocation
	}
	return location(h.src.lines, r.Start)
}

// NewError returns an error at the node with the given ID.
func (h *helper) NewError(id int64, message string) *common.Error {
	return common.NewError(id, message, h.OffsetLocation(id))
}

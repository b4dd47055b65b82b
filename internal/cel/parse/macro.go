package parse

import (
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/parser"
)

// expanded returns nil if the expansion fails in a strict parse.
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

// If m expands the call, expand releases the ID of the call, because the macro allocates new IDs.
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
	s.dropID(id)
	return e
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

// Copy copies an expression for a macro. Each node of the copy gets a new ID at the position of the
// original; entries get the position of the call. If there are too many IDs, Copy sets flood and
// returns e.
func (h *helper) Copy(e ast.Expr) ast.Expr {
	if h.flood = h.flood || len(h.ranges) >= maxIDs; h.flood {
		return e
	}
	r, _ := h.rangeAt(e.ID())
	id := h.newID(r)
	switch e.Kind() {
	case ast.LiteralKind:
		return h.factory.NewLiteral(id, e.AsLiteral())
	case ast.IdentKind:
		return h.factory.NewIdent(id, e.AsIdent())
	case ast.SelectKind:
		sel := e.AsSelect()
		of := h.Copy(sel.Operand())
		if sel.IsTestOnly() {
			return h.factory.NewPresenceTest(id, of, sel.FieldName())
		}
		return h.factory.NewSelect(id, of, sel.FieldName())
	case ast.CallKind:
		call := e.AsCall()
		args := h.copyAll(call.Args())
		if !call.IsMemberFunction() {
			return h.factory.NewCall(id, call.FunctionName(), args...)
		}
		return h.factory.NewMemberCall(id, call.FunctionName(), h.Copy(call.Target()), args...)
	case ast.ListKind:
		list := e.AsList()
		return h.factory.NewList(id, h.copyAll(list.Elements()), list.OptionalIndices())
	case ast.MapKind:
		return h.factory.NewMap(id, h.copyEntries(e.AsMap().Entries()))
	case ast.StructKind:
		message := e.AsStruct()
		return h.factory.NewStruct(id, message.TypeName(), h.copyEntries(message.Fields()))
	case ast.ComprehensionKind:
		return h.copyLoop(id, e.AsComprehension())
	}
	return h.factory.NewUnspecifiedExpr(id)
}

func (h *helper) copyAll(list []ast.Expr) []ast.Expr {
	out := make([]ast.Expr, len(list))
	for i, e := range list {
		out[i] = h.Copy(e)
	}
	return out
}

func (h *helper) copyEntries(entries []ast.EntryExpr) []ast.EntryExpr {
	out := make([]ast.EntryExpr, len(entries))
	for i, e := range entries {
		id := h.next()
		if e.Kind() == ast.StructFieldKind {
			field := e.AsStructField()
			out[i] = h.factory.NewStructField(id, field.Name(), h.Copy(field.Value()), field.IsOptional())
			continue
		}
		entry := e.AsMapEntry()
		key := h.Copy(entry.Key())
		out[i] = h.factory.NewMapEntry(id, key, h.Copy(entry.Value()), entry.IsOptional())
	}
	return out
}

func (h *helper) copyLoop(id int64, loop ast.ComprehensionExpr) ast.Expr {
	over, init := h.Copy(loop.IterRange()), h.Copy(loop.AccuInit())
	cond, step := h.Copy(loop.LoopCondition()), h.Copy(loop.LoopStep())
	return h.factory.NewComprehensionTwoVar(id, over, loop.IterVar(), loop.IterVar2(), loop.AccuVar(), init, cond, step, h.Copy(loop.Result()))
}

// noRange marks an ID that was released or has no position yet.
var noRange = ast.OffsetRange{Start: -1 << 31, Stop: -1 << 31}

func (s *state) newID(r ast.OffsetRange) int64 {
	s.ranges = append(s.ranges, r)
	return int64(len(s.ranges))
}

func (s *state) id(t token) int64 { return s.newID(rangeOf(t)) }

// rangeOf returns the position of t. As in cel-go, the start counts code points and the length
// counts bytes.
func rangeOf(t token) ast.OffsetRange {
	return ast.OffsetRange{Start: t.at, Stop: t.at + t.End - t.Start}
}

func (s *state) rangeAt(id int64) (ast.OffsetRange, bool) {
	if id < 1 || id > int64(len(s.ranges)) || s.ranges[id-1] == noRange {
		return ast.OffsetRange{}, false
	}
	return s.ranges[id-1], true
}

// dropID releases an ID. The last ID is allocated again.
func (s *state) dropID(id int64) {
	if s.ranges[id-1] = noRange; id == int64(len(s.ranges)) {
		s.ranges = s.ranges[:id-1]
	}
}

func (s *state) finish() *ast.SourceInfo {
	info := ast.NewSourceInfo(s.src)
	ranges := info.OffsetRanges()
	for i, r := range s.ranges {
		if r != noRange {
			ranges[int64(i+1)] = r
		}
	}
	return info
}

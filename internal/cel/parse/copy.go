package parse

import "github.com/google/cel-go/common/ast"

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

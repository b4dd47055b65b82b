package types

import "github.com/google/cel-go/common/ast"

var exprs = ast.NewExprFactory()

// rename renames free variables in place. It is false for names with a leading
// dot, which it does not follow.
func rename(e ast.Expr, names map[string]string) bool {
	switch e.Kind() {
	case ast.IdentKind:
		name := e.AsIdent()
		if to, ok := names[name]; ok {
			e.SetKindCase(exprs.NewIdent(e.ID(), to))
		}
		return name == "" || name[0] != '.'
	case ast.SelectKind:
		return rename(e.AsSelect().Operand(), names)
	case ast.CallKind:
		call := e.AsCall()
		return (!call.IsMemberFunction() || rename(call.Target(), names)) && renameAll(call.Args(), names)
	case ast.ListKind:
		return renameAll(e.AsList().Elements(), names)
	case ast.MapKind:
		return renameEntries(e.AsMap().Entries(), names)
	case ast.StructKind:
		return renameEntries(e.AsStruct().Fields(), names)
	case ast.ComprehensionKind:
		return renameLoop(e.AsComprehension(), names)
	}
	return true
}

func renameAll(list []ast.Expr, names map[string]string) bool {
	for _, e := range list {
		if !rename(e, names) {
			return false
		}
	}
	return true
}

func renameEntries(entries []ast.EntryExpr, names map[string]string) bool {
	for _, entry := range entries {
		switch entry.Kind() {
		case ast.MapEntryKind:
			m := entry.AsMapEntry()
			if !rename(m.Key(), names) || !rename(m.Value(), names) {
				return false
			}
		case ast.StructFieldKind:
			if !rename(entry.AsStructField().Value(), names) {
				return false
			}
		}
	}
	return true
}

// renameLoop leaves alone what a macro's variables hide.
func renameLoop(loop ast.ComprehensionExpr, names map[string]string) bool {
	body := without(names, loop.IterVar(), loop.IterVar2(), loop.AccuVar())
	return rename(loop.IterRange(), names) && rename(loop.AccuInit(), names) &&
		rename(loop.LoopCondition(), body) && rename(loop.LoopStep(), body) &&
		rename(loop.Result(), without(names, loop.AccuVar()))
}

func without(names map[string]string, hidden ...string) map[string]string {
	out := names
	for _, name := range hidden {
		if _, ok := out[name]; !ok {
			continue
		}
		kept := map[string]string{}
		for from, to := range out {
			if from != name {
				kept[from] = to
			}
		}
		out = kept
	}
	return out
}

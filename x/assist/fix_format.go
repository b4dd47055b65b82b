package assist

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
)

// formatEdits replaces a sum of a text and a value of another type, and the sums that begin with it, by format().
// An estimate assumes no bound for string() of a number, but one for format().
func (m *fixer) formatEdits(a, b operandPart) [][]Edit {
	verb := map[kind]string{kindInt: "%d", kindDouble: "%s", kindBool: "%s"}
	if (a.kind == kindString) == (b.kind == kindString) || verb[a.kind]+verb[b.kind] == "" {
		return nil
	}
	for _, part := range []operandPart{a, b} {
		text, _ := textIn(part.e)
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return nil // the quotes are the mistake
		}
	}
	path := pathTo(m.nodes, func(e ast.Expr) bool { return e.ID() == b.e.ID() })
	if len(path) < 2 {
		return nil
	}
	from := len(path) - 2
	parts := append(m.summands(a.e), b.e)
	for from > 0 && isCall(path[from-1], operators.Add) && path[from-1].AsCall().Args()[0].ID() == path[from].ID() {
		from--
		parts = append(parts, path[from].AsCall().Args()[1])
	}
	format, args := "", []string(nil)
	for _, part := range parts {
		if text, ok := textIn(part); ok {
			format += strings.ReplaceAll(text, "%", "%%")
			continue
		}
		of := "%s"
		switch part.ID() {
		case a.e.ID():
			of = verb[a.kind]
		case b.e.ID():
			of = verb[b.kind]
		}
		if of == "" {
			of = "%s"
		}
		s, ok := m.span(part)
		if !ok {
			return nil
		}
		format, args = format+of, append(args, m.textOf(s))
	}
	quote := "'"
	if strings.Contains(format, quote) {
		quote = `"`
	}
	whole, ok := m.span(path[from])
	if !ok || strings.ContainsAny(format, quote+"\\\n\r") {
		return nil
	}
	return [][]Edit{replace(whole, quote+format+quote+".format(["+strings.Join(args, ", ")+"])")}
}

// summands returns the parts of a sum of strings, or e alone.
func (m *fixer) summands(e ast.Expr) []ast.Expr {
	if !isCall(e, operators.Add) || !slices.ContainsFunc(e.AsCall().Args(), isText) {
		return []ast.Expr{e}
	}
	args := e.AsCall().Args()
	return append(m.summands(args[0]), args[1])
}

func isText(e ast.Expr) bool {
	_, ok := textIn(e)
	return ok
}

func textIn(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	text, ok := e.AsLiteral().(celtypes.String)
	return string(text), ok
}

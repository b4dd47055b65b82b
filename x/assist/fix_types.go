package assist

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/types"
)

func (m *fixer) typeEdits() [][]Edit {
	if m.nodes == nil {
		return nil
	}
	if name, types, ok := overloadOf(m.text); ok {
		for _, call := range m.callsAt(name) {
			if all := m.overloadEdits(call, name, types); len(all) > 0 {
				return all
			}
		}
		return nil
	}
	want, found, ok := expectedIn(m.text)
	path := pathTo(m.nodes, m.isAtError)
	if !ok || len(path) == 0 {
		return nil
	}
	last := len(path) - 1
	s, ok := m.span(path[last])
	of := operandPart{s, path[last], found, kindOf(found)}
	isLiteral := of.e.Kind() == ast.LiteralKind
	switch {
	case !ok:
		return nil
	case isLiteral && last > 1 && (isCall(path[last-2], operators.Equals) || isCall(path[last-2], operators.NotEquals)):
		return m.alternativesIn(path[last-2])
	case kindOf(want) != kindBool:
		return m.convert(of, want)
	case isLiteral && last > 0:
		return append(m.alternative(path[last-1], of), m.alternativeTexts(path)...)
	}
	if moved := m.outOfSize(of.e); moved != nil {
		return moved
	}
	return m.conditions(of)
}

func (m *fixer) isAtError(e ast.Expr) bool {
	r, ok := m.info.GetOffsetRange(e.ID())
	return ok && int(r.Start) == m.offset
}

func (m *fixer) callsAt(name string) (all []ast.CallExpr) {
	pathTo(m.nodes, func(e ast.Expr) bool {
		if isCall(e, name) && m.isAtError(e) {
			all = append(all, e.AsCall())
		}
		return false
	})
	return all
}

// operandPart is an operand of a call: its range, and its type in cel-go's notation.
type operandPart struct {
	Span
	e    ast.Expr
	typ  string
	kind kind
}

func (m *fixer) overloadEdits(call ast.CallExpr, name string, types []string) [][]Edit {
	parts := call.Args()
	if call.IsMemberFunction() {
		parts = append([]ast.Expr{call.Target()}, parts...)
	}
	var on []operandPart
	for i, e := range parts {
		s, ok := m.span(e)
		if !ok || i >= len(types) {
			return nil
		}
		on = append(on, operandPart{s, e, types[i], kindOf(types[i])})
	}
	switch {
	case call.IsMemberFunction():
		return m.methodEdits(name, on)
	case len(on) > 0 && m.at(m.token) == "(":
		return m.callEdits(name, on)
	case name == operators.LogicalNot && len(on) == 1:
		return m.notEdits(on[0])
	case name == operators.Conditional && len(on) == 3:
		return m.choiceEdits(on)
	case len(on) == 2:
		return m.binaryEdits(name, on[0], on[1])
	}
	return nil
}

func (m *fixer) binaryEdits(name string, a, b operandPart) (all [][]Edit) {
	whole := Span{a.Start, b.End}
	left, right := m.textOf(a.Span), m.textOf(b.Span)
	if edits, only := m.readings(name, a, b); only || len(edits) > 0 {
		return edits
	}
	switch name {
	case operators.In:
		switch {
		case a.kind == kindList:
			return [][]Edit{replace(whole, right+" in "+left)}
		case b.kind == kindString && a.kind == kindString && b.e.Kind() != ast.LiteralKind:
			return [][]Edit{replace(whole, right+".contains("+left+")")}
		case b.kind == kindObject && a.e.Kind() == ast.LiteralKind:
			if field, err := strconv.Unquote(strings.ReplaceAll(left, "'", `"`)); err == nil {
				return [][]Edit{replace(whole, "has("+right+"."+field+")")}
			}
		case b.kind == kindOptional:
			return [][]Edit{wrap(b.Span, "", ".orValue([])")}
		}
		return m.convert(a, within(b.typ))
	case operators.Index:
		text, isText := textIn(b.e)
		if name, ok := types.Escape(text); ok && isText && a.kind == kindObject {
			return [][]Edit{replace(Span{a.End, b.End + 1}, "."+name)}
		}
		return nil
	case operators.Equals, operators.NotEquals:
		if a.kind == kindNull || b.kind == kindNull {
			field := left
			if a.kind == kindNull {
				field = right
			}
			has := map[string]string{operators.Equals: "!has(", operators.NotEquals: "has("}[name]
			return [][]Edit{replace(whole, has+field+")")}
		}
		if (a.kind == kindList || a.kind == kindMap) && (right == "''" || right == `""`) {
			return [][]Edit{replace(whole, "size("+left+") "+m.at(m.token)+" 0")}
		}
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		if a.kind == kindBool && len(a.typ) > 0 {
			return m.unchain(a)
		}
	}
	if a.kind.byMethod() || b.kind.byMethod() {
		return m.methodFor(name, a, b)
	}
	if name == operators.Add && (a.kind == kindList) != (b.kind == kindList) {
		part := a
		if a.kind == kindList {
			part = b
		}
		all = append(all, wrap(part.Span, "[", "]"))
	}
	if name == operators.Add {
		all = append(all, m.formatEdits(a, b)...)
	}
	first, second := m.convert(b, a.typ), m.convert(a, b.typ)
	if name == operators.Divide && b.kind == kindDouble { // a fraction is wanted
		first, second = second, first
	}
	return slices.Concat(all, first, second)
}

func (m *fixer) methodFor(name string, a, b operandPart) [][]Edit {
	k := a.kind
	if !k.byMethod() {
		k = b.kind
	}
	left, right := m.made(a, k), m.made(b, k)
	symbol, _ := operators.FindReverse(name)
	if call := methodCalls[symbol]; call != "" && left != "" && right != "" {
		return [][]Edit{replace(Span{a.Start, b.End}, fmt.Sprintf(call, left, right))}
	}
	return nil
}

// made returns the text of an operand as a value of kind k, or "".
func (m *fixer) made(of operandPart, k kind) string {
	text := m.textOf(of.Span)
	switch {
	case of.kind == k && of.e.Kind() == ast.CallKind && operators.Precedence(of.e.AsCall().FunctionName()) > 0:
		return "(" + text + ")"
	case of.kind == k:
		return text
	case of.kind == kindString || of.kind == kindAny:
		return constructors[k] + "(" + text + ")"
	case (of.kind == kindInt || of.kind == kindDouble) && of.e.Kind() == ast.LiteralKind:
		return constructors[k] + "('" + text + "')"
	case of.kind == kindInt:
		return constructors[k] + "(string(" + text + "))"
	}
	return ""
}

// unchain rewrites 1 < x < 5 as 1 < x && x < 5, and x > 1 < 5 as x > 1 && x < 5.
func (m *fixer) unchain(a operandPart) [][]Edit {
	if a.e.Kind() != ast.CallKind || len(a.e.AsCall().Args()) != 2 {
		return nil
	}
	repeated := a.e.AsCall().Args()[1]
	if repeated.Kind() == ast.LiteralKind {
		repeated = a.e.AsCall().Args()[0]
	}
	s, ok := m.span(repeated)
	if !ok {
		return nil
	}
	return [][]Edit{wrap(a.Span, "", " && "+m.textOf(s))}
}

func (m *fixer) choiceEdits(on []operandPart) [][]Edit {
	if on[0].kind != kindBool {
		return m.conditions(on[0])
	}
	for i, part := range on[1:] {
		if other := on[2-i]; other.kind == kindBool && part.kind != kindBool {
			return m.conditions(part)
		}
	}
	return append(m.convert(on[2], on[1].typ), m.convert(on[1], on[2].typ)...)
}

// zeros maps kinds to the value for .orValue(), with which conditions also compare.
var zeros = map[kind]string{kindBool: "false", kindInt: "0", kindDouble: "0.0", kindString: "''", kindList: "[]", kindMap: "{}"}

// convert returns edits that convert a part to typ, in cel-go's notation.
func (m *fixer) convert(of operandPart, typ string) (all [][]Edit) {
	s, e, from, to := of.Span, of.e, of.kind, kindOf(typ)
	text := m.textOf(s)
	literal := e.Kind() == ast.LiteralKind
	quoted, _ := textIn(e)
	number := func(s string) bool { _, err := strconv.ParseInt(s, 10, 64); return err == nil }
	call := func(name string) { all = append(all, wrap(s, name+"(", ")")) }
	switch {
	case from == to && from != kindInt:
	case from == kindOptional:
		if zero := zeros[kindOf(within(m.typeOf(e, typ)))]; zero != "" {
			all = append(all, wrap(s, "", ".orValue("+zero+")"))
		}
	case quoted != "" && (to == kindInt && number(quoted) || to == kindBool && (quoted == "true" || quoted == "false")):
		all = append(all, replace(s, quoted))
	case from == kindInt && to == kindDouble && isCall(e, operators.Divide): // a fraction is wanted
		all = append(all, m.fraction(e))
	case from == kindInt && to == kindDouble && literal:
		all = append(all, wrap(s, "", ".0"))
	case from == kindDouble && to == kindInt && literal && strings.HasSuffix(text, ".0"):
		all = append(all, replace(s, strings.TrimSuffix(text, ".0")))
	case (from == kindList || from == kindMap) && (to == kindInt || to == kindDouble) && e.Kind() != ast.ListKind:
		call("size")
	case to == kindString && (from == kindInt || from == kindDouble):
		call("string")
	case to == kindInt && from == kindString:
		call("int")
	case to == kindDouble && (from == kindString || from == kindInt):
		call("double")
	case to == kindTime && isDate(quoted):
		all = append(all, replace(s, "timestamp('"+quoted+"T00:00:00Z')"))
	case constructors[to] != "" && from == kindString:
		call(constructors[to])
	case to == kindDuration && from == kindInt && literal:
		all = append(all, replace(s, constructors[to]+"('"+text+"s')"))
	case to == kindInt && from == kindInt && literal:
		all = append(all, replace(s, strings.TrimRight(text, "uU")))
	}
	return all
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

func (m *fixer) fraction(division ast.Expr) (edits []Edit) {
	for _, e := range division.AsCall().Args() {
		s, ok := m.span(e)
		switch {
		case !ok:
			return nil
		case e.Kind() == ast.LiteralKind:
			edits = append(edits, wrap(s, "", ".0")...)
		default:
			edits = append(edits, wrap(s, "double(", ")")...)
		}
	}
	return edits
}

func (m *fixer) typeOf(e ast.Expr, other string) string {
	v := m.context.viewOf(m.nodes, e)
	if len(v.path) > 0 {
		if t := v.typeOf(e); t != nil {
			return t.String()
		}
	}
	return other
}

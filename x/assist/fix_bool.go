package assist

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
)

// asNumber returns edits that make 1 or 0 of a condition.
func asNumber(s Span) []Edit { return wrap(s, "(", " ? 1 : 0)") }

// alternative compares a literal that is used as a condition with the operand of the comparison before it:
// x == 'a' || 'b' is x == 'a' || x == 'b'.
func (m *fixer) alternative(operator string, before, literal operandPart) [][]Edit {
	last := before.e
	for isCall(last, operator) {
		last = last.AsCall().Args()[1]
	}
	comparison := map[string]string{operators.LogicalOr: operators.Equals, operators.LogicalAnd: operators.NotEquals}[operator]
	if !isCall(last, comparison) || last.AsCall().Args()[1].Kind() != ast.LiteralKind {
		return nil
	}
	x, ok := m.span(last.AsCall().Args()[0])
	if !ok {
		return nil
	}
	symbol, _ := operators.FindReverse(comparison)
	return [][]Edit{wrap(literal.Span, m.textOf(x)+" "+symbol+" ", "")}
}

// alternativeIn is like alternative for a literal in a call of a logical operator.
func (m *fixer) alternativeIn(of ast.Expr, literal operandPart) [][]Edit {
	if !isCall(of, operators.LogicalOr) && !isCall(of, operators.LogicalAnd) || of.AsCall().Args()[1] != literal.e {
		return nil
	}
	return m.alternative(of.AsCall().FunctionName(), operandPart{e: of.AsCall().Args()[0]}, literal)
}

// alternativesIn rewrites x == ('a' || 'b') as x in ['a', 'b'], and with != as its negation.
func (m *fixer) alternativesIn(comparison ast.Expr) [][]Edit {
	args := comparison.AsCall().Args()
	x, ok := m.span(args[0])
	all, ok2 := m.span(comparison)
	var values []string
	var collect func(e ast.Expr) bool
	collect = func(e ast.Expr) bool {
		if isCall(e, operators.LogicalOr) {
			return !slices.ContainsFunc(e.AsCall().Args(), func(e ast.Expr) bool { return !collect(e) })
		}
		s, _ := m.span(e)
		values = append(values, m.textOf(s))
		return e.Kind() == ast.LiteralKind
	}
	if !ok || !ok2 || !collect(args[1]) {
		return nil
	}
	text := m.textOf(x) + " in [" + strings.Join(values, ", ") + "]"
	if isCall(comparison, operators.NotEquals) {
		text = "!(" + text + ")"
	}
	return [][]Edit{replace(all, text)}
}

// notEdits returns edits for the negation of a value that is not a bool. If the negation is compared, the comparison is
// meant to be negated, because ! binds to the value alone.
func (m *fixer) notEdits(of operandPart) [][]Edit {
	at := m.offset
	path := pathTo(m.nodes, func(e ast.Expr) bool { return isCall(e, operators.LogicalNot) && m.isAtError(e) })
	if len(path) > 1 && isComparison(path[len(path)-2]) && path[len(path)-2].AsCall().Args()[0] == path[len(path)-1] {
		return m.negatedComparison(path, of)
	}
	switch test, known := m.presenceOf(of.e, m.textOf(of.Span)); {
	case !known:
		return nil
	case test != "":
		return [][]Edit{replace(of.Span, test)}
	}
	bang := Edit{at, at + 1, ""}
	none := map[kind]string{kindString: " == ''", kindInt: " == 0", kindDouble: " == 0.0"}[of.kind]
	switch {
	case of.e.Kind() == ast.LiteralKind:
		return nil
	case none != "":
		return [][]Edit{{bang, {of.End, of.End, none}}}
	case of.kind == kindList || of.kind == kindMap:
		return [][]Edit{{{at, at + 1, "size("}, {of.End, of.End, ") == 0"}}}
	}
	return m.conditions(of.Span, of.e, of.kind)
}

// negatedComparison returns edits that negate the comparison of a negated operand, the last but one node of path, as a whole.
func (m *fixer) negatedComparison(path []ast.Expr, of operandPart) [][]Edit {
	whole := path[len(path)-2]
	s, ok := m.span(whole)
	args := whole.AsCall().Args()
	if !ok || len(path) > 2 && m.continues(path[len(path)-3], whole) {
		return nil
	}
	if args[1].Kind() == ast.LiteralKind && args[1].AsLiteral().Type() == celtypes.NullType {
		not := map[string]string{operators.NotEquals: "!", operators.Equals: ""}[whole.AsCall().FunctionName()]
		if test, _ := m.presenceOf(of.e, m.textOf(of.Span)); test != "" {
			return [][]Edit{replace(Span{m.offset, s.End}, not+test)}
		}
	}
	return [][]Edit{{{m.offset + 1, m.offset + 1, "("}, {s.End, s.End, ")"}}}
}

// continues reports whether all, which joins conditions, has another comparison like one, so that a negation in front of
// one can be meant for both.
func (m *fixer) continues(all, one ast.Expr) bool {
	if !isCall(all, operators.LogicalOr) && !isCall(all, operators.LogicalAnd) {
		return false
	}
	for _, other := range all.AsCall().Args() {
		if other == one || !isCall(other, one.AsCall().FunctionName()) {
			continue
		}
		for i, arg := range other.AsCall().Args() {
			a, _ := m.span(arg)
			b, _ := m.span(one.AsCall().Args()[i])
			if left := strings.TrimPrefix(m.textOf(b), "!"); m.textOf(a) == left {
				return true
			}
		}
	}
	return false
}

// isComparison reports whether e is a comparison or a test of membership.
func isComparison(e ast.Expr) bool {
	return e.Kind() == ast.CallKind && slices.Contains([]string{operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals,
		operators.Greater, operators.GreaterEquals, operators.In}, e.AsCall().FunctionName())
}

// conditions returns edits that turn e, a value of kind k, into a condition.
func (m *fixer) conditions(s Span, e ast.Expr, k kind) [][]Edit {
	switch test, known := m.presenceOf(e, m.textOf(s)); {
	case !known:
		return nil
	case test != "":
		return [][]Edit{replace(s, test)}
	}
	switch k {
	case kindString:
		return [][]Edit{wrap(s, "", " != ''")}
	case kindInt:
		return [][]Edit{wrap(s, "", " != 0")}
	case kindDouble:
		return [][]Edit{wrap(s, "", " != 0.0")}
	case kindList, kindMap:
		return [][]Edit{wrap(s, "size(", ") > 0")}
	case kindOptional:
		return [][]Edit{wrap(s, "", ".orValue(false)"), wrap(s, "", ".hasValue()")}
	}
	return nil
}

package assist

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/types"
)

// readings returns edits for operands that are written for another operator, or in another order. only is set if no
// other edits are useful.
func (m *fixer) readings(name string, a, b operandPart) (all [][]Edit, only bool) {
	whole, left, right := Span{a.Start, b.End}, m.textOf(a.Span), m.textOf(b.Span)
	compared, equal := compares(name), name == operators.Equals || name == operators.NotEquals
	switch {
	case m.isIndex(a.e) || m.isIndex(b.e):
		return nil, true // the author means the item at the index
	case equal && (a.kind == kindBool) != (b.kind == kindBool) && len(m.chainedEquality(a, b)) > 0:
		return m.chainedEquality(a, b), true
	case equal && b.e.Kind() == ast.ListKind && a.kind != kindList: // x == [1, 2] is x in [1, 2]
		in := map[string][2]string{operators.Equals: {"", ""}, operators.NotEquals: {"!(", ")"}}[name]
		return [][]Edit{replace(whole, in[0]+left+" in "+right+in[1])}, true
	case compared && b.kind == kindInt && a.e.Kind() == ast.SelectKind && a.e.AsSelect().FieldName() == "size": // of a map
		return [][]Edit{wrap(a.Span, "", "()")}, true
	case compared && !equal && a.kind == kindString && b.kind == kindInt && b.e.Kind() == ast.LiteralKind && durationNames.MatchString(left):
		return [][]Edit{append(wrap(a.Span, "duration(", ")"), replace(b.Span, "duration('"+right+"s')")...)}, true
	case compared && isTest(a.e): // has(x) > 0 is has(x) && x > 0
		return [][]Edit{wrap(a.Span, "", " && "+strings.TrimSuffix(strings.TrimPrefix(left, "has("), ")"))}, false
	case equal && a.kind == kindType && isText(b.e): // type(x) == 'int'
		return [][]Edit{replace(b.Span, strings.Trim(right, `'"`))}, true
	case equal && b.kind == kindObject && right == types.OldSelf: // self.a == oldSelf is self.a == oldSelf.a
		if path, ok := strings.CutPrefix(left, types.Self+"."); ok {
			return [][]Edit{wrap(b.Span, "", "."+path)}, true
		}
	case equal && a.kind == kindBool && (right == "1" || right == "0"):
		return [][]Edit{replace(b.Span, map[string]string{"1": "true", "0": "false"}[right])}, true
	case name == operators.In && a.kind == kindList && b.kind == kindList: // each item of a must be in b
		return [][]Edit{replace(whole, m.ofEach(left, ".all", "", " in "+right))}, true
	case name == operators.In && b.kind == kindCIDR && (a.kind == kindCIDR || m.holds(a.e, ofCIDRs...)):
		return [][]Edit{replace(whole, right+".containsCIDR("+left+")")}, true
	case name == operators.In && b.kind == kindCIDR:
		return [][]Edit{replace(whole, right+".containsIP("+left+")")}, true
	case name == operators.In && b.kind == kindString && isText(b.e):
		return nil, true // part of the text, or the only item of a list
	case name == operators.Add && (a.kind == kindBool || a.kind == kindInt) && (b.kind == kindBool || b.kind == kindInt):
		var edits []Edit
		for _, part := range []operandPart{a, b} {
			if part.kind == kindBool {
				edits = append(edits, wrap(part.Span, "(", " ? 1 : 0)")...)
			}
		}
		return [][]Edit{edits}, true
	case compared && b.kind == kindInt: // size(x == 0) is size(x) == 0
		path := pathTo(m.nodes, func(e ast.Expr) bool { return e.ID() == b.e.ID() })
		return m.outOfSize(path[max(0, len(path)-3)]), false
	}
	return nil, false
}

// chainedEquality puts brackets around the last two of three operands, or repeats the second, because a ==
// b == c is read from the left.
func (m *fixer) chainedEquality(a, b operandPart) [][]Edit {
	if isComparison(a.e) {
		middle, _ := m.span(a.e.AsCall().Args()[1])
		return append(m.unchain(a), []Edit{{middle.Start, middle.Start, "("}, {b.End, b.End, ")"}})
	}
	path := pathTo(m.nodes, func(e ast.Expr) bool { return e.ID() == b.e.ID() })
	if len(path) < 3 || !isComparison(path[len(path)-3]) || path[len(path)-3].AsCall().Args()[0] != path[len(path)-2] {
		return nil
	}
	last, ok := m.span(path[len(path)-3].AsCall().Args()[1])
	if !ok {
		return nil
	}
	return [][]Edit{{{b.Start, b.Start, "("}, {last.End, last.End, ")"}}}
}

// ofCIDRs are parts of the names of fields that hold CIDRs.
var ofCIDRs = []string{"cidr", "subnet", "network", "range", "block", "except"}

func (m *fixer) isIndex(e ast.Expr) bool {
	return e.Kind() == ast.IdentKind && slices.Contains(m.indexes(), e.AsIdent())
}

// indexes returns the first variables of the macros that have two.
func (f *fault) indexes() (all []string) {
	for i := 3; i+3 < len(f.tokens); i++ {
		if f.at(i-1) == "(" && IsLoop(f.at(i-2)) && f.isName(i) && f.at(i+1) == "," && f.isName(i+2) && f.at(i+3) == "," {
			all = append(all, f.at(i))
		}
	}
	return all
}

// holds reports whether the last name of the path of e, or of the list whose item e is, contains one of the words.
func (m *fixer) holds(e ast.Expr, words ...string) bool {
	name := ""
	v := m.context.viewOf(m.nodes, e)
	for _, step := range v.expr(e).steps {
		if step.Name != "" {
			name = strings.ToLower(step.Name)
		}
	}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}

// outOfSize moves a comparison out of the brackets of a call: size(x == 0) is size(x) == 0.
func (m *fixer) outOfSize(call ast.Expr) [][]Edit {
	if !isCall(call, "size") || len(call.AsCall().Args()) != 1 || !isComparison(call.AsCall().Args()[0]) {
		return nil
	}
	args := call.AsCall().Args()[0].AsCall().Args()
	a, ok := m.span(args[0])
	b, ok2 := m.span(args[1])
	if !ok || !ok2 || b.End >= len(m.src) || m.src[b.End] != ')' {
		return nil
	}
	return [][]Edit{{{a.End, a.End, ")"}, {b.End, b.End + 1, ""}}}
}

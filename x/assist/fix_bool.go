package assist

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/loops"
)

// alternative compares a literal that is an operand of a logical operator with the operand of the comparison before it:
// x == 'a' || 'b' is x == 'a' || x == 'b'.
func (m *fixer) alternative(of ast.Expr, literal operandPart) [][]Edit {
	if !isCall(of, operators.LogicalOr) && !isCall(of, operators.LogicalAnd) || of.AsCall().Args()[1] != literal.e {
		return nil
	}
	operator := of.AsCall().FunctionName()
	terms := loops.Terms(of.AsCall().Args()[0], operator)
	last := terms[len(terms)-1]
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

// alternativesIn rewrites x == ('a' || 'b') as x in ['a', 'b'], and with != as its negation.
func (m *fixer) alternativesIn(comparison ast.Expr) [][]Edit {
	args := comparison.AsCall().Args()
	x, ok := m.span(args[0])
	all, ok2 := m.span(comparison)
	list := m.listOf(args[1])
	if !ok || !ok2 || list == "" {
		return nil
	}
	text := m.textOf(x) + " in " + list
	if isCall(comparison, operators.NotEquals) {
		text = "!(" + text + ")"
	}
	return [][]Edit{replace(all, text)}
}

// alternativeTexts rewrites x.startsWith('a' || 'b'), where path leads to the first literal, as a macro on a list.
func (m *fixer) alternativeTexts(path []ast.Expr) [][]Edit {
	for _, e := range slices.Backward(path[:len(path)-1]) {
		if isCall(e, operators.LogicalOr) {
			continue
		}
		s, ok := m.span(e)
		if !ok || e.Kind() != ast.CallKind || !e.AsCall().IsMemberFunction() || len(e.AsCall().Args()) == 0 {
			return nil
		}
		method := e.AsCall().FunctionName()
		of, _ := m.span(e.AsCall().Target())
		if list := m.listOf(e.AsCall().Args()[0]); list != "" && slices.Contains(ofTexts, method) {
			return [][]Edit{replace(s, m.ofEach(list, ".exists", m.textOf(of)+"."+method+"(", ")"))}
		}
		return nil
	}
	return nil
}

func (m *fixer) listOf(e ast.Expr) string {
	var values []string
	for _, e := range loops.Terms(e, operators.LogicalOr) {
		s, ok := m.span(e)
		if !ok || e.Kind() != ast.LiteralKind {
			return ""
		}
		values = append(values, m.textOf(s))
	}
	return "[" + strings.Join(values, ", ") + "]"
}

// notEdits returns edits for the negation of a value that is not a bool. If the negation is compared, the comparison is
// meant to be negated, because ! binds to the value alone.
func (m *fixer) notEdits(of operandPart) [][]Edit {
	at := m.offset
	path := pathTo(m.nodes, func(e ast.Expr) bool { return isCall(e, operators.LogicalNot) && m.isAtError(e) })
	if len(path) > 1 && isComparison(path[len(path)-2]) && path[len(path)-2].AsCall().Args()[0] == path[len(path)-1] {
		return m.negatedComparison(path, of)
	}
	switch test, known := m.presenceOf(of); {
	case !known:
		return nil
	case test != "":
		return [][]Edit{replace(of.Span, test)}
	}
	switch of.kind {
	case kindString, kindInt, kindDouble:
		return [][]Edit{{{at, at + 1, ""}, {of.End, of.End, " == " + zeros[of.kind]}}}
	case kindList, kindMap:
		return [][]Edit{{{at, at + 1, "size("}, {of.End, of.End, ") == 0"}}}
	}
	return m.conditions(of)
}

// negatedComparison negates a comparison instead of its first operand. The comparison is the last but one node of path.
func (m *fixer) negatedComparison(path []ast.Expr, of operandPart) [][]Edit {
	whole := path[len(path)-2]
	s, ok := m.span(whole)
	args := whole.AsCall().Args()
	if !ok {
		return nil
	}
	if args[1].Kind() == ast.LiteralKind && args[1].AsLiteral().Type() == celtypes.NullType {
		not := map[string]string{operators.NotEquals: "!", operators.Equals: ""}[whole.AsCall().FunctionName()]
		if test, _ := m.presenceOf(of); test != "" {
			return [][]Edit{replace(Span{m.offset, s.End}, not+test)}
		}
	}
	return [][]Edit{{{m.offset + 1, m.offset + 1, "("}, {s.End, s.End, ")"}}}
}

func isComparison(e ast.Expr) bool {
	return e.Kind() == ast.CallKind && compares(e.AsCall().FunctionName())
}

func compares(function string) bool {
	symbol, _ := operators.FindReverse(function)
	return comparisons[symbol]
}

// conditions returns edits that turn a value into a condition.
func (m *fixer) conditions(of operandPart) [][]Edit {
	s := of.Span
	switch test, known := m.presenceOf(of); {
	case !known:
		return nil
	case test != "":
		return [][]Edit{replace(s, test)}
	}
	switch of.kind {
	case kindString, kindInt, kindDouble:
		return [][]Edit{wrap(s, "", " != "+zeros[of.kind])}
	case kindList, kindMap:
		return [][]Edit{wrap(s, "size(", ") > 0")}
	case kindOptional:
		return [][]Edit{wrap(s, "", ".orValue(false)"), wrap(s, "", ".hasValue()")}
	}
	return nil
}

// kind is a class of types for which the same fixes apply.
type kind string

const (
	kindBool     kind = "a condition"
	kindInt      kind = "an integer"
	kindDouble   kind = "a number"
	kindString   kind = "a string"
	kindBytes    kind = "bytes"
	kindNull     kind = "null"
	kindTime     kind = "a date-time"
	kindDuration kind = "a duration"
	kindList     kind = "a list"
	kindMap      kind = "a map"
	kindOptional kind = "an optional"
	kindType     kind = "a type"
	kindAny      kind = "anything"
	kindQuantity kind = "a quantity"
	kindSemver   kind = "a version"
	kindIP       kind = "an IP address"
	kindCIDR     kind = "a CIDR"
	kindURL      kind = "a URL"
	kindObject   kind = "an object"
)

var kinds = map[string]kind{
	"bool": kindBool, "int": kindInt, "uint": kindInt, "double": kindDouble, "string": kindString, "bytes": kindBytes,
	"null": kindNull, "null_type": kindNull, "timestamp": kindTime, "google.protobuf.Timestamp": kindTime,
	"duration": kindDuration, "google.protobuf.Duration": kindDuration, "dyn": kindAny, "any": kindAny,
	"list": kindList, "map": kindMap, "optional_type": kindOptional, "type": kindType, "kubernetes.Quantity": kindQuantity,
	"kubernetes.Semver": kindSemver, "net.IP": kindIP, "net.CIDR": kindCIDR, "kubernetes.URL": kindURL,
}

var constructors = map[kind]string{
	kindTime: "timestamp", kindDuration: "duration", kindQuantity: "quantity", kindSemver: "semver", kindIP: "ip", kindCIDR: "cidr", kindURL: "url",
}

// byMethod reports whether values of kind k are ordered by methods instead of operators.
func (k kind) byMethod() bool { return k == kindQuantity || k == kindSemver }

// isMade reports whether only functions return values of kind k, so that no value in an object has this kind.
func (k kind) isMade() bool { return constructors[k] != "" && k != kindTime && k != kindDuration }

// kindOf returns the kind of a type in cel-go's notation, such as list(string), optional_type(int),
// or a dotted name for an object. Unknown names are objects, because most types are.
func kindOf(text string) kind {
	head, _, _ := strings.Cut(strings.TrimSpace(text), "(")
	if k, ok := kinds[head]; ok {
		return k
	}
	return kindObject
}

// within returns the first parameter of a type, such as int for list(int) or map(int, string), or "".
func within(text string) string {
	_, inner, _ := strings.Cut(text, "(")
	return splitTypes(strings.TrimSuffix(inner, ")"))[0]
}

func splitTypes(text string) []string {
	var out []string
	depth, start := 0, 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(text[start:i]))
				start = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(text[start:]))
}

// formatEdits replaces a sum of a text and a value of another type, and the sums that begin with it, by format().
// An estimate assumes no bound for string() of a number, but one for format().
func (m *fixer) formatEdits(a, b operandPart) [][]Edit {
	isPrintable := func(k kind) bool { return k == kindInt || k == kindDouble || k == kindBool }
	if (a.kind == kindString) == (b.kind == kindString) || !isPrintable(a.kind) && !isPrintable(b.kind) {
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
	parts := []ast.Expr{a.e}
	if a.kind == kindString {
		parts = loops.Terms(a.e, operators.Add)
	}
	parts = append(parts, b.e)
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
		if part == a.e && a.kind == kindInt || part == b.e && b.kind == kindInt {
			of = "%d"
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

package assist

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
)

func (f *fault) syntax() string {
	if open := slices.IndexFunc(f.tokens, func(t lex.Token) bool { return t.Open }); open >= 0 && (open <= f.token || f.tokens[open].Start < f.offset+3) {
		return f.as(Unclosed, "the string has no closing quote")
	}
	if f.at(f.token) == "if" && f.at(f.token-1) != "." {
		return f.as(NoIf, foreignKeyword("if").hint)
	}
	if words := cmp.Or(f.as(BadEscape, f.escapeHint()), f.as(UnquotedLiteral, f.unquotedHint()), f.as(BadQuote, f.quoteHint())); words != "" {
		return words
	}
	if _, last := f.runAt(f.token); f.run() == "=>" && last+1 < len(f.tokens) && f.tokens[last+1].Kind == lex.Number {
		return f.as(UnknownOperator, "use >= to compare; => is not a CEL operator")
	}
	if text := f.run(); (text == "=>" || text == "->" || text == "==>") && f.spaced(f.token) && !f.inMacro() {
		return f.as(NoIf, foreignKeyword("implies").hint)
	}
	if f.halfChoice() {
		return f.as(NoIf, "a conditional has two values: condition ? value : true")
	}
	if text := cmp.Or(foreignOperator(f.run()).hint, foreignOperator(f.at(f.token)).hint); text != "" {
		if f.at(f.token) == ";" {
			return f.as(SeveralExpressions, text)
		}
		return f.as(UnknownOperator, text)
	}
	if f.at(f.token+1) == "not" && f.at(f.token) == "is" {
		return f.as(UnknownOperator, "use != to compare, or has(self.name) to test whether a field is present; is not is not a CEL operator")
	}
	for _, i := range []int{f.token, f.token - 1} { // the parser reports "not a" and "if a" after the first word
		if text := foreignKeyword(f.at(i)).hint; text != "" && f.isName(i) && f.at(i-1) != "." {
			if text == foreignKeyword("if").hint || text == foreignKeyword("implies").hint {
				return f.as(NoIf, text)
			}
			return f.as(UnknownOperator, text)
		}
	}
	if f.at(f.token) == "in" && f.at(f.token-1) == "not" || f.at(f.token) == "not" && f.at(f.token+1) == "in" {
		return f.as(UnknownOperator, "use !(value in list)")
	}
	if dots.MatchString(f.masked()[f.afterIn():]) {
		return f.as(UnknownOperator, foreignName("range").hint)
	}
	if strings.Contains(string(f.src), "{{") || strings.HasPrefix(string(f.src), "${") {
		return "a rule is not a template: leave out the braces"
	}
	before := f.at(f.token - 1)
	if star := f.at(f.token) == "*"; before == "[" && (star || f.at(f.token) == "]") || before == "." && star {
		list := f.operand(f.token-2, "list")
		return fmt.Sprintf("for each element, use %s.all(e, …), or %s.exists(e, …) for one", list, list)
	}
	if f.at(f.token-1) == "has" && f.isName(f.token) {
		return f.as(HasArgument, "has() is a macro: put the field in brackets")
	}
	if op := f.at(f.token - 1); comparisons[f.at(f.token)] && (op == "||" || op == "&&") {
		return f.as(NotACondition, op+" joins whole conditions: repeat what is compared")
	}
	open := f.bracket(f.token)
	if f.at(f.token) == "," && (f.at(open-1) == "in" || f.token > 1 && f.at(f.token-2) == "in" && isLiteral(f.tokens[f.token-1])) {
		return f.as(UnknownOperator, "a list has square brackets: value in ['a', 'b']")
	}
	if f.at(open-1) == "(" && IsLoop(renamedOr(f.at(open-2))) {
		return "the variables of a macro have no brackets: list.all(i, e, e > 0)"
	}
	if i := f.token; f.at(open) == "[" && i > 0 && i < len(f.tokens) && isLiteral(f.tokens[i]) && isLiteral(f.tokens[i-1]) {
		return "a comma is missing between the items of the list"
	}
	if f.at(f.token) == "," {
		return f.as(SeveralExpressions, "only one expression is allowed: use && to join conditions")
	}
	if f.at(f.token) == "in" && f.at(f.token-1) == "." {
		return "use value in list; in is an operator"
	}
	if i := f.token; f.at(i) == "." && i+1 < len(f.tokens) && f.tokens[i+1].Kind == lex.Number {
		return "use brackets for an element: [" + f.at(i+1) + "]"
	}
	if strings.Contains(string(f.src), "?.") && !strings.Contains(string(f.src), ":") {
		return foreignOperator("?.").hint
	}
	if hint := f.unbalanced(); hint != "" {
		return f.as(Unclosed, hint)
	}
	if last := len(f.tokens) - 1; f.token > last && last >= 0 && f.tokens[last].Kind == lex.Operator {
		if f.at(last) == "." {
			return "a field is missing after ."
		}
		return "an operand is missing after " + f.at(last)
	}
	return ""
}

// halfChoice reports whether the error is at the end of a conditional that has no value for the other case.
func (f *fault) halfChoice() bool {
	if next := f.at(f.token); next != "" && next != ")" && next != ";" || f.at(f.token-1) == "?" {
		return false
	}
	depth, colon := 0, ""
	for i := min(f.token, len(f.tokens)) - 1; i >= 0; i-- {
		if depth -= lex.Depth(f.tokens[i]); depth < 0 {
			return false
		}
		switch text := f.at(i); {
		case depth == 0 && text == ":":
			colon = text
		case depth == 0 && text == "?" && f.at(i+1) != ".":
			return colon == "" || f.at(f.token-1) == ":"
		}
	}
	return false
}

// bracket returns the index of the opening bracket around token i, or -1.
func (f *fault) bracket(i int) int {
	depth := 0
	for i = min(i, len(f.tokens)) - 1; i >= 0; i-- {
		if depth += lex.Depth(f.tokens[i]); depth > 0 {
			break
		}
	}
	return i
}

// run returns the operator at the error, including adjacent operator characters, as other languages
// would read it, or "".
func (f *fault) run() string {
	first, last := f.runAt(f.token)
	if first > last {
		return ""
	}
	return string(f.src[f.tokens[first].Start:f.tokens[last].End])
}

// runAt returns the range of adjacent operator tokens around token i, or an empty range if token i
// is not part of an operator.
func (f *fault) runAt(i int) (first, last int) {
	isPart := func(i int) bool {
		return i >= 0 && i < len(f.tokens) && f.tokens[i].Kind == lex.Operator && strings.Trim(f.tokens[i].Text, "=<>!&|~?*+-^:.") == ""
	}
	if !isPart(i) {
		return i, i - 1
	}
	first, last = i, i
	for isPart(first-1) && f.tokens[first-1].End == f.tokens[first].Start {
		first--
	}
	for isPart(last+1) && f.tokens[last].End == f.tokens[last+1].Start {
		last++
	}
	return first, last
}

func (f *fault) unbalanced() string {
	var open []string
	for _, t := range f.tokens {
		switch lex.Depth(t) {
		case 1:
			open = append(open, t.Text)
		case -1:
			if len(open) == 0 {
				return "this " + t.Text + " has no opening bracket"
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return "a " + open[len(open)-1] + " is not closed"
	}
	return ""
}

// afterIn returns the end of the last token in at or before the error, or the end of the source.
func (f *fault) afterIn() int {
	for i := min(f.token, len(f.tokens)-1); i >= 0; i-- {
		if f.at(i) == "in" {
			return f.tokens[i].End
		}
	}
	return len(f.src)
}

func (f *fault) spaced(i int) bool {
	first, _ := f.runAt(i)
	return first > 0 && f.tokens[first-1].End < f.tokens[first].Start
}

// inMacro reports whether the error is at the arrow after the variable of a macro.
func (f *fault) inMacro() bool {
	first, _ := f.runAt(f.token)
	open := first - 2
	if f.at(open) == "," && f.isName(open-1) {
		open -= 2
	}
	return open >= 1 && f.isName(first-1) && f.at(open) == "(" && IsLoop(renamedOr(f.at(open-1)))
}

func renamedOr(name string) string {
	return cmp.Or(foreignName(name).is, name)
}

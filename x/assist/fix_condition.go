package assist

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/types"
)

// conditionEdits returns edits for conditionals, implications, ranges, and tests for null, types, and membership in
// the syntax of other languages.
func (m *fixer) conditionEdits() (all [][]Edit) {
	for i, t := range m.tokens {
		switch t.Text {
		case "if", "when", "unless":
			all = append(all, m.ifEdits(i)...)
		case "is", "instanceof":
			all = append(all, m.nullTest(i), m.typeTest(i))
		case "?":
			all = append(all, m.elseEdit(i))
		case "iff":
			all = append(all, m.equivalence(i, i))
		case "<", "<=":
			if first, last := m.runAt(i); first == i && operatorHints[m.textOf(m.tokenSpan(first, last))] == equivalent {
				all = append(all, m.equivalence(first, last))
			}
		case "implies", "=>", "->", "==>":
			all = append(all, m.implication(i, i))
		case "=", "==", "-":
			if m.at(i+1) == ">" && m.tokens[i+1].Start == t.End {
				all = append(all, m.implication(i, i+1))
			}
		case "not", "!":
			if m.at(i+1) == "in" {
				all = append(all, m.notIn(i))
			}
		case "in":
			all = append(all, m.rangeEdit(i))
		case "between":
			all = append(all, m.between(i))
		}
	}
	return all
}

// nullTest rewrites a is null, a is not null, and the like, where is is token i, as a test of presence.
func (m *fixer) nullTest(i int) []Edit {
	end, not := i+1, "!"
	if m.at(end) == "not" {
		end, not = end+1, ""
	} else if m.at(i) == "!=" {
		not = ""
	}
	from := m.operandFirst(i - 1)
	if renamedOr(m.at(end)) != "null" || from < 0 {
		return nil
	}
	return replace(m.tokenSpan(from, end), not+"has("+m.part(from, i-1)+")")
}

// typeTest rewrites a is int, where is is token i, as a comparison of types.
func (m *fixer) typeTest(i int) []Edit {
	from := m.operandFirst(i - 1)
	if from < 0 || !slices.Contains(typeNames, m.at(i+1)) {
		return nil
	}
	return replace(m.tokenSpan(from, i+1), "type("+m.part(from, i-1)+") == "+m.at(i+1))
}

// elseEdit completes a conditional, whose ? is token i, with true: an implication is meant.
func (m *fixer) elseEdit(i int) []Edit {
	_, last := m.group(i)
	colon := m.next(i, ":", ";")
	switch {
	case colon < 0:
		return []Edit{{m.tokens[last].End, m.tokens[last].End, " : true"}}
	case m.at(colon) == ";":
		return replace(m.tokenSpan(colon, colon), ":")
	case colon == last:
		return []Edit{{m.tokens[colon].End, m.tokens[colon].End, " true"}}
	}
	return nil
}

// equivalence compares the conditions on both sides of the operator from token first to token last.
func (m *fixer) equivalence(first, last int) []Edit {
	from, _ := m.group(first)
	_, to := m.group(last)
	if from >= first || last >= to {
		return nil
	}
	side := func(first, last int) string {
		if m.operandFirst(last) == first {
			return m.part(first, last)
		}
		return "(" + m.part(first, last) + ")"
	}
	return replace(m.tokenSpan(from, to), side(from, first-1)+" == "+side(last+1, to))
}

// group returns the range of tokens in the same brackets as token i, without the brackets and other arguments.
func (m *fixer) group(i int) (first, last int) {
	depth := 0
	for first = i; first > 0; first-- {
		if depth += lex.Depth(m.tokens[first-1]); depth > 0 || depth == 0 && m.at(first-1) == "," {
			break
		}
	}
	depth = 0
	for last = i; last+1 < len(m.tokens); last++ {
		if depth += lex.Depth(m.tokens[last+1]); depth < 0 || depth == 0 && m.at(last+1) == "," {
			break
		}
	}
	return first, last
}

// next returns the index of the first token after token i that is in texts, outside of brackets that open
// after it, or -1.
func (m *fixer) next(i int, texts ...string) int {
	depth := 0
	for i++; i < len(m.tokens); i++ {
		if depth == 0 && slices.Contains(texts, m.at(i)) {
			return i
		}
		if depth += lex.Depth(m.tokens[i]); depth < 0 {
			return -1
		}
	}
	return -1
}

// part returns the text from token first to token last, or "".
func (m *fixer) part(first, last int) string {
	if first < 0 || last >= len(m.tokens) || first > last {
		return ""
	}
	return m.textOf(m.tokenSpan(first, last))
}

// ifEdits rewrites the if, when, or unless at token i as a conditional expression or an implication.
func (m *fixer) ifEdits(i int) (all [][]Edit) {
	first, last := m.group(i)
	if m.at(last) == ";" {
		last--
	}
	other := m.next(i, "else")
	if i > first { // a if c else b
		if other < 0 {
			return [][]Edit{m.choice(m.tokenSpan(first, last), i, i+1, last, m.body(first, i-1), "")}
		}
		all = append(all, m.choice(m.tokenSpan(first, last), i, i+1, other-1, m.body(first, i-1), m.body(other+1, last)))
	}
	then := m.next(i, "then", "{", ":")
	switch {
	case then >= 0 && m.at(then) != "{" && other < 0:
		all = append(all, m.choice(m.tokenSpan(i, last), i, i+1, then-1, m.body(then+1, last), ""))
	case then >= 0 && m.at(then) != "{":
		all = append(all, m.choice(m.tokenSpan(i, last), i, i+1, then-1, m.body(then+1, other-1), m.body(other+1, last)))
	case then < 0 && m.at(i+1) == "(" && m.closing(i+1) > 0: // if (c) return a; else return b;
		if then = m.closing(i + 1); other < 0 {
			all = append(all, m.choice(m.tokenSpan(i, last), i, i+1, then, m.body(then+1, last), ""))
		} else {
			all = append(all, m.choice(m.tokenSpan(i, last), i, i+1, then, m.body(then+1, other-1), m.body(other+1, last)))
		}
	case then >= 0:
		end := m.closing(then)
		yes, no := m.body(then, end), ""
		if end < 0 {
			return all
		}
		if other == end+1 {
			if end = last; m.at(other+1) == "{" {
				end = m.closing(other + 1)
			}
			no = m.body(other+1, end)
		}
		all = append(all, m.choice(m.tokenSpan(i, max(i, end)), i, i+1, then-1, yes, no))
	}
	return all
}

// body returns the text of a branch from token first to token last without braces, return, and semicolon.
func (m *fixer) body(first, last int) string {
	if m.at(first) == "{" && last == m.closing(first) {
		first, last = first+1, last-1
	}
	if m.at(first) == "return" {
		first++
	}
	if m.at(last) == ";" {
		last--
	}
	return m.part(first, last)
}

// choice replaces whole by a conditional expression, or by an implication if no is "". The condition is from token first to
// token last after the word at token i.
func (m *fixer) choice(whole Span, i, first, last int, yes, no string) []Edit {
	condition, not := m.part(first, last), ""
	if condition == "" || yes == "" || m.at(i) == "unless" && no != "" {
		return nil
	}
	switch not = m.negated(first, last); {
	case no != "":
		return replace(whole, condition+" ? "+yes+" : "+no)
	case m.at(i) == "unless":
		return replace(whole, condition+" || "+yes)
	}
	return replace(whole, not+" || "+yes)
}

func (m *fixer) negated(first, last int) string {
	if lex.Operand(m.tokens[:last+1], last) == first {
		return "!" + m.part(first, last)
	}
	return "!(" + m.part(first, last) + ")"
}

// implication rewrites the operator from token first to token last, between a condition and its
// consequence.
func (m *fixer) implication(first, last int) []Edit {
	from, _ := m.group(first)
	if from >= first || last+1 >= len(m.tokens) {
		return nil
	}
	return []Edit{{m.tokens[from].Start, m.tokens[last].End, m.negated(from, first-1) + " ||"}}
}

// notIn rewrites a not in b, where not is token i.
func (m *fixer) notIn(i int) []Edit {
	left := m.operandFirst(i - 1)
	if left < 0 || i+2 >= len(m.tokens) {
		return nil
	}
	right := i + 2
	if lex.Depth(m.tokens[right]) > 0 {
		right = m.closing(right)
	} else {
		right = m.operandEnd(right)
	}
	if right < 0 {
		return nil
	}
	return replace(m.tokenSpan(left, right), "!("+m.part(left, i-1)+" in "+m.part(i+2, right)+")")
}

// closing returns the index of the bracket that closes token i, or -1.
func (m *fixer) closing(i int) int {
	return m.next(i, map[string]string{"(": ")", "[": "]", "[?": "]", "{": "}"}[m.at(i)])
}

// dots matches a range such as 1..5 or [1...5].
var dots = lazy.New(`^\s*[\[(]?\s*(-?\d+)\s*(?:\.{2,3}=?|:|\s+to\s+)\s*(-?\d+)\s*[\])]?`)

// rangeEdit rewrites a range after the in at token i as two comparisons.
func (m *fixer) rangeEdit(i int) []Edit {
	left := m.operandFirst(i - 1)
	if left < 0 {
		return nil
	}
	x, start := m.part(left, i-1), m.tokens[left].Start
	if at := dots.FindStringSubmatch(m.masked()[m.tokens[i].End:]); at != nil {
		return []Edit{{start, m.tokens[i].End + len(at[0]), at[1] + " <= " + x + " && " + x + " <= " + at[2]}}
	}
	if m.at(i+1) != "range" || m.at(i+2) != "(" {
		return nil
	}
	end := m.closing(i + 2)
	from, to := "0", m.part(i+3, end-1)
	if comma := m.next(i+2, ","); comma >= 0 && comma < end {
		from, to = m.part(i+3, comma-1), m.part(comma+1, end-1)
	}
	if end < 0 || from == "" || to == "" {
		return nil
	}
	return []Edit{{start, m.tokens[end].End, from + " <= " + x + " && " + x + " < " + to}}
}

// between rewrites x between a and b, where between is token i.
func (m *fixer) between(i int) []Edit {
	and := m.next(i, "and", "&&")
	left := m.operandFirst(i - 1)
	if left < 0 || and < 0 || and+1 >= len(m.tokens) {
		return nil
	}
	x, end := m.part(left, i-1), m.operandEnd(and+1)
	return replace(m.tokenSpan(left, end), m.part(i+1, and-1)+" <= "+x+" && "+x+" <= "+m.part(and+1, end))
}

// argumentEdits returns edits for a has() whose argument is not a field.
func (m *fixer) argumentEdits() (all [][]Edit) {
	for i := range m.tokens {
		if m.at(i) != "has" || m.at(i+1) != "(" || m.at(i-1) == "." {
			continue
		}
		end := m.closing(i + 1)
		if end < i+3 {
			continue
		}
		whole, last := m.tokenSpan(i, end), end-1
		switch {
		case end == i+3 && m.tokens[i+2].Kind == lex.String: // has('self.name') or has('name')
			name := strings.Trim(m.at(i+2), `'"`)
			all = append(all, replace(m.tokenSpan(i+2, i+2), name), replace(m.tokenSpan(i+2, i+2), types.Self+"."+name))
		case m.at(last) == "]":
			open := m.opened(last)
			if open <= i+2 || open+2 != last {
				continue
			}
			of, index := m.part(i+2, open-1), m.at(open+1)
			if m.tokens[open+1].Kind == lex.String {
				all = append(all, replace(whole, index+" in "+of), replace(whole, "has("+of+"."+strings.Trim(index, `'"`)+")"))
			} else {
				all = append(all, replace(whole, "size("+of+") > "+index))
			}
		}
	}
	return all
}

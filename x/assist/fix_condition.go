package assist

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/types"
)

func (m *fixer) conditionEdits() [][]Edit {
	all := m.rewritten(conditionForms, nil)
	for i := range m.tokens {
		switch m.at(i) {
		case "?":
			all = append(all, m.elseEdit(i))
		case "in":
			all = append(all, m.rangeEdit(i))
		}
	}
	return all
}

// elseEdit completes a conditional, whose ? is token i: it adds true as the second value, because an
// implication is meant, or replaces a semicolon by the colon.
func (m *fixer) elseEdit(i int) []Edit {
	_, last := m.group(i)
	colon := m.next(i, ":", ";")
	switch {
	case colon < 0:
		return []Edit{{m.tokens[last].End, m.tokens[last].End, " : true"}}
	case m.at(colon) == ";":
		return replace(m.tokenSpan(colon, colon), ":")
	}
	return nil
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

func (m *fixer) part(first, last int) string {
	if first < 0 || last >= len(m.tokens) || first > last {
		return ""
	}
	return m.textOf(m.tokenSpan(first, last))
}

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

func (m *fixer) closing(i int) int {
	return m.next(i, map[string]string{"(": ")", "[": "]", "[?": "]", "{": "}"}[m.at(i)])
}

// dots matches a range such as 1..5 or [1...5].
var dots = lazy.New(`^\s*[\[(]?\s*(-?\d+)\s*(?:\.{2,3}=?|:|\s+to\s+)\s*(-?\d+)\s*[\])]?`)

func (m *fixer) rangeEdit(i int) []Edit {
	left, at := m.operandFirst(i-1), dots.FindStringSubmatch(m.masked()[m.tokens[i].End:])
	if left < 0 || at == nil {
		return nil
	}
	x := m.part(left, i-1)
	return []Edit{{m.tokens[left].Start, m.tokens[i].End + len(at[0]), at[1] + " <= " + x + " && " + x + " <= " + at[2]}}
}

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
			open := lex.Opening(m.tokens, last)
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

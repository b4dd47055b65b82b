package assist

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/types"
)

func (m *fixer) syntaxEdits() (all [][]Edit) {
	add := func(edits []Edit) {
		if len(edits) > 0 {
			all = append(all, edits)
		}
	}
	add(m.rawEdits())
	for _, edits := range slices.Concat(m.quoteEdits(), m.rewritten(templateForms, nil)) {
		add(edits)
	}
	for _, edits := range m.rewritten(lambdaForms, nil) {
		add(difference(m.src, []rune(Apply(string(m.src), edits))))
	}
	for _, i := range []int{m.token, m.token - 1, m.token + 1} {
		if i < 0 || i >= len(m.tokens) {
			continue
		}
		if edit := m.operatorEdit(i); edit != nil {
			add(edit)
			add(m.everywhere(m.textOf(Span{edit[0].Start, edit[0].End})))
			add(m.nullTests())
		}
		add(m.tokenEdit(i))
	}
	add(m.everywhere("?.")) // the parser reports a?.b where it expects a conditional to continue
	add(m.withoutOptional())
	near, every := m.wordEdits()
	return append(append(all, near...), every, append(m.everywhere(""), every...))
}

func (m *fixer) shapeEdits() [][]Edit {
	all := m.rewritten(shapeForms, nil)
	for _, i := range []int{m.token, m.token - 1, m.token + 1} {
		if i >= 0 && i < len(m.tokens) {
			all = append(all, m.listEdit(i), m.stringParts(i), m.ofAll(i))
		}
	}
	return append(all, m.literalEdits()...)
}

// listEdit adds missing commas to a list of literals near token i, and missing brackets after in.
func (m *fixer) listEdit(i int) (edits []Edit) {
	from := i
	for from > 0 && (isLiteral(m.tokens[from]) || m.at(from) == ",") {
		from--
	}
	open := m.at(from) == "["
	if from == i || !open && m.at(from) != "in" {
		return nil
	}
	end := from
	for end+1 < len(m.tokens) && (isLiteral(m.tokens[end+1]) || m.at(end+1) == ",") {
		if end++; end > from+1 && isLiteral(m.tokens[end]) && isLiteral(m.tokens[end-1]) {
			edits = append(edits, Edit{m.tokens[end-1].End, m.tokens[end-1].End, ","})
		}
	}
	if !open {
		edits = append(edits, wrap(m.tokenSpan(from+1, end), "[", "]")...)
	}
	return edits
}

// stringParts rewrites a string with placeholders, such as f"{a}-b" where f is near token i, with format().
func (m *fixer) stringParts(i int) []Edit {
	if i+1 >= len(m.tokens) || m.at(i) != "f" || m.tokens[i+1].Kind != lex.String || m.tokens[i].End != m.tokens[i+1].Start {
		return nil
	}
	var args []string
	text := strings.ReplaceAll(m.at(i+1), "%", "%%")
	for _, at := range placeholder.FindAllStringIndex(text, -1) {
		args = append(args, text[at[0]+1:at[1]-1])
	}
	format := placeholder.ReplaceAllString(text, "%s")
	return replace(m.tokenSpan(i, i+1), format+".format(["+strings.Join(args, ", ")+"])")
}

var placeholder = lazy.New(`\{[^{}]+\}`)

func (m *fixer) operatorEdit(i int) []Edit {
	first, last := m.runAt(i)
	if first > last {
		return nil
	}
	s := m.tokenSpan(first, last)
	if is := foreignOperator(m.textOf(s)).is; is != "" {
		return replace(s, is)
	}
	return nil
}

// everywhere replaces every operator written as like by its CEL counterpart. If like is "", it
// replaces all operators of other languages.
func (m *fixer) everywhere(like string) (all []Edit) {
	for at := 0; at < len(m.tokens); at++ {
		first, last := m.runAt(at)
		if first > last {
			continue
		}
		s := m.tokenSpan(first, last)
		at = last
		if text := m.textOf(s); foreignOperator(text).is != "" && (like == "" || text == like) {
			all = append(all, Edit{s.Start, s.End, foreignOperator(text).is})
		}
	}
	return all
}

// nullTests is like everywhere for all operators, with tests of presence for comparisons with null.
func (m *fixer) nullTests() (all []Edit) {
	for _, e := range m.everywhere("") {
		i := slices.IndexFunc(m.tokens, func(t lex.Token) bool { return t.End >= e.End })
		from := m.operandFirst(slices.IndexFunc(m.tokens, func(t lex.Token) bool { return t.Start >= e.Start }) - 1)
		if not := map[string]string{"==": "!", "!=": ""}; m.at(i+1) == "null" && from >= 0 {
			field := strings.TrimSpace(m.textOf(Span{m.tokens[from].Start, e.Start}))
			e = Edit{m.tokens[from].Start, m.tokens[i+1].End, not[e.Text] + "has(" + field + ")"}
		}
		all = append(all, e)
	}
	return all
}

func (m *fixer) withoutOptional() (all []Edit) {
	for i := range m.tokens {
		first, last := m.runAt(i)
		if first == i && first < last && m.textOf(m.tokenSpan(first, last)) == "?." && m.at(last+2) == "(" {
			s := m.tokenSpan(first, last)
			all = append(all, Edit{s.Start, s.End, "."})
		}
	}
	return all
}

// wordEdits replaces words that are operators in other languages: near holds one edit for each word
// near the error, and every replaces them all.
func (m *fixer) wordEdits() (near [][]Edit, every []Edit) {
	for i, t := range m.tokens {
		if t.Kind != lex.Ident || m.at(i-1) == "." || m.at(i+1) == "." && t.Text != "not" {
			continue
		}
		is, end := foreignKeyword(t.Text).is, t.End
		switch strings.ToLower(t.Text) {
		case "is":
			if m.at(i+1) == "null" || m.at(i+2) == "null" {
				continue // a test of presence is meant
			}
		case "not", "return":
			if m.at(i-1) == "is" || i+1 == len(m.tokens) {
				continue
			}
			if end = m.tokens[i+1].Start; strings.ToLower(t.Text) == "not" {
				is = "!"
			}
		default:
			if is == "" {
				continue
			}
		}
		edit := Edit{t.Start, end, is}
		every = append(every, edit)
		if i >= m.token-1 && i <= m.token+1 {
			near = append(near, []Edit{edit})
		}
	}
	return near, every
}

func (m *fixer) tokenEdit(i int) []Edit {
	s := m.tokenSpan(i, i)
	switch t := m.tokens[i]; {
	case t.Text == ";" && i == len(m.tokens)-1:
		return replace(s, "")
	case t.Text == "," || t.Text == ";":
		text := " &&"
		if i+1 < len(m.tokens) && m.tokens[i+1].Start == t.End {
			text = " && "
		}
		return replace(s, text)
	case t.Text == "$" && !m.isName(i+1):
		return replace(s, types.Self)
	case t.Text == "$":
		return replace(s, "")
	case t.Text == "in" && m.at(i-1) == "." && m.at(i+2) == "[" && m.closing(i+1) > 0:
		end := m.closing(i + 1)
		return []Edit{{m.tokens[i-1].Start, m.tokens[i+2].Start, " in "}, {m.tokens[end].Start, m.tokens[end].End, ""}}
	case t.Text == "*" && m.at(i-1) == "*" && m.at(i+1) == "2" && m.operandFirst(i-2) >= 0: // a ** 2
		return replace(m.tokenSpan(i-1, i+1), "* "+m.part(m.operandFirst(i-2), i-2))
	case m.at(i-1) == "has" && m.isName(i):
		end := m.tokens[m.operandEnd(i)].End
		return []Edit{{m.tokens[i-1].End, t.Start, "("}, {end, end, ")"}}
	case comparisons[t.Text] && (m.at(i-1) == "||" || m.at(i-1) == "&&") && comparisons[m.at(i-3)] && m.operandFirst(i-4) >= 0: // a == 1 || == 2
		return wrap(Span{t.Start, t.Start}, m.part(m.operandFirst(i-4), i-4)+" ", "")
	case comparisons[t.Text] && (m.at(i-1) == "||" || m.at(i-1) == "&&") && i > 2 && m.isName(i-2): // 1 <= a && <= 2
		return wrap(Span{t.Start, t.Start}, m.part(m.operandFirst(i-2), i-2)+" ", "")
	case t.Text == "." && i+1 < len(m.tokens) && m.tokens[i+1].Kind == lex.Number:
		return replace(m.tokenSpan(i, i+1), "["+m.at(i+1)+"]")
	}
	return nil
}

// ofAll rewrites a condition on each item of a list, such as list[*].a > 0, list[].a > 0, or list.*.a > 0, near token
// i.
func (m *fixer) ofAll(i int) []Edit {
	first, last := i-1, i
	switch star := m.at(i) == "*"; {
	case i < 2:
		return nil
	case star && m.at(i-1) == "[" && m.at(i+1) == "]":
		last = i + 1
	case star && m.at(i-1) == "." && m.at(i+1) == ".", m.at(i) == "]" && m.at(i-1) == "[":
	default:
		return nil
	}
	_, end := m.group(first - 1)
	if at := m.next(last, "&&", "||", "?", ":"); at >= 0 {
		end = min(end, at-1)
	}
	each := m.variable("e")
	return []Edit{{m.tokens[first].Start, m.tokens[last].End, ".all(" + each + ", " + each}, {m.tokens[end].End, m.tokens[end].End, ")"}}
}

// operandEnd returns the index of the last token of the operand that begins with token i. An
// operand consists of names, dots, indexes, and calls.
func (f *fault) operandEnd(i int) int {
	for i+1 < len(f.tokens) {
		next := f.tokens[i+1]
		switch {
		case next.Text == "." && f.isName(i+2):
			i += 2
		case next.Text == "(" && f.isName(i), next.Text == "[":
			depth := 0
			for i++; i+1 < len(f.tokens); i++ {
				if depth += lex.Depth(f.tokens[i]); depth == 0 {
					break
				}
			}
		default:
			return i
		}
	}
	return i
}

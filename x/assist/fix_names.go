package assist

import (
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/types"
)

func (m *fixer) nameEdits(names []string) (all [][]Edit) {
	i := m.nameToken()
	if i < 0 {
		return nil
	}
	for _, name := range names {
		s := m.tokenSpan(i, i)
		if m.at(i-1) == "." && !m.selected(i) { // .name for self.name
			s.Start = m.tokens[i-1].Start
		}
		if written, ok := types.Unescape(name); ok && written != name && strings.HasPrefix(string(m.src[s.Start:]), written) {
			s.End = s.Start + len([]rune(written))
		}
		if whole := dashed(string(m.src[s.Start:])); whole != "" {
			s.End = s.Start + len([]rune(whole))
		}
		all = append(all, replace(s, name), replace(s, name+"()"))
	}
	return all
}

func (m *fixer) isTypo(name string) bool {
	i := m.nameToken()
	if i < 0 {
		return false
	}
	word := m.at(i)
	if whole := dashed(string(m.src[m.tokens[i].Start:])); whole != "" {
		word = whole
	}
	written, _ := types.Unescape(strings.TrimSuffix(name[strings.LastIndex(name, ".")+1:], "()"))
	return spell.IsTypo(word, written)
}

// nameToken returns the index of the token with the name that the error is about, or -1.
func (m *fixer) nameToken() int {
	if match := unknownName.FindStringSubmatch(m.text); match != nil {
		return m.tokenOf(strings.TrimPrefix(match[1], "."))
	}
	for i := m.token; i < len(m.tokens); i++ {
		if m.isName(i) {
			return i
		}
	}
	return -1
}

func (m *fixer) renamedEdits(name string) (all [][]Edit) {
	i := m.nameToken()
	if i < 0 {
		return nil
	}
	is, call := foreignName(name).is, m.at(i+1) == "("
	s := m.tokenSpan(i, i)
	switch {
	case is != "" && m.at(i-1) == "." && call && m.at(i+2) == ")":
		if from := m.operandFirst(i - 2); from >= 0 && slices.Contains(typeNames, is) { // x.toString() is string(x)
			all = append(all, []Edit{{m.tokens[from].Start, m.tokens[from].Start, is + "("}, {m.tokens[i-1].Start, m.tokens[i+1].End, ""}})
		}
		all = append(all, replace(s, is))
	case is != "" && m.at(i-1) == "." && !call:
		all = append(all, replace(s, is+"()"))
	case is == "null" && (m.at(i-1) == "==" || m.at(i-1) == "!="):
		all = append(append(all, replace(s, is)), m.rewritten(nullForms, func(_, last int) bool { return last == i })...)
	case is != "" && (call || m.at(i-1) != "." && slices.Contains(rootNames, is)):
		all = append(all, replace(s, is))
	}
	return all
}

// elsewhereEdits returns edits for an unknown name that has no counterpart of the same form.
func (m *fixer) elsewhereEdits(name string) (all [][]Edit) {
	i := m.nameToken()
	if i < 0 {
		return nil
	}
	call := m.at(i+1) == "("
	all = m.rewritten(callForms, func(first, last int) bool { return first <= i && i <= last })
	all = append(all, m.foreignCall(i)...)
	switch name {
	case "containsKey", "hasKey", "has_key", "hasOwnProperty", "has", "includes":
		all = append(all, m.presenceEdits()...)
	case "exists":
		if call && m.at(i-1) != "." {
			all = append(all, replace(m.tokenSpan(i, i), "has"))
		}
	case "range":
		all = append(all, m.conditionEdits()...)
	case "unique", "isUnique", "uniqueItems", "hasDuplicates", "distinct":
		all = append(all, m.uniqueEdit(i)...)
	}
	if IsLoop(renamedOr(name)) && call {
		all = append(all, m.variableEdit(i)...)
	}
	if call && m.at(i-1) != "." { // matches('a') for self.matches('a')
		all = append(all, []Edit{{m.tokens[i].Start, m.tokens[i].Start, types.Self + "."}})
	}
	return all
}

func (m *fixer) selectionEdits() (all [][]Edit) {
	i := m.nameToken()
	if i < 1 {
		return nil
	}
	all = m.elsewhereEdits(m.at(i))
	if from := m.operandFirst(i - 2); from >= 0 && m.at(from) == "has" && m.at(i-2) == ")" { // has(x).y is has(x) && x.y
		all = append(all, wrap(m.tokenSpan(i-2, i-2), "", " && "+m.part(from+2, i-3)))
	}
	all = append(all, m.intoMacro(i))
	if m.at(i-1) == "." && m.at(i+1) == "." && (IsLoop(m.at(i+2)) || slices.Contains(ofLists, m.at(i+2))) {
		all = append(all, replace(m.tokenSpan(i-1, i), m.ofEach("", ".map", "", "."+m.at(i))))
	}
	return all
}

// intoMacro moves the comparison of a field, whose name is token i, into the exists() or find() from which it is
// selected: list.exists(e, e.a).b == 1 is list.exists(e, e.a && e.b == 1).
func (m *fixer) intoMacro(i int) []Edit {
	open := -1
	if m.at(i-1) == "." && m.at(i-2) == ")" {
		open = lex.Opening(m.tokens, i-2)
	}
	if open < 3 || m.at(open-1) != "exists" && m.at(open-1) != "find" || m.at(open+2) != "," {
		return nil
	}
	end := m.operandEnd(i)
	if comparisons[m.at(end+1)] {
		end = m.operandEnd(end + 2)
	}
	from := m.operandFirst(open - 3)
	if or := m.next(open, "||", "?"); end < 0 || or >= 0 && or < i || from < 0 || m.at(from-1) == "!" {
		return nil
	}
	text := m.part(from, open-2) + "exists(" + m.part(open+1, i-3) + " && " + m.at(open+1) + "." + m.part(i, end) + ")"
	return replace(m.tokenSpan(from, end), text)
}

// uniqueEdit rewrites list.unique(), where unique is token i, as a macro. Items that list.map selects are compared
// in the list itself. A comparison of the sizes of the list with and without duplicates is replaced as a whole.
func (m *fixer) uniqueEdit(i int) [][]Edit {
	from := m.operandFirst(i - 2)
	if from < 0 {
		return nil
	}
	end := i
	if m.at(i+1) == "(" && m.at(i+2) == ")" {
		end = i + 2
	}
	list, key := m.part(from, i-2), ""
	if opened := lex.Opening(m.tokens, i-2); opened > from+2 && m.at(opened-1) == "map" && m.at(opened+2) == "," {
		variable := m.at(opened + 1)
		if rest, ok := strings.CutPrefix(m.part(opened+3, i-3), variable+"."); ok {
			list, key = m.part(from, opened-3), "."+rest
		}
	}
	x, y := m.variable("x"), m.variable("y")
	text := fmt.Sprintf("%s.all(%s, %s.exists_one(%s, %s == %s))", list, x, list, y, y+key, x+key)
	first, last, not := m.sizesOf(from, end, m.part(from, i-2))
	if first < 0 {
		return nil
	}
	return [][]Edit{replace(m.tokenSpan(first, last), not+text)}
}

// variableEdit adds the variable to the macro call at token i: the first name in it that is not declared,
// or e.
func (m *fixer) variableEdit(i int) [][]Edit {
	at, end := m.tokens[i+1].End, m.closing(i+1)
	if end == i+3 && slices.Contains(m.known(), m.at(i+2)) { // list.all(isCIDR)
		return [][]Edit{replace(m.tokenSpan(i+2, i+2), "e, "+m.at(i+2)+"(e)")}
	}
	var fields []string // of the items
	if i > 0 && m.at(i-1) == "." {
		fields = m.names(string(m.src[:m.tokens[i-1].Start]) + "[0].")
	}
	for j := i + 2; j < end; j++ {
		if m.isBare(j) && !slices.Contains(typeNames, m.at(j)) && (m.at(j+1) == "." || !slices.Contains(fields, m.at(j))) {
			return [][]Edit{{{at, at, m.at(j) + ", "}}, {{at, at, "e, "}}}
		}
	}
	return [][]Edit{{{at, at, "e, "}}}
}

// pathEdits corrects a path whose name does not exist: a level too many or too few, or old for oldSelf.
func (m *fixer) pathEdits() (all [][]Edit) {
	i := m.nameToken()
	if i < 0 {
		return nil
	}
	if m.isBare(i) && len(m.owners(i)) == 0 {
		if path := m.context.fieldElsewhere(types.Self, m.at(i)); path != "" && !strings.Contains(path, ".metadata.") {
			return [][]Edit{replace(m.tokenSpan(i, i), path)}
		}
	}
	from := m.operandFirst(i - 2)
	if m.at(i-1) != "." || from < 0 {
		return nil
	}
	name, of := m.at(i), m.part(from, i-2)
	if of == types.Self && slices.Contains([]string{"old", "oldSelf", "previous"}, name) {
		all = append(all, m.pathEverywhere(i, types.OldSelf))
	}
	isStep := func(step engine.Step) bool { return step.Name == name }
	if (of == types.Self || of == types.OldSelf) && slices.ContainsFunc(m.context.around.steps, isStep) {
		all = append(all, m.pathEverywhere(i, of))
	}
	if path := m.context.fieldElsewhere(of, name); path != "" && !strings.Contains(path, ".metadata.") {
		all = append(all, replace(m.tokenSpan(from, i), path))
	}
	return all
}

// pathEverywhere replaces the selection that ends at token i, such as self.old, by a variable wherever it occurs.
func (m *fixer) pathEverywhere(i int, variable string) (all []Edit) {
	for j := 2; j < len(m.tokens); j++ {
		if m.at(j) == m.at(i) && m.at(j-1) == "." && m.at(j-2) == m.at(i-2) && m.at(j-3) != "." {
			all = append(all, replace(m.tokenSpan(j-2, j), variable)...)
		}
	}
	return all
}

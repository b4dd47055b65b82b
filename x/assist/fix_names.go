package assist

import (
	"strings"

	"github.com/celadon-cel/celadon/types"
)

// renamed maps names from other languages to their CEL names.
var renamed = map[string]string{
	"length": "size", "len": "size", "count": "size",
	"any": "exists", "some": "exists", "anyMatch": "exists", "every": "all", "forall": "all", "forAll": "all", "forEach": "all", "foreach": "all",
	"one": "exists_one", "select": "filter", "where": "filter",
	"toLowerCase": "lowerAscii", "toLower": "lowerAscii", "lower": "lowerAscii", "lowercase": "lowerAscii",
	"toUpperCase": "upperAscii", "toUpper": "upperAscii", "upper": "upperAscii", "uppercase": "upperAscii",
	"match": "matches", "regex": "matches", "test": "matches", "substr": "substring", "strip": "trim", "hasPrefix": "startsWith", "hasSuffix": "endsWith",
	"str": "string", "toString": "string", "parseInt": "int", "toInt": "int", "integer": "int", "number": "double", "float": "double", "boolean": "bool", "typeof": "type",
	"None": "null", "nil": "null", "undefined": "null", "NULL": "null", "Null": "null", "TRUE": "true", "FALSE": "false", "True": "true", "False": "false",
	"this": types.Self, "object": types.Self, "obj": types.Self, "value": types.Self, "resource": types.Self, "oldObject": types.OldSelf, "old": types.OldSelf,
}

// emptinessTests maps emptiness tests from other languages to the comparison that CEL needs after size().
var emptinessTests = map[string]string{"isEmpty": "== 0", "empty": "== 0", "notEmpty": "> 0", "nonEmpty": "> 0", "isNotEmpty": "> 0"}

// nameEdits returns edits that replace an unknown name by each of names.
func (m *fixer) nameEdits(names []string) (all [][]Edit) {
	i := m.nameToken()
	if i < 0 {
		return nil
	}
	for _, name := range names {
		s := m.tokenSpan(i, i)
		if written, ok := types.Unescape(name); ok && written != name && strings.HasPrefix(string(m.src[s.Start:]), written) {
			s.End = s.Start + len([]rune(written))
		}
		all = append(all, replace(s, name), replace(s, name+"()"))
		if every := m.nameEverywhere(m.at(i), name); s.End == m.tokens[i].End && len(every) > 1 {
			all = append(all, every)
		}
	}
	return all
}

// nameEverywhere returns edits that replace every occurrence of a name that does not follow a dot.
func (m *fixer) nameEverywhere(was, is string) (all []Edit) {
	for i, t := range m.tokens {
		if m.isName(i) && t.Text == was && m.at(i-1) != "." && m.at(i-1) != ".?" {
			all = append(all, Edit{t.Start, t.End, is})
		}
	}
	return all
}

// nameToken returns the index of the token with the name that the error is about, or -1.
func (m *fixer) nameToken() int {
	if match := unknownName.FindStringSubmatch(m.text); match != nil {
		return m.tokenOf(match[1])
	}
	for i := m.token; i < len(m.tokens); i++ {
		if m.isName(i) {
			return i
		}
	}
	return -1
}

// elsewhereEdits returns edits that replace a name from another language by its CEL counterpart.
func (m *fixer) elsewhereEdits(name string) (all [][]Edit) {
	i := m.nameToken()
	if i < 0 {
		return nil
	}
	is, call := renamed[name], m.at(i+1) == "("
	s := m.tokenSpan(i, i)
	switch {
	case is != "" && m.at(i-1) == "." && call && m.at(i+2) == ")":
		all = append(all, replace(s, is))
		if from := m.operandStart(i); from >= 0 { // x.toString() is string(x)
			all = append(all, []Edit{{m.tokens[from].Start, m.tokens[from].Start, is + "("}, {m.tokens[i-1].Start, m.tokens[i+1].End, ""}})
		}
	case is != "" && m.at(i-1) == "." && !call:
		all = append(all, replace(s, is+"()"))
	case is != "":
		all = append(all, replace(s, is))
	}
	if against := emptinessTests[name]; against != "" && m.at(i-1) == "." {
		end := i
		if call && m.at(i+2) == ")" {
			end = i + 2
		}
		text := replace(m.tokenSpan(i, end), "size() "+against)
		all = append(all, text)
		if from := m.operandStart(i); from >= 0 {
			at := m.tokens[from].Start
			all = append(all, []Edit{{at, at, "("}, {text[0].Start, text[0].End, text[0].Text + ")"}})
		}
	}
	if name == "containsKey" || name == "hasKey" || name == "has_key" || name == "hasOwnProperty" {
		all = append(all, m.keyEdit(i)...)
	}
	return all
}

// operandStart returns the index of the first token of a method's receiver, or -1; i is the
// method's name.
func (m *fixer) operandStart(i int) int {
	if i < 2 {
		return -1
	}
	return m.operandFirst(i - 2)
}

// keyEdit rewrites m.containsKey(k) as k in m.
func (m *fixer) keyEdit(i int) [][]Edit {
	from := m.operandStart(i)
	if from < 0 || m.at(i+1) != "(" {
		return nil
	}
	end := m.operandEnd(i)
	if end < i+3 || m.at(end) != ")" {
		return nil
	}
	of, key := m.textOf(m.tokenSpan(from, i-2)), m.textOf(m.tokenSpan(i+2, end-1))
	whole := m.tokenSpan(from, end)
	return [][]Edit{replace(whole, key+" in "+of), replace(whole, "("+key+" in "+of+")")}
}

// selectionEdits returns edits for a field selection on a value that has no fields.
func (m *fixer) selectionEdits() (all [][]Edit) {
	i := m.nameToken()
	if i < 1 {
		return nil
	}
	all = m.elsewhereEdits(m.at(i))
	if m.at(i-1) == "." {
		all = append(all, replace(m.tokenSpan(i-1, i-1), ".?"))
	}
	return all
}

package assist

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
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
	"lessThan": "isLessThan", "lt": "isLessThan", "greaterThan": "isGreaterThan", "gt": "isGreaterThan", "compare": "compareTo", "cmp": "compareTo",
	"plus": "add", "minus": "sub", "subtract": "sub",
	"host": "getHost", "hostname": "getHostname", "scheme": "getScheme", "protocol": "getScheme", "port": "getPort", "path": "getEscapedPath", "query": "getQuery",
	"seconds": "getSeconds", "minutes": "getMinutes", "hours": "getHours", "year": "getFullYear", "month": "getMonth", "day": "getDayOfMonth",
	"includes": "contains", "trimSpace": "trim", "indexof": "indexOf", "regexMatch": "matches", "distinctBy": "distinct",
	"defined": "has", "isset": "has", "present": "has", "exist": "has", "hasField": "has",
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
		return m.tokenOf(strings.TrimPrefix(match[1], "."))
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
	if nameHints[name] == "" {
		all = append(all, m.enumEdits()...)
	}
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
	switch name {
	case "containsKey", "hasKey", "has_key", "hasOwnProperty", "has", "includes":
		all = append(all, m.keyEdit(i)...)
		all = append(all, m.hasEdits(i)...)
	case "exists", "print", "println", "assert", "require", "console", "echo", "return":
		all = append(all, m.bareEdits(i)...)
	case "range":
		all = append(all, m.conditionEdits()...)
	case "unique", "isUnique", "uniqueItems", "hasDuplicates", "distinct":
		all = append(all, m.uniqueEdit(i)...)
	case "immutable", "isImmutable", "unchanged", "isUnchanged", "readOnly", "readonly":
		all = append(all, m.comparisonEdit(i, "==")...)
	case "changed", "isChanged":
		all = append(all, m.comparisonEdit(i, "!=")...)
	}
	if i > 0 && m.at(i-1) == "." {
		if path := m.context.fieldElsewhere(m.operandPath(i-2), name); path != "" {
			if from := m.operandFirst(i - 2); from >= 0 {
				all = append(all, replace(m.tokenSpan(from, i), path))
			}
		}
	}
	if IsLoop(name) && call {
		all = append(all, m.variableEdit(i)...)
	}
	if strings.HasPrefix(name, ".") {
		all = append(all, []Edit{{s.Start - 1, s.Start - 1, types.Self}})
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
		all = append(all, replace(m.tokenSpan(i-1, i), ".map(e, e."+m.at(i)+")"))
		all = append(all, replace(m.tokenSpan(i-1, i-1), ".?"))
	}
	return all
}

// hasEdits rewrites x.has(name), where has is token i, as a call of the macro.
func (m *fixer) hasEdits(i int) (all [][]Edit) {
	from := m.operandStart(i)
	if from < 0 || m.at(i+1) != "(" {
		return nil
	}
	end := m.operandEnd(i)
	of, argument := m.part(from, i-2), m.part(i+2, end-1)
	whole := m.tokenSpan(from, end)
	if name := strings.Trim(argument, `'"`); name != "" {
		all = append(all, replace(whole, "has("+of+"."+name+")"))
	}
	return append(all, replace(whole, "has("+argument+")"))
}

// bareEdits replaces the call of a function that CEL does not have by a call of has or by its argument.
func (m *fixer) bareEdits(i int) [][]Edit {
	if m.at(i+1) != "(" || m.at(i-1) == "." {
		return nil
	}
	end := m.closing(i + 1)
	if end < 0 {
		return nil
	}
	if m.at(i) == "exists" {
		return [][]Edit{replace(m.tokenSpan(i, i), "has")}
	}
	return [][]Edit{replace(m.tokenSpan(i, end), m.part(i+2, end-1))}
}

// uniqueEdit rewrites list.unique(), where unique is token i, as a macro. Items that list.map selects are compared
// in the list itself.
func (m *fixer) uniqueEdit(i int) [][]Edit {
	from := m.operandStart(i)
	if from < 0 {
		return nil
	}
	end := i
	if m.at(i+1) == "(" && m.at(i+2) == ")" {
		end = i + 2
	}
	list, key := m.part(from, i-2), ""
	if opened := m.opened(i - 2); opened > from+2 && m.at(opened-1) == "map" && m.at(opened+2) == "," {
		variable := m.at(opened + 1)
		if rest, ok := strings.CutPrefix(m.part(opened+3, i-3), variable+"."); ok {
			list, key = m.part(from, opened-3), "."+rest
		}
	}
	return [][]Edit{replace(m.tokenSpan(from, end), list+".all(x, "+list+".exists_one(y, y"+key+" == x"+key+"))")}
}

// comparisonEdit rewrites self.a.immutable(), where immutable is token i, or immutable(self.a), as a
// comparison with oldSelf.
func (m *fixer) comparisonEdit(i int, operator string) [][]Edit {
	first, last, path := m.operandStart(i), i, ""
	switch {
	case first >= 0 && m.at(i+1) == "(" && m.at(i+2) == ")":
		last, path = i+2, m.part(first, i-2)
	case first >= 0:
		path = m.part(first, i-2)
	case m.at(i+1) == "(" && m.closing(i+1) > i+2:
		first, last = i, m.closing(i+1)
		path = m.part(i+2, last-1)
	default:
		return nil
	}
	if path != types.Self && !strings.HasPrefix(path, types.Self+".") {
		return nil
	}
	text := path + " " + operator + " " + types.OldSelf + strings.TrimPrefix(path, types.Self)
	if first > 0 || last < len(m.tokens)-1 {
		text = "(" + text + ")"
	}
	return [][]Edit{replace(m.tokenSpan(first, last), text)}
}

// opened returns the index of the bracket that the token i closes, or -1.
func (m *fixer) opened(i int) int {
	depth := 0
	for ; i >= 0; i-- {
		if depth += lex.Depth(m.tokens[i]); depth == 0 {
			return i
		}
	}
	return -1
}

// variableEdit adds the variable to the macro call at token i. Its name is the first name of the condition
// that is not declared, or e.
func (m *fixer) variableEdit(i int) [][]Edit {
	at := m.tokens[i+1].End
	variable := "e"
	if i+2 < len(m.tokens) && m.isName(i+2) && m.at(i+2) != types.Self && m.at(i+3) != "(" {
		variable = m.at(i + 2)
	}
	return [][]Edit{{{at, at, variable + ", "}}}
}

// operandPath returns the text of the operand that ends with token i if it consists of names and dots.
func (m *fixer) operandPath(i int) string {
	from := m.operandFirst(i)
	if from < 0 {
		return ""
	}
	return m.part(from, i)
}

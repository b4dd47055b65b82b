package assist

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/types"
)

// typeNames are names of types, which are also names of fields that authors write without self.
var typeNames = []string{"type", "string", "int", "uint", "double", "bool", "bytes", "list", "map", "null_type"}

// maxOwned limits how many names of an expression are looked up among the fields of variables.
const maxOwned = 40

// variablesAt returns the variables of the macros around token i, the innermost first.
func (f *fault) variablesAt(i int) (all []string) {
	depth := 0
	for at := i - 1; at >= 3; at-- {
		depth += lex.Depth(f.tokens[at])
		if depth <= 0 {
			continue
		}
		depth = 0
		if f.at(at) == "(" && IsLoop(renamedOr(f.at(at-1))) && f.at(at-2) == "." && f.isName(at+1) && f.at(at+2) == "," && i > at+2 {
			all = append(all, f.at(at+1))
		}
	}
	return all
}

// isBare reports whether token i is a name that is neither declared nor selected nor called. Names of
// functions and types count as not declared.
func (f *fault) isBare(i int) bool {
	if !f.isName(i) || f.at(i+1) == "(" || f.at(i+1) == ":" && f.at(i-1) != "?" || f.selected(i) || f.at(i) == "in" {
		return false
	}
	if IsLoop(renamedOr(f.at(i-2))) && f.at(i-1) == "(" && f.at(i+1) == "," {
		return false // the variable of a macro
	}
	name := f.at(i)
	declared := slices.Contains(f.known(), name) && !f.isFunction(name)
	return slices.Contains(typeNames, name) || !declared && !slices.Contains(f.variablesAt(i), name)
}

func (f *fault) isFunction(name string) bool {
	env := f.context.env()
	return env != nil && env.HasFunction(name)
}

// isBareCall reports whether token i is the name of a method after a dot that follows nothing.
func (f *fault) isBareCall(i int) bool {
	return f.isName(i) && f.at(i-1) == "." && !f.selected(i) && f.at(i+1) == "("
}

func (f *fault) selected(i int) bool {
	dot := f.at(i-1) == "." || f.at(i-1) == ".?"
	return dot && i >= 2 && lex.EndsOperand(f.tokens[i-2])
}

// owners returns the variables at token i that have a field with its name, the innermost first. It
// considers oldSelf only if the expression has it.
func (f *fault) owners(i int) (all []string) {
	start := f.tokens[i].Start
	if f.at(i-1) == "." {
		start = f.tokens[i-1].Start
	}
	variables := append(f.variablesAt(i), types.Self)
	if slices.ContainsFunc(f.tokens, func(t lex.Token) bool { return t.Text == types.OldSelf }) {
		variables = append(variables, types.OldSelf)
	}
	for _, v := range variables {
		if slices.Contains(f.names(string(f.src[:start])+v+"."), f.at(i)) {
			all = append(all, v)
		}
	}
	return all
}

func (f *fault) ownedBy(i int, variable string) Edit {
	t := f.tokens[i]
	if f.at(i-1) == "." {
		return Edit{f.tokens[i-1].Start, f.tokens[i-1].Start, variable}
	}
	return Edit{t.Start, t.Start, variable + "."}
}

// If several variables have a field with the name, each alternative of ownerEdits uses one of them.
func (m *fixer) ownerEdits() (all [][]Edit) {
	owners, choices := map[int][]string{}, []string(nil)
	for i := range m.tokens {
		switch {
		case len(owners) == maxOwned:
		case m.isBareCall(i):
			owners[i] = []string{types.Self}
		case m.isBare(i):
			owners[i] = m.owners(i)
		}
		if len(owners[i]) > 1 {
			choices = append(choices, owners[i]...)
		}
	}
	if len(choices) == 0 {
		choices = []string{types.Self}
	}
	for n, v := range choices {
		if slices.Contains(choices[:n], v) {
			continue
		}
		var edits []Edit
		for _, i := range slices.Sorted(maps.Keys(owners)) {
			if of := owners[i]; slices.Contains(of, v) {
				edits = append(edits, m.ownedBy(i, v))
			} else if len(of) == 1 {
				edits = append(edits, m.ownedBy(i, of[0]))
			}
		}
		all = append(all, edits)
	}
	return all
}

// textEdits quotes the unknown name that the error is about, if it may be a text. certain is set if the name is one of
// the values that the text can have.
func (m *fixer) textEdits() (edits []Edit, certain bool) {
	i := m.nameToken()
	if i < 0 || !m.plainName(i) || foreignName(m.at(i)).is == types.Self || foreignName(m.at(i)).is == types.OldSelf {
		return nil, false
	}
	edits = replace(m.tokenSpan(i, i), "'"+m.at(i)+"'")
	other, ok := m.comparedWith(i)
	switch {
	case m.at(i-1) == "||" && i > 3 && m.at(i-3) == "==" && m.tokens[i-2].Kind == lex.String && len(m.owners(i)) == 0:
		return edits, false // another text to compare with
	case !ok:
		return nil, false
	case other.schema != nil && len(other.schema.Enum) > 0:
		for _, v := range other.schema.Enum {
			if string(v.Raw) == `"`+m.at(i)+`"` {
				return edits, true
			}
		}
		return nil, false
	case foreignName(m.at(i)).is == "null":
		return nil, false
	case other.decl != nil && other.decl.Kind != types.String && other.decl.Kind != types.IntOrString, len(m.owners(i)) > 0:
		return nil, false
	}
	return edits, false
}

// comparedWith returns the operand with which token i is compared, or nothing if i is a key of a map. ok
// is false if it is not compared.
func (m *fixer) comparedWith(i int) (other referent, ok bool) {
	first, last := -1, -1
	isEquality := func(op string) bool { return op == "==" || op == "!=" }
	switch {
	case isEquality(m.at(i-1)) && i >= 2:
		first, last = m.operandFirst(i-2), i-2
	case isEquality(m.at(i+1)) && i+2 < len(m.tokens):
		first, last = i+2, m.operandEnd(i+2)
	case m.at(i+1) == "in" && i+2 < len(m.tokens): // a key of a map
		other = m.referentOf(m.tokenSpan(i+2, m.operandEnd(i+2)))
		return referent{}, other.decl != nil && other.decl.Kind == types.Map
	case m.at(i-1) == "[" || m.at(i-1) == ",":
		open := i - 1
		for ; open > 0 && m.at(open) != "["; open-- {
			if !slices.Contains([]string{",", "["}, m.at(open)) && m.tokens[open].Kind != lex.String && !m.isName(open) {
				return referent{}, false
			}
		}
		if m.at(open-1) != "in" || open < 2 {
			return referent{}, false
		}
		first, last = m.operandFirst(open-2), open-2
	}
	if first < 0 || last < first {
		return referent{}, false
	}
	return m.referentOf(m.tokenSpan(first, last)), true
}

func (m *fixer) referentOf(s Span) referent {
	if m.nodes == nil {
		return referent{}
	}
	v := m.context.view(m.context.env(), m.nodes, func(e ast.Expr) bool {
		at, ok := m.span(e)
		return ok && at == s
	})
	if len(v.path) == 0 {
		return referent{}
	}
	return v.expr(v.path[len(v.path)-1])
}

// presenceOf returns the test for the presence of an operand that is used as a condition, or "". It reports false if
// the operand may be absent and is tested elsewhere, so that either its presence or its content can be meant.
func (m *fixer) presenceOf(of operandPart) (test string, known bool) {
	if of.e.Kind() != ast.SelectKind || isTest(of.e) {
		return "", true
	}
	v, field := m.context.viewOf(m.nodes, of.e), of.e.AsSelect()
	if len(v.path) == 0 || v.expr(field.Operand()).decl == nil || v.always(field) {
		return "", true
	}
	test = "has(" + strings.TrimPrefix(m.textOf(of.Span), "!!") + ")"
	if strings.Contains(string(m.src), test) {
		return "", false
	}
	return test, true
}

package assist

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/types"
)

// A word describes an operator, a keyword, or a name of another language by its counterpart in CEL and a hint. Each may
// be "".
type word struct{ is, hint string }

//go:embed words.txt
var wordTexts string

var foreignWords = sync.OnceValue(func() map[string]map[string]word {
	all, section := map[string]map[string]word{}, ""
	for line := range strings.Lines(wordTexts) {
		line = strings.TrimSpace(line)
		columns := append(strings.Split(line, "\t"), "", "")
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case line[0] == '[':
			section = line
			all[section] = map[string]word{}
		default:
			for _, text := range strings.Fields(columns[0]) {
				all[section][text] = word{columns[1], columns[2]}
			}
		}
	}
	return all
})

func foreignOperator(text string) word { return foreignWords()["[operators]"][text] }
func foreignKeyword(text string) word  { return foreignWords()["[keywords]"][text] }
func foreignName(text string) word     { return foreignWords()["[names]"][text] }

// NameHint returns the hint for a name or keyword that other languages use, or "".
func NameHint(name string) string { return cmp.Or(foreignName(name).hint, foreignKeyword(name).hint) }

func hasHintOf(name string, others ...string) bool {
	isSame := func(other string) bool { return foreignName(name).hint == foreignName(other).hint }
	return slices.ContainsFunc(others, isSame)
}

func (f *fault) unknown(name string) Advice {
	i := f.tokenOf(strings.TrimPrefix(name, "."))
	if i < 0 {
		return Advice{}
	}
	t := f.tokens[i]
	behindDot := !strings.HasPrefix(name, ".") && (f.at(i-1) == "." || f.at(i-1) == ".?")
	call := f.at(i+1) == "("
	if words := f.manyArguments(name, i, call); words != "" {
		if call {
			f.code = NoOverload
		}
		return Advice{Words: words}
	}
	if call && behindDot && slices.Contains(f.names(string(f.src[:t.Start])), name) {
		return Advice{Words: f.arguments(name, i)}
	}
	if call && hasHintOf(name, "unique") && f.countsDistinct(i) {
		return Advice{Words: f.as(UnknownFunction, f.distinct())}
	}
	if words := f.hiddenField(name, i); words != "" {
		if words == onlyName {
			return Advice{Words: f.as(HiddenMetadata, words)}
		}
		return Advice{Words: f.as(OutsideSelf, words)}
	}
	if f.isBare(i) {
		if owners := f.owners(i); len(owners) > 0 {
			for i := range owners {
				owners[i] += "." + strings.TrimPrefix(name, ".")
			}
			return Advice{Names: owners}
		}
	}
	near := f.nearest(name, t.Start)
	if len(near) == 0 && f.isBare(i) {
		near = f.nearField(i)
	}
	if len(near) > 0 {
		return Advice{Names: near}
	}
	if strings.HasPrefix(name, ".") {
		return Advice{Words: f.as(OutsideSelf, "an expression starts with a variable: write self"+name)}
	}
	if words := f.elsewhere(name, i); words != "" {
		return Advice{Words: f.as(OutsideSelf, words)}
	}
	if !behindDot && !call {
		if text := foreignKeyword(name).hint; text != "" {
			return Advice{Words: f.as(UnknownOperator, text)}
		}
	}
	switch words := foreignName(name).hint; {
	case behindDot && !call && words != "" && !hasHintOf(name, "length", "isEmpty", "unique", "immutable"):
		return Advice{} // an unknown field rather than a function
	case hasHintOf(name, "now") && call && f.at(i+2) != ")":
		return Advice{Words: f.as(UnknownFunction, "use timestamp('2030-01-31T00:00:00Z')")}
	case hasHintOf(name, "request"):
		return Advice{Words: f.as(PolicyVariable, words)}
	case hasHintOf(name, "now"):
		return Advice{Words: f.as(NoClock, words)}
	case words != "":
		return Advice{Words: f.as(UnknownFunction, words)}
	case f.plainName(i) && f.at(i+1) != "[" && len(f.tokens) > 1:
		return Advice{Words: f.as(UnquotedText, fmt.Sprintf("a string needs quotes: '%s'", name))}
	}
	return Advice{}
}

func (f *fault) nearField(i int) (all []string) {
	before := string(f.src[:f.tokens[i].Start])
	for _, v := range append(f.variablesAt(i), types.Self) {
		if near := spell.Near(f.at(i), f.names(before+v+".")); len(near) == 1 && len(f.at(i)) > 2 {
			all = append(all, v+"."+near[0])
		}
	}
	return all
}

func (f *fault) elsewhere(name string, i int) string {
	if f.at(i+1) == "(" {
		return ""
	}
	of := types.Self
	if f.at(i-1) == "." {
		of = f.operand(i-2, "")
	}
	if path := f.context.fieldElsewhere(of, name); path != "" && !strings.Contains(path, ".metadata.") {
		return "the field is " + path
	}
	return ""
}

// macros holds the macros whose first argument is a variable.
var macros = []string{"all", "exists", "exists_one", "existsOne", "filter", "map", "sortBy", "transformList", "transformMap", "transformMapEntry", "optMap", "optFlatMap"}

// IsLoop reports whether name is a macro with a variable.
func IsLoop(name string) bool { return slices.Contains(macros, name) }

// arguments returns a hint for a call of a macro without its variable, or "" for a call of another function.
func (f *fault) arguments(name string, i int) string {
	if !slices.Contains(macros, name) {
		return ""
	}
	list := f.operand(i-2, "list")
	return fmt.Sprintf("the first argument of a macro is its variable: %s.%s(e, …)", list, name)
}

// tokenOf returns the index of the identifier name that is nearest to the error, or -1.
func (f *fault) tokenOf(name string) int {
	best, apart := -1, 0
	for i, t := range f.tokens {
		d := max(t.Start-f.offset, f.offset-t.Start)
		if t.Kind == lex.Ident && t.Text == name && (best < 0 || d < apart) {
			best, apart = i, d
		}
	}
	return best
}

// asWritten returns the escaped form of the field name that text begins with, for example for
// namespace or a-b. It returns "" if no known field matches.
func asWritten(known []string, text string) (ident string) {
	longest := 0
	for _, candidate := range known {
		name, ok := types.Unescape(candidate)
		rest, isPrefix := strings.CutPrefix(text, name)
		if ok && name != candidate && len(name) > longest && isPrefix && !startsWithLetter(rest) {
			ident, longest = candidate, len(name)
		}
	}
	return ident
}

func startsWithLetter(text string) bool { return text != "" && lex.LetterOrDigit(rune(text[0])) }

func (f *fault) selection(text string) Advice {
	i := f.token
	for i < len(f.tokens) && !f.isName(i) {
		i++
	}
	if i >= len(f.tokens) {
		return Advice{}
	}
	name, start := f.tokens[i].Text, f.tokens[i].Start
	if slices.Contains(f.names(string(f.src[:start])), name) {
		return Advice{Names: []string{name + "()"}}
	}
	typ, _, _ := strings.Cut(strings.TrimPrefix(text, "type '"), "' does not support")
	operand := f.operand(i-2, "x")
	switch k := kindOf(typ); {
	case slices.Contains(f.indexes(), operand):
		return Advice{Words: fmt.Sprintf(countsItems, operand)}
	case k == kindBool && f.at(i-2) == ")":
		return Advice{Words: fmt.Sprintf("a condition has no fields: test %s in the macro, list.exists(e, e.name == 'a' && e.%s == 1)", name, name)}
	case foreignName(name).hint != "" && f.at(i+1) != "(" && (k != kindList || hasHintOf(name, "length", "isEmpty", "unique")):
		return Advice{Words: foreignName(name).hint}
	case k == kindList:
		return Advice{Words: fmt.Sprintf("%s is a list: select a field of one element, %s[0].%s, or of each, %s.all(e, e.%s …)", operand, operand, name, operand, name)}
	case k == kindOptional:
		return Advice{Words: fmt.Sprintf("%s is an optional: continue with .?%s, or end with .orValue(…)", operand, name)}
	case k != kindObject:
		return Advice{Words: fmt.Sprintf("%s is %s: it has no fields", operand, k)}
	}
	return Advice{}
}

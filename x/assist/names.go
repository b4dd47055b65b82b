package assist

import (
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/types"
)

// elsewhere maps names from other languages to hints about their CEL counterparts.
var elsewhere = map[string]string{
	"length": sizeOf, "len": sizeOf, "count": sizeOf,
	"isEmpty": empty, "empty": empty, "notEmpty": empty, "nonEmpty": empty,
	"any": "want list.exists(e, e > 0)", "some": "want list.exists(e, e > 0)", "anyMatch": "want list.exists(e, e > 0)",
	"every": "want list.all(e, e > 0)", "forall": "want list.all(e, e > 0)", "forAll": "want list.all(e, e > 0)",
	"forEach": loop, "foreach": loop, "for": loop, "while": loop,
	"one": "want list.exists_one(e, e > 0)", "select": "want list.filter(e, e > 0)", "where": "want list.filter(e, e > 0)",
	"toLowerCase": "want .lowerAscii()", "toLower": "want .lowerAscii()", "lower": "want .lowerAscii()", "lowercase": "want .lowerAscii()",
	"toUpperCase": "want .upperAscii()", "toUpper": "want .upperAscii()", "upper": "want .upperAscii()", "uppercase": "want .upperAscii()",
	"match": pattern, "regex": pattern, "regexp": pattern, "test": pattern, "re": pattern,
	"substr": "want text.substring(0, 3)", "strip": "want text.trim()", "hasPrefix": "want text.startsWith('a')", "hasSuffix": "want text.endsWith('a')",
	"toString": "want string(value)", "str": "want string(value)", "parseInt": "want int(text)", "toInt": "want int(text)", "integer": "want int(text)", "number": "want double(text)", "float": "want double(text)", "boolean": "want bool(text)",
	"hasKey": key, "containsKey": key, "has_key": key, "hasOwnProperty": key, "hasField": "want has(self.name)", "defined": "want has(self.name)", "exist": "want has(self.name)",
	"keys": "a map's macros go over its keys: want self.labels.all(k, k != '')", "values": "want self.labels.all(k, v, v != ''), or self.labels.all(k, self.labels[k] != '')",
	"equals": "compare with ==", "eq": "compare with ==",
	"concat": "join texts and lists with +", "append": "join lists with +", "push": "join lists with +",
	"now": clock, "today": clock, "time": clock, "date": clock,
	"typeof": "want type(value)", "instanceof": "want type(value) == string", "isinstance": "want type(value) == string",
	"None": null, "nil": null, "undefined": null, "NULL": null, "Null": null,
	"TRUE": "want true", "FALSE": "want false",
	"this": "the value is called self", "object": "the value is called self", "obj": "the value is called self", "value": "the value is called self", "resource": "the value is called self",
	"oldObject": "the value before the change is called oldSelf", "old": "the value before the change is called oldSelf",
	"request": admissionOnly, "params": admissionOnly, "namespaceObject": admissionOnly, "authorizer": admissionOnly, "variables": admissionOnly,
}

const (
	sizeOf        = "want size(), of a text, a list or a map"
	empty         = "want size() == 0, or size() > 0"
	pattern       = "want text.matches('^[a-z]+$')"
	key           = "want 'key' in self.labels"
	clock         = "a rule knows no clock: the same object must always get the same answer"
	null          = "want null; to ask whether a field is there: has(self.name)"
	admissionOnly = "rules of a CRD know self and oldSelf only; this is of admission policies"
)

// unknown returns advice for an unknown name.
func (f *fault) unknown(name string) Advice {
	i := f.tokenOf(name)
	if i < 0 {
		return Advice{}
	}
	t := f.tokens[i]
	behindDot := f.at(i-1) == "." || f.at(i-1) == ".?"
	call := f.at(i+1) == "("
	if call && behindDot && f.names != nil && slices.Contains(f.names(string(f.src[:t.Start])), name) {
		return Advice{Words: f.arguments(name, i)}
	}
	if near := f.nearest(name, t.Start); len(near) > 0 {
		return Advice{Names: near}
	}
	if !behindDot && f.names != nil && !call {
		if fields := f.names("self."); slices.Contains(fields, name) {
			return Advice{Names: []string{"self." + name}}
		}
		if text := words[name]; text != "" {
			return Advice{Words: text}
		}
	}
	return Advice{Words: elsewhere[name]}
}

// macros holds the macros whose first argument is a variable.
var macros = []string{"all", "exists", "exists_one", "existsOne", "filter", "map", "sortBy", "transformList", "transformMap", "transformMapEntry", "optMap", "optFlatMap"}

// IsLoop reports whether name is that of a macro with a variable.
func IsLoop(name string) bool { return slices.Contains(macros, name) }

// arguments returns a hint for a call of an existing function with unsuitable arguments.
func (f *fault) arguments(name string, i int) string {
	if !slices.Contains(macros, name) {
		return ""
	}
	list := f.operand(i-2, "list")
	return fmt.Sprintf("a macro names its variable, then a comma: %s.%s(e, …)", list, name)
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
		if ok && name != candidate && len(name) > longest && strings.HasPrefix(text, name) {
			ident, longest = candidate, len(name)
		}
	}
	return ident
}

// selection returns advice for a field selection on a value that has no fields.
func (f *fault) selection(text string) Advice {
	i := f.token
	for i < len(f.tokens) && !f.isName(i) {
		i++
	}
	if i >= len(f.tokens) {
		return Advice{}
	}
	name, start := f.tokens[i].Text, f.tokens[i].Start
	if f.names != nil && slices.Contains(f.names(string(f.src[:start])), name) {
		return Advice{Names: []string{name + "()"}}
	}
	typ, _, _ := strings.Cut(strings.TrimPrefix(text, "type '"), "' does not support")
	what := f.operand(i-2, "x")
	switch k := kindOf(typ); {
	case elsewhere[name] != "" && f.at(i+1) != "(":
		return Advice{Words: elsewhere[name]}
	case k == kindList:
		return Advice{Words: fmt.Sprintf("%s is a list: want a field of one element, %s[0].%s, or of each, %s.all(e, e.%s …)", what, what, name, what, name)}
	case k == kindOptional:
		return Advice{Words: fmt.Sprintf("%s is an optional: go on with .?%s, or end it with .orValue(…)", what, name)}
	case k != kindObject:
		return Advice{Words: fmt.Sprintf("%s is %s: it has no fields", what, k)}
	}
	return Advice{}
}

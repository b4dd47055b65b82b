package assist

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/types"
)

// NameHint returns the hint for a name or keyword that other languages use, or "".
func NameHint(name string) string { return cmp.Or(nameHints[name], wordHints[name]) }

// nameHints maps names from other languages to hints about their CEL counterparts.
var nameHints = map[string]string{
	"length": sizeOf, "len": sizeOf, "count": sizeOf,
	"isEmpty": empty, "empty": empty, "notEmpty": empty, "nonEmpty": empty,
	"any": "use list.exists(e, e > 0)", "some": "use list.exists(e, e > 0)", "anyMatch": "use list.exists(e, e > 0)",
	"every": "use list.all(e, e > 0)", "forall": "use list.all(e, e > 0)", "forAll": "use list.all(e, e > 0)",
	"forEach": loop, "foreach": loop, "for": loop, "while": loop,
	"one": "use list.exists_one(e, e > 0)", "select": "use list.filter(e, e > 0)", "where": "use list.filter(e, e > 0)",
	"toLowerCase": "use .lowerAscii()", "toLower": "use .lowerAscii()", "lower": "use .lowerAscii()", "lowercase": "use .lowerAscii()",
	"toUpperCase": "use .upperAscii()", "toUpper": "use .upperAscii()", "upper": "use .upperAscii()", "uppercase": "use .upperAscii()",
	"match": pattern, "regex": pattern, "regexp": pattern, "test": pattern, "re": pattern,
	"substr": "use text.substring(0, 3)", "strip": "use text.trim()", "hasPrefix": "use text.startsWith('a')", "hasSuffix": "use text.endsWith('a')",
	"toString": "use string(value)", "str": "use string(value)", "parseInt": "use int(text)", "toInt": "use int(text)", "integer": "use int(text)", "number": "use double(text)", "float": "use double(text)", "boolean": "use bool(text)",
	"hasKey": key, "containsKey": key, "has_key": key, "hasOwnProperty": key, "hasField": "use has(self.name)", "defined": "use has(self.name)", "exist": "use has(self.name)",
	"keys": "macros on a map iterate over its keys: self.labels.all(k, k != '')", "values": "use self.labels.all(k, v, v != ''), or self.labels.all(k, self.labels[k] != '')",
	"equals": "use == to compare", "eq": "use == to compare",
	"concat": "use + to join strings and lists", "append": "use + to join lists", "push": "use + to join lists",
	"now": clock, "today": clock, "time": clock, "date": clock,
	"typeof": "use type(value)", "instanceof": "use type(value) == string", "isinstance": "use type(value) == string",
	"None": null, "nil": null, "undefined": null, "NULL": null, "Null": null,
	"TRUE": "use true", "FALSE": "use false",
	"unique": unique, "isUnique": unique, "uniqueItems": unique, "hasDuplicates": unique,
	"immutable": immutable, "isImmutable": immutable, "unchanged": immutable, "isUnchanged": immutable, "readOnly": immutable, "readonly": immutable, "changed": immutable, "isChanged": immutable,
	"range": rangeOf, "between": rangeOf, "isBetween": rangeOf, "inRange": rangeOf,
	"abs": noMath, "math": noMath, "pow": noMath, "round": noMath, "floor": noMath, "ceil": noMath, "sqrt": noMath,
	"print": noOutput, "println": noOutput, "console": noOutput, "echo": noOutput, "assert": "a rule is its condition: leave out assert", "require": "a rule is its condition: leave out require",
	"find": "use list.exists(e, e > 0), or list.filter(e, e > 0)", "none": "use !list.exists(e, e > 0)",
	"containsAll": subset, "isSubsetOf": subset, "uniqueBy": unique, "toSet": unique, "set": unique, "get": key,
	"oneOf": counting, "exactlyOne": counting, "onlyOne": counting, "atMostOne": counting, "atLeastOne": counting, "anyOf": counting,
	"strings": "functions of strings are methods: use text.startsWith('a')", "isPresent": "use has(self.name)", "isSet": "use has(self.name)",
	"has": "has is a macro: has(self.name) for a field, 'key' in self.labels for a map", "isset": "use has(self.name)", "present": "use has(self.name)", "exists": "use has(self.name) for a field, or list.exists(e, e > 0)",
	"lessThan": "use isLessThan", "greaterThan": "use isGreaterThan", "includes": "use text.contains('a'), or 'a' in list for a list",
	"host": "use getHost()", "hostname": "use getHostname()", "scheme": "use getScheme()", "port": "use getPort()", "seconds": "use getSeconds()", "minutes": "use getMinutes()", "hours": "use getHours()", "year": "use getFullYear()",
	"this": "the value is called self", "object": "the value is called self", "obj": "the value is called self", "value": "the value is called self", "resource": "the value is called self",
	"oldObject": "the value before the change is called oldSelf", "old": "the value before the change is called oldSelf",
	"request": admissionOnly, "params": admissionOnly, "namespaceObject": admissionOnly, "authorizer": admissionOnly, "variables": admissionOnly,
}

const (
	noMath        = "rules have no such function; CEL has + - * / %, comparisons, and [a, b].min() and .max()"
	rangeOf       = "use 1 <= x && x <= 5 for a range"
	sizeOf        = "use size(), which takes a string, a list, or a map"
	empty         = "use size() == 0 or size() > 0"
	pattern       = "use text.matches('^[a-z]+$')"
	key           = "use 'key' in self.labels"
	unique        = "use list.all(x, list.exists_one(y, y == x)), or x-kubernetes-list-type: set, or map with keys"
	immutable     = "compare with the value before the change: self.name == oldSelf.name"
	noOutput      = "expressions have no output; write the condition alone"
	clock         = "rules have no clock: the same object must always get the same verdict"
	subset        = "use a.all(e, e in b)"
	counting      = "count the conditions that hold: use [has(self.a), has(self.b)].filter(x, x).size() == 1"
	null          = "use null; to test whether a field is present, use has(self.name)"
	admissionOnly = "CRD rules can use only self and oldSelf; this variable belongs to admission policies"
)

func (f *fault) unknown(name string) Advice {
	i := f.tokenOf(strings.TrimPrefix(name, "."))
	if i < 0 {
		return Advice{}
	}
	t := f.tokens[i]
	behindDot := !strings.HasPrefix(name, ".") && (f.at(i-1) == "." || f.at(i-1) == ".?")
	call := f.at(i+1) == "("
	if call && behindDot && slices.Contains(f.names(string(f.src[:t.Start])), name) {
		return Advice{Words: f.arguments(name, i)}
	}
	if words := f.hiddenField(name, i); words != "" {
		if words == onlyName {
			return Advice{Words: f.as(HiddenMetadata, words)}
		}
		return Advice{Words: f.as(OutsideSelf, words)}
	}
	if f.isBare(i) {
		if owners := f.owners(i); len(owners) > 0 {
			return Advice{Names: qualified(owners, strings.TrimPrefix(name, "."))}
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
		if text := wordHints[name]; text != "" {
			return Advice{Words: f.as(UnknownOperator, text)}
		}
	}
	switch words := nameHints[name]; {
	case behindDot && !call && !slices.Contains([]string{"", sizeOf, empty, unique, immutable}, words):
		return Advice{} // an unknown field rather than a function
	case words == clock && call && f.at(i+2) != ")":
		return Advice{Words: f.as(UnknownFunction, "use timestamp('2030-01-31T00:00:00Z')")}
	case words == admissionOnly:
		return Advice{Words: f.as(PolicyVariable, words)}
	case words == clock:
		return Advice{Words: f.as(NoClock, words)}
	case words != "":
		return Advice{Words: f.as(UnknownFunction, words)}
	case f.plainName(i) && f.at(i+1) != "[" && len(f.tokens) > 1:
		return Advice{Words: f.as(UnquotedText, fmt.Sprintf("a string needs quotes: '%s'", name))}
	}
	return Advice{}
}

// nearField returns the fields of variables at token i that are similar to its name.
func (f *fault) nearField(i int) (all []string) {
	before := string(f.src[:f.tokens[i].Start])
	for _, v := range append(f.variablesAt(i), types.Self) {
		if near := spell.Near(f.at(i), f.names(before+v+".")); len(near) == 1 && len(f.at(i)) > 2 {
			all = append(all, v+"."+near[0])
		}
	}
	return all
}

// qualified returns a name selected from each variable.
func qualified(variables []string, name string) (all []string) {
	for _, v := range variables {
		all = append(all, v+"."+name)
	}
	return all
}

// elsewhere returns a hint for a field that self has at another path, or "".
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

// arguments returns a hint for a call of an existing function with unsuitable arguments.
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

// startsWithLetter reports whether text begins with a character of a name.
func startsWithLetter(text string) bool { return text != "" && lex.LetterOrDigit(rune(text[0])) }

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
	case nameHints[name] != "" && f.at(i+1) != "(" && (k != kindList || slices.Contains([]string{sizeOf, empty, unique}, nameHints[name])):
		return Advice{Words: nameHints[name]}
	case k == kindList:
		return Advice{Words: fmt.Sprintf("%s is a list: select a field of one element, %s[0].%s, or of each, %s.all(e, e.%s …)", operand, operand, name, operand, name)}
	case k == kindOptional:
		return Advice{Words: fmt.Sprintf("%s is an optional: continue with .?%s, or end with .orValue(…)", operand, name)}
	case k != kindObject:
		return Advice{Words: fmt.Sprintf("%s is %s: it has no fields", operand, k)}
	}
	return Advice{}
}

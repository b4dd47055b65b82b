package assist

import (
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
)

// The codes of mistakes. Index describes each.
const (
	Syntax             = "syntax"
	UnknownOperator    = "unknown-operator"
	NoIf               = "no-if"
	UnknownFunction    = "unknown-function"
	UnquotedLiteral    = "unquoted-literal"
	UnquotedText       = "unquoted-text"
	BadEscape          = "bad-escape"
	BadQuote           = "bad-quote"
	Unclosed           = "unclosed"
	SeveralExpressions = "several-expressions"
	UnknownField       = "unknown-field"
	UnknownName        = "unknown-name"
	HiddenMetadata     = "hidden-metadata"
	OutsideSelf        = "outside-self"
	PolicyVariable     = "policy-variable"
	NoClock            = "no-clock"
	NoOverload         = "no-overload"
	MixedTypes         = "mixed-types"
	OrderedByMethod    = "ordered-by-method"
	NotACondition      = "not-a-condition"
	OptionalValue      = "optional-value"
	NeverNull          = "never-null"
	NoFields           = "no-fields"
	HasArgument        = "has-argument"
	InvalidPattern     = "invalid-pattern"
	WrongType          = "wrong-type"
	UnguardedField     = "unguarded-field"
	OverLimit          = "over-limit"
	AbsentField        = "absent-field"
	IndexRange         = "index-range"
	DivisionByZero     = "division-by-zero"
	EmptyOptional      = "empty-optional"
	InvalidValue       = "invalid-value"
	UnquotedRule       = "unquoted-rule"
)

// codeOf returns the code of a message of the checker without its position, or "".
func codeOf(text string) string {
	for _, of := range []struct{ part, code string }{
		{"Syntax error: ", Syntax},
		{"reserved identifier: ", UnknownOperator},
		{"undefined field ", UnknownField},
		{"undeclared reference to ", UnknownName},
		{noOverload, NoOverload},
		{"expected type '", MixedTypes},
	} {
		if strings.HasPrefix(text, of.part) {
			return of.code
		}
	}
	if strings.Contains(text, "does not support field selection") || strings.HasPrefix(text, noResolution) {
		return NoFields
	}
	return ""
}

// An Entry describes a kind of mistake.
type Entry struct {
	Code string
	// Server is the message of the API server, with … for its variable parts.
	Server string
	// Cause explains the mistake in one or two sentences, with code in backticks.
	Cause string
	// Example is a rule with the mistake for the CRD of a database, and Fixed a rule without it. Both are
	// "" if the mistake is outside the expression. Fixed is "" if no rule of a CRD can have this effect.
	Example, Fixed string
}

// Find returns the entry with a code.
func Find(code string) (Entry, bool) {
	for _, e := range Index() {
		if e.Code == code {
			return e, true
		}
	}
	return Entry{}, false
}

// Index returns the index of errors, in the order in which the API server finds them.
func Index() []Entry {
	return []Entry{
		{UnquotedRule, "rule is not specified", "YAML reads a rule without quotes as something else: as a tag if it begins with `!`; as an alias, anchor, list, mapping, or string if it begins with `*`, `&`, `[`, `{`, or a quote; as a mapping if it contains a colon and a space; and only up to a `#` after a space. Put the rule in quotes, or on the lines after `rule: |`.", "", ""},
		{Syntax, "Syntax error: …", "The rule is not a CEL expression: an operand, an operator, or a bracket is missing or in the wrong position.", "self.spec.replicas > 1 &&", "self.spec.replicas > 1 && self.spec.replicas < 5"},
		{UnknownOperator, "Syntax error: token recognition error at: '…'", "The operator or keyword belongs to another language. CEL has `&&`, `||`, `!`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `+`, `-`, `*`, `/`, `%`, `in`, and `?:`.", "self.spec.paused and self.spec.replicas = 1", "self.spec.paused && self.spec.replicas == 1"},
		{NoIf, "reserved identifier: if", "CEL has no `if`. A conditional expression, `a ? b : c`, has two values of the same type. An implication is written with `||` and `!`.", "if self.spec.paused then self.spec.replicas == 1", "!self.spec.paused || self.spec.replicas == 1"},
		{UnquotedLiteral, "Syntax error: extraneous input '…' expecting <EOF>", "Quantities, durations, dates, versions, and addresses are not numbers: a function makes them from a string.", "self.spec.storage.size > 10Gi", `quantity(self.spec.storage.size).isGreaterThan(quantity("10Gi"))`},
		{BadEscape, "Syntax error: token recognition error at: '…'", "A backslash in a string starts an escape sequence. In a raw string, which starts with `r`, a backslash is a character.", `self.spec.engine.matches('^\S+$')`, `self.spec.engine.matches(r'^\S+$')`},
		{BadQuote, "Syntax error: token recognition error at: '…'", "Strings are quoted by `'` or `\"`, and strings of several lines by three of them.", "self.spec.engine == `postgres`", "self.spec.engine == 'postgres'"},
		{Unclosed, "Syntax error: missing ')' at '<EOF>'", "A bracket or string is not closed, or a closing bracket has no counterpart.", "self.spec.users.exists(u, u.name == 'admin'", "self.spec.users.exists(u, u.name == 'admin')"},
		{SeveralExpressions, "Syntax error: token recognition error at: ';'", "A rule is a single expression. Join conditions with `&&`, or write a rule for each, with its own message.", "self.spec.replicas > 1; self.spec.replicas < 5", "self.spec.replicas > 1 && self.spec.replicas < 5"},
		{UnknownField, "undefined field '…'", "The schema has no such field at this path. Fields that only `x-kubernetes-preserve-unknown-fields` keeps are not visible to rules.", "self.spec.replcas > 1", "self.spec.replicas > 1"},
		{UnknownName, "undeclared reference to '…' (in container '')", "No variable or function of this Kubernetes version has this name. Rules have the variables `self` and `oldSelf`; macros declare others.", "slef.spec.replicas > 1", "self.spec.replicas > 1"},
		{UnquotedText, "undeclared reference to '…' (in container '')", "A word without quotes is the name of a variable.", "self.spec.engine == postgres", "self.spec.engine == 'postgres'"},
		{UnknownFunction, "undeclared reference to '…' (in container '')", "The function has another name in CEL, or CEL does not have it.", "len(self.spec.users) > 0", "size(self.spec.users) > 0"},
		{HiddenMetadata, "undefined field '…'", "Of `metadata`, rules see only `name` and `generateName`. To restrict namespaces, labels, or annotations, write an admission policy, which sees the whole object: `object.metadata.namespace != 'default'`.", "self.metadata.namespace != 'default'", ""},
		{OutsideSelf, "undefined field '…'", "`self` is the value at the path of the rule. A rule that compares two fields belongs to an object that contains both.", "self.replicas > 1", "self.spec.replicas > 1"},
		{PolicyVariable, "undeclared reference to 'request' (in container '')", "CRD rules see only the object. Move the expression to a ValidatingAdmissionPolicy, which also sees the request, the user, the namespace, and params.", "request.userInfo.username != 'admin'", ""},
		{NoClock, "undeclared reference to 'now' (in container '')", "Rules have no clock, because the same object must always get the same verdict. Compare with a fixed time or another field, or check the time in the controller.", "self.spec.started < now()", "self.spec.started < timestamp('2030-01-01T00:00:00Z')"},
		{NoOverload, "found no matching overload for '…' applied to '(…)'", "The operator or function does not take values of these types.", "self.spec.engine - 'a' == 'b'", "self.spec.engine.replace('a', '') == 'b'"},
		{MixedTypes, "found no matching overload for '_==_' applied to '(…, …)'", "Both operands must have the same type, and so must all items of a list and both values of a conditional expression.", "self.spec.paused == 'true'", "self.spec.paused == true"},
		{OrderedByMethod, "found no matching overload for '_<_' applied to '(kubernetes.Quantity, kubernetes.Quantity)'", "Quantities and versions are compared by methods: `isLessThan`, `isGreaterThan`, and `compareTo`, which returns -1, 0, or 1. Quantities are added by `add` and `sub`.", "quantity(self.spec.storage.size) >= quantity('1Gi')", "quantity(self.spec.storage.size).compareTo(quantity('1Gi')) >= 0"},
		{NotACondition, "expected type 'bool' but found '…'", "CEL does not convert values to conditions: compare them.", "!self.spec.replicas", "self.spec.replicas == 0"},
		{OptionalValue, "found no matching overload for '_==_' applied to '(optional_type(…), …)'", "After `.?` or `[?…]`, a value is an optional: end with `.orValue(…)`, or test `.hasValue()`.", "self.spec.?paused", "self.spec.?paused.orValue(false)"},
		{NeverNull, "found no matching overload for '_==_' applied to '(…, null)'", "A field without `nullable` is never null. Test with `has()` whether it is present.", "self.spec.url == null", "!has(self.spec.url)"},
		{NoFields, "type '…' does not support field selection", "Only objects have fields. Select items of a list by an index, or visit them with a macro.", "self.spec.users.name.all(n, n != '')", "self.spec.users.map(e, e.name).all(n, n != '')"},
		{HasArgument, "invalid argument to has() macro", "The argument of `has()` is a field. Test for a key of a map with `in`, and for an item of a list with `size()`.", "has(self.spec.labels['a'])", "'a' in self.spec.labels"},
		{InvalidPattern, "invalid matches argument", "The pattern is invalid. Patterns have the syntax of RE2, which has no lookahead, lookbehind, or backreference.", "self.spec.engine.matches('[a-z')", "self.spec.engine.matches('[a-z]')"},
		{WrongType, "cel expression must evaluate to a bool", "A rule must be true or false, and a `messageExpression` a string.", "size(self.spec.users)", "size(self.spec.users) != 0"},
		{UnguardedField, "no such key: …", "A field that is not required can be absent, and reading it then is an error, which rejects the object.", "self.spec.url.startsWith('https://')", "!has(self.spec.url) || self.spec.url.startsWith('https://')"},
		{OverLimit, "estimated rule cost exceeds budget by factor of …", "The estimate assumes the largest values that the schema accepts. Set `maxItems`, `maxProperties`, and `maxLength`: `celadon vet` names the missing bounds, and `celadon vet --fix` adds them.", "", ""},
		{AbsentField, "no such key: …", "The object does not have a field or key that the rule reads. Test a key with `in`, or read it as an optional.", "self.spec.labels['team'] != ''", "self.spec.labels[?'team'].orValue('') != ''"},
		{IndexRange, "index out of bounds: …", "The list has no such item. Indexes start at 0.", "self.spec.users[0].name == 'admin'", "size(self.spec.users) > 0 && self.spec.users[0].name == 'admin'"},
		{DivisionByZero, "division by zero", "The divisor is 0 in this object.", "100 / size(self.spec.users) > 10", "size(self.spec.users) == 0 || 100 / size(self.spec.users) > 10"},
		{EmptyOptional, "optional.none() dereference", "The optional has no value in this object: give it a default with `orValue`.", "self.spec.?url.value() != ''", "self.spec.?url.orValue('') != ''"},
		{InvalidValue, "type conversion error from 'string' to '…'", "The string does not have the form of such a value. Test it with `isQuantity`, `isSemver`, `isURL`, `isIP`, or `isCIDR`, or restrict it with a `pattern` or `format` in the schema, which is checked first.", "quantity(self.spec.storage.size).isGreaterThan(quantity('0'))", "isQuantity(self.spec.storage.size) && quantity(self.spec.storage.size).isGreaterThan(quantity('0'))"},
	}
}

// Failure returns advice on an expression that compiles but fails for an object with this message.
func Failure(src, text string) Advice {
	if name, ok := strings.CutPrefix(text, "no such key: "); ok {
		return Advice{Code: AbsentField, Words: absent(src, name)}
	}
	if m := numberAsText.FindStringSubmatch(text); m != nil {
		return Advice{Code: InvalidValue, Words: "the value is a number in this object, and can also be a string: write " + m[1] + "(string(…))"}
	}
	switch {
	case negativeIndex.MatchString(text):
		return Advice{Code: IndexRange, Words: "indexes start at 0; the last element of a non-empty list is list[size(list) - 1]"}
	case strings.HasPrefix(text, "index out of bounds: "):
		return Advice{Code: IndexRange, Words: "test first: size(list) > " + strings.TrimPrefix(text, "index out of bounds: ") + " && …"}
	case text == "division by zero" || text == "modulus by zero":
		return Advice{Code: DivisionByZero, Words: "test first: x != 0 && …"}
	case strings.HasPrefix(text, "optional.none() dereference"):
		return Advice{Code: EmptyOptional, Words: "use .orValue(…), or test .hasValue() first"}
	}
	for part, test := range invalidValues {
		if strings.Contains(text, part) {
			return Advice{Code: InvalidValue, Words: "test first: " + test + " && …"}
		}
	}
	return Advice{}
}

// invalidValues maps a part of each conversion error to an expression that tests the string before it is converted.
var invalidValues = map[string]string{
	"quantities must match": "isQuantity(text)", "Major.Minor.Patch": "isSemver(text)", "Invalid character(s) found in": "isSemver(text)",
	"URL parse error": "isURL(text)", "IP Address": "isIP(text)", "network address parse error": "isCIDR(text)", "time: invalid duration": "text.matches(r'^([0-9.]+(h|m|s|ms))+$')",
}

// numberAsText matches the error of a function that takes a string, for an x-kubernetes-int-or-string that is a
// number.
var numberAsText = lazy.New(`^no such overload: (quantity|semver|duration|ip|cidr|url)\((?:int|double)\)`)

var negativeIndex = lazy.New(`^index out of bounds: -\d`)

// absent returns a hint for the first read of the field or key in src, which it quotes, or "" if it finds
// no such read.
func absent(src, name string) string {
	tokens := lex.Tokens([]rune(src))
	for i, t := range tokens {
		if i < 2 || tokens[i-1].Text != "." || t.Kind != lex.Ident || t.Text != name {
			continue
		}
		first := lex.Operand(tokens, i)
		if first < 0 || t.End-tokens[first].Start > maxQuoted {
			continue
		}
		path := lex.Flat(string([]rune(src)[tokens[first].Start:t.End]))
		base := strings.TrimSuffix(path, "."+name)
		if base == path {
			continue
		}
		return fmt.Sprintf("test first: has(%s) && …; or use %s.?%s.orValue(…)", path, base, name)
	}
	for i, t := range tokens {
		if t.Kind == lex.String && i > 0 && tokens[i-1].Text == "[" && len(t.Text) > 2 && t.Text[1:len(t.Text)-1] == name {
			return fmt.Sprintf("test first: %s in map && …; or use [?%s].orValue(…)", t.Text, t.Text)
		}
	}
	return ""
}

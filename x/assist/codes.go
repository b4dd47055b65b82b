package assist

import "strings"

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
	// Cause explains the mistake in one or two sentences.
	Cause string
	// Example is a rule with the mistake for the CRD of a database, and Fixed the same rule without it. Fixed is "" if
	// no rule can have this effect.
	Example, Fixed string
}

// Find returns the entry with a code.
func Find(code string) (Entry, bool) {
	for _, e := range index() {
		if e.Code == code {
			return e, true
		}
	}
	return Entry{}, false
}

// Index returns the index of errors, in the order in which the API server finds them.
func Index() []Entry { return index() }

func index() []Entry {
	return []Entry{
		{UnquotedRule, "rule is not specified", "YAML reads a rule without quotes as something else: as a tag if it begins with !, as an alias, anchor, list, mapping, or string if it begins with *, &, [, {, or a quote, as a mapping if it contains a colon and a space, and only up to a # after a space. Put the rule in quotes, or on the lines after rule: |.", "", ""},
		{Syntax, "Syntax error: …", "The text is not a CEL expression.", "self.spec.replicas > 1 &&", ""},
		{UnknownOperator, "Syntax error: token recognition error at: '…'", "The operator or keyword belongs to another language. CEL has && || ! == != < <= > >= + - * / % in and ?:.", "self.spec.paused and self.spec.replicas = 1", "self.spec.paused && self.spec.replicas == 1"},
		{NoIf, "reserved identifier: if", "CEL has no if. A conditional expression has two values of the same type; an implication is written with || and !.", "if self.spec.paused then self.spec.replicas == 1", "!self.spec.paused || self.spec.replicas == 1"},
		{UnquotedLiteral, "Syntax error: extraneous input '…' expecting <EOF>", "Quantities, durations, dates, versions, and addresses are not numbers: a function makes them from text.", "self.spec.storage.size > 10Gi", `quantity(self.spec.storage.size).isGreaterThan(quantity("10Gi"))`},
		{BadEscape, "Syntax error: token recognition error at: '…'", "A backslash in a string starts an escape sequence. In a raw string, which starts with r, a backslash is a character.", `self.spec.engine.matches('^\S+$')`, `self.spec.engine.matches(r'^\S+$')`},
		{BadQuote, "Syntax error: token recognition error at: '…'", "Strings are quoted by ' or \", and three of them for strings of several lines.", "self.spec.engine == `postgres`", "self.spec.engine == 'postgres'"},
		{Unclosed, "Syntax error: missing ')' at '<EOF>'", "A bracket or string is not closed, or a closing bracket has no counterpart.", "self.spec.users.exists(u, u.name == 'admin'", "self.spec.users.exists(u, u.name == 'admin')"},
		{SeveralExpressions, "Syntax error: token recognition error at: ';'", "A rule is a single expression. Conditions are joined by && or are rules of their own, which have messages of their own.", "self.spec.replicas > 1; self.spec.replicas < 5", "self.spec.replicas > 1 && self.spec.replicas < 5"},
		{UnknownField, "undefined field '…'", "The schema has no such field at this place. Fields that only x-kubernetes-preserve-unknown-fields keeps are not visible to rules.", "self.spec.replcas > 1", "self.spec.replicas > 1"},
		{UnknownName, "undeclared reference to '…' (in container '')", "No variable or function has this name in the Kubernetes version. Rules have self and oldSelf; macros declare variables.", "slef.spec.replicas > 1", "self.spec.replicas > 1"},
		{UnquotedText, "undeclared reference to '…' (in container '')", "A word without quotes is the name of a variable.", "self.spec.engine == postgres", "self.spec.engine == 'postgres'"},
		{UnknownFunction, "undeclared reference to '…' (in container '')", "The function has another name in CEL, or CEL does not have it.", "len(self.spec.users) > 0", "size(self.spec.users) > 0"},
		{HiddenMetadata, "undefined field '…'", "Of the metadata, rules see only name and generateName, because labels and annotations are for everyone to set. An admission policy sees the whole object.", "self.metadata.namespace != 'default'", ""},
		{OutsideSelf, "undefined field '…'", "self is the value at the place of the rule. A rule that compares two fields belongs to a place above both.", "self.replicas > 1", "self.spec.replicas > 1"},
		{PolicyVariable, "undeclared reference to 'request' (in container '')", "CRD rules see only the object. A ValidatingAdmissionPolicy also sees the request, the user, the namespace, and params.", "request.userInfo.username != 'admin'", ""},
		{NoClock, "undeclared reference to 'now' (in container '')", "Rules have no clock, because the same object must always get the same verdict.", "self.spec.started < now()", ""},
		{NoOverload, "found no matching overload for '…' applied to '(…)'", "The operator or function does not take values of these types.", "self.spec.engine - 'a' == 'b'", ""},
		{MixedTypes, "found no matching overload for '_==_' applied to '(…, …)'", "Both operands must have the same type, and so must all items of a list and both values of a conditional expression.", "self.spec.paused == 'true'", "self.spec.paused == true"},
		{OrderedByMethod, "found no matching overload for '_<_' applied to '(kubernetes.Quantity, kubernetes.Quantity)'", "Quantities and versions are compared by methods: isLessThan, isGreaterThan, and compareTo, which returns -1, 0, or 1. Quantities are added by add and sub.", "quantity(self.spec.storage.size) >= quantity('1Gi')", "quantity(self.spec.storage.size).compareTo(quantity('1Gi')) >= 0"},
		{NotACondition, "expected type 'bool' but found '…'", "CEL does not convert values to conditions: compare them.", "!self.spec.replicas", "self.spec.replicas == 0"},
		{OptionalValue, "found no matching overload for '_==_' applied to '(optional_type(…), …)'", "After .? or [?…] a value is an optional: end with .orValue(…), or test .hasValue().", "self.spec.?paused", "self.spec.?paused.orValue(false)"},
		{NeverNull, "found no matching overload for '_==_' applied to '(…, null)'", "A field without nullable is never null. Test whether it is present by has().", "self.spec.url == null", "!has(self.spec.url)"},
		{NoFields, "type '…' does not support field selection", "Only objects have fields. Items of a list are selected by an index or visited by a macro.", "self.spec.users.name.all(n, n != '')", "self.spec.users.map(e, e.name).all(n, n != '')"},
		{HasArgument, "invalid argument to has() macro", "has() takes a field. For a key of a map there is in, for an item of a list size().", "has(self.spec.labels['a'])", "'a' in self.spec.labels"},
		{InvalidPattern, "invalid matches argument", "The pattern is invalid. Patterns have the syntax of RE2, which has no lookahead, lookbehind, or backreference.", "self.spec.engine.matches('[a-z')", "self.spec.engine.matches('[a-z]')"},
		{WrongType, "cel expression must evaluate to a bool", "A rule must be true or false, and a messageExpression a string.", "size(self.spec.users)", "size(self.spec.users) != 0"},
		{UnguardedField, "no such key: …", "A field that is not required can be absent, and reading it then is an error, which rejects the object.", "self.spec.url.startsWith('https://')", "!has(self.spec.url) || self.spec.url.startsWith('https://')"},
		{OverLimit, "estimated rule cost exceeds budget by factor of …", "The estimate assumes the largest values that the schema accepts. Bounds such as maxItems and maxLength make it smaller.", "", ""},
		{AbsentField, "no such key: …", "The object does not have a field or key that the rule reads.", "", ""},
		{IndexRange, "index out of bounds: …", "The list has no such item. Indexes start at 0.", "", ""},
		{DivisionByZero, "division by zero", "The divisor is 0 in this object.", "", ""},
		{EmptyOptional, "optional.none() dereference", "The optional has no value in this object.", "", ""},
		{InvalidValue, "type conversion error from 'string' to '…'", "The text cannot be read as such a value. isQuantity, isSemver, isURL, isIP, and isCIDR test it, and a schema's pattern or format rejects it before.", "", ""},
	}
}

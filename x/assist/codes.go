package assist

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
)

// The codes of mistakes. See Index.
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

// An Entry describes a kind of mistake.
type Entry struct {
	Code string
	// Server is the message of the API server, with … for its variable parts.
	Server string
	// Cause explains the mistake, with code in backticks.
	Cause string
	// Example is a rule with the mistake, and Fixed a rule without it. Each can be empty.
	Example, Fixed string
}

// Find returns the entry with a code.
func Find(code string) (Entry, bool) {
	for _, e := range codeIndex() {
		if e.Code == code {
			return e, true
		}
	}
	return Entry{}, false
}

//go:embed codes.txt
var codeTexts string

// Index returns the index of errors.
func Index() []Entry { return slices.Clone(codeIndex()) }

var codeIndex = sync.OnceValue(func() (all []Entry) {
	for lines := range entries(codeTexts) {
		e := Entry{Code: lines[0], Server: lines[1], Cause: lines[2]}
		for _, line := range lines[3:] {
			if src, ok := strings.CutPrefix(line, "> "); ok {
				e.Example = src
			} else {
				e.Fixed = strings.TrimPrefix(line, "= ")
			}
		}
		all = append(all, e)
	}
	return all
})

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
		return Advice{Code: IndexRange, Words: "test size(list) > " + strings.TrimPrefix(text, "index out of bounds: ") + " first"}
	case text == "division by zero" || text == "modulus by zero":
		return Advice{Code: DivisionByZero, Words: "test x != 0 first"}
	case strings.HasPrefix(text, "optional.none() dereference"):
		return Advice{Code: EmptyOptional, Words: "use .orValue(…), or test .hasValue() first"}
	}
	for part, test := range invalidValues {
		if strings.Contains(text, part) {
			return Advice{Code: InvalidValue, Words: "test " + test + " first"}
		}
	}
	return Advice{}
}

// invalidValues maps parts of conversion errors to expressions that test the string before it is converted.
var invalidValues = map[string]string{
	"quantities must match": "isQuantity(text)", "Major.Minor.Patch": "isSemver(text)", "Invalid character(s) found in": "isSemver(text)",
	"URL parse error": "isURL(text)", "IP Address": "isIP(text)", "network address parse error": "isCIDR(text)", "time: invalid duration": "text.matches(r'^([0-9.]+(h|m|s|ms))+$')",
}

// numberAsText matches the error of a function that takes a string, for an x-kubernetes-int-or-string that is a
// number.
var numberAsText = lazy.New(`^no such overload: (quantity|semver|duration|ip|cidr|url)\((?:int|double)\)`)

var negativeIndex = lazy.New(`^index out of bounds: -\d`)

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
		return fmt.Sprintf("test has(%s) first, or use %s.?%s.orValue(…)", path, base, name)
	}
	for i, t := range tokens {
		if t.Kind == lex.String && i > 0 && tokens[i-1].Text == "[" && len(t.Text) > 2 && t.Text[1:len(t.Text)-1] == name {
			return fmt.Sprintf("test %s in map first, or use [?%s].orValue(…)", t.Text, t.Text)
		}
	}
	return ""
}

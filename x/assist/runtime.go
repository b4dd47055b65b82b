package assist

import (
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
)

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

// invalidValues maps parts of messages about text that cannot be converted to a test of the text.
var invalidValues = map[string]string{
	"quantities must match": "isQuantity(text)", "Major.Minor.Patch": "isSemver(text)", "Invalid character(s) found in": "isSemver(text)",
	"URL parse error": "isURL(text)", "IP Address": "isIP(text)", "network address parse error": "isCIDR(text)", "time: invalid duration": "text.matches(r'^([0-9.]+(h|m|s|ms))+$')",
}

// numberAsText matches the error of a function of text for an x-kubernetes-int-or-string that is a number.
var numberAsText = lazy.New(`^no such overload: (quantity|semver|duration|ip|cidr|url)\((?:int|double)\)`)

var negativeIndex = lazy.New(`^index out of bounds: -\d`)

// absent returns a hint for reading a field that the object does not have. It quotes the read in
// src.
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

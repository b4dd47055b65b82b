package ruletest

import (
	"regexp"
	"strings"
	"sync"
)

// Messages are compared literally. If that fails, a message that differs only in the printed value
// passes as well: up to Kubernetes 1.36 servers printed the type's name ("object"), newer servers
// print the value, or nothing for an object.

// older reports that messages are equal only apart from printed values.
type older bool

// olderRemark is the remark on such a case.
const olderRemark = "in the wording of an older server"

// contains reports whether text contains part.
func contains(text, part string, exact bool) (ok bool, by older) {
	if strings.Contains(text, part) {
		return true, false
	}
	if exact {
		return false, false
	}
	text, part = respelled(text), respelled(part)
	return strings.Contains(text, part) || strings.Contains(withoutValues(text), withoutValues(part)), true
}

// equals reports whether e matches a cause's message, or its detail.
func (e *expectedText) equals(message, detail string, exact bool) (ok bool, by older) {
	switch {
	case e.re != nil:
		return e.re.MatchString(message), false
	case e.text == message:
		return true, false
	case exact:
		return false, false
	case e.text == detail && detail != "":
		return true, false
	}
	return withoutValues(respelled(e.text)) == withoutValues(respelled(message)), true
}

// matches reports whether e matches text exactly.
func (e *expectedText) matches(text string) bool {
	ok, _ := e.equals(text, "", true)
	return ok
}

// shown matches the values that a server prints after words such as "Invalid value". A value is a
// quoted string, a number, a word, or a list or map as printed by Go or JSON, up to five levels
// deep. The expression is large and rarely needed, so it is compiled on first use.
var shown = sync.OnceValue(func() *regexp.Regexp {
	value := `(?:` + quoted + `|null|true|false|-?[0-9][0-9.e+-]*|` + nested(5) + `)`
	return regexp.MustCompile(`(Invalid value|Duplicate value|Unsupported value|Too long|Too many|Required value): ` + value + `(: |[,\]]|$)`)
})

var typePrefix = regexp.MustCompile(`^"(?:object|array|string|integer|number|boolean|null)": `)

const quoted = `"(?:[^"\\]|\\.)*"`

func nested(depth int) string {
	if depth == 0 {
		return `\{\}`
	}
	inner := `(?:` + quoted + `|[^][{}"]|` + nested(depth-1) + `)*`
	return `(?:(?:map\[[a-z]+\]|\[\])(?:interface \{\}|any|string))?(?:\{` + inner + `\}|\[` + inner + `\])`
}

// equivalentNotations lists replacements for equivalent notations: maps as printed by Go, and names of number
// types.
var equivalentNotations = []struct {
	pattern *regexp.Regexp
	to      string
}{
	{regexp.MustCompile(`map\[string\](?:interface \{\}|any)\{`), `{`},
	{regexp.MustCompile(`", "`), `","`},
	{regexp.MustCompile(`must be of type (?:int32|int64|integer)`), `must be of type integer`},
	{regexp.MustCompile(`"float64"`), `"number"`},
}

func respelled(text string) string {
	for _, s := range equivalentNotations {
		text = s.pattern.ReplaceAllString(text, s.to)
	}
	return text
}

// withoutValues returns text without printed values.
func withoutValues(text string) string {
	text = shown().ReplaceAllString(typePrefix.ReplaceAllString(text, ""), "$1: $2")
	return strings.ReplaceAll(text, ": : ", ": ")
}

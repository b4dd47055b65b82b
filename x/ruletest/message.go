package ruletest

import (
	"regexp"
	"strings"
	"sync"
)

// Texts are compared as they are. Where that fails, a text that differs only in the
// value that it shows of the object passes all the same: up to Kubernetes 1.36
// servers showed the type's name there ("object"), now they show the value itself, or
// nothing of an object.

// older is what compared texts are beyond being equal.
type older bool

// olderRemark is what such a case is told.
const olderRemark = "as an older server words it"

// contains is true of a text with another in it.
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

// equals is true of a cause's message that is expected: whole, or without the type
// and value before the detail.
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

// matches is equals for a text without parts.
func (e *expectedText) matches(text string) bool {
	ok, _ := e.equals(text, "", true)
	return ok
}

// shown are the values that a server shows: behind the words for a wrong one, or at
// the beginning of what is only a part of a message. A value is a text in quotes, a
// number or a word, or what Go or JSON shows of a list or map, up to five of them deep.
// It is large, and most programs never look at a message.
var shown = sync.OnceValue(func() *regexp.Regexp {
	value := `(?:` + quoted + `|null|true|false|-?[0-9][0-9.e+-]*|` + nested(5) + `)`
	return regexp.MustCompile(`(Invalid value|Duplicate value|Unsupported value|Too long|Too many|Required value): ` + value + `(: |[,\]]|$)`)
})

var torn = regexp.MustCompile(`^"(?:object|array|string|integer|number|boolean|null)": `)

const quoted = `"(?:[^"\\]|\\.)*"`

func nested(depth int) string {
	if depth == 0 {
		return `\{\}`
	}
	inner := `(?:` + quoted + `|[^][{}"]|` + nested(depth-1) + `)*`
	return `(?:(?:map\[[a-z]+\]|\[\])(?:interface \{\}|any|string))?(?:\{` + inner + `\}|\[` + inner + `\])`
}

// spelled are other words for the same: a map as Go shows it, and the names of a
// number's type.
var spelled = []struct {
	pattern *regexp.Regexp
	to      string
}{
	{regexp.MustCompile(`map\[string\](?:interface \{\}|any)\{`), `{`},
	{regexp.MustCompile(`", "`), `","`},
	{regexp.MustCompile(`must be of type (?:int32|int64|integer)`), `must be of type integer`},
	{regexp.MustCompile(`"float64"`), `"number"`},
}

func respelled(text string) string {
	for _, s := range spelled {
		text = s.pattern.ReplaceAllString(text, s.to)
	}
	return text
}

// withoutValues is a text without the values that it shows.
func withoutValues(text string) string {
	text = shown().ReplaceAllString(torn.ReplaceAllString(text, ""), "$1: $2")
	return strings.ReplaceAll(text, ": : ", ": ")
}

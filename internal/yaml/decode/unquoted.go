package decode

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	yaml2 "go.yaml.in/yaml/v2"
)

// An UnquotedError is an error of the YAML decoder, with the expression that is probably its cause.
type UnquotedError struct {
	Err error
	// Reason describes how YAML reads the expression, such as "a tag".
	Reason string
	// Quoted is the line with the expression in quotes, without indentation.
	Quoted string
}

func (e *UnquotedError) Error() string {
	return fmt.Sprintf("%s: YAML reads the expression as %s: quote it: %s", e.Err, e.Reason, e.Quoted)
}

// Unwrap returns the error of the decoder.
func (e *UnquotedError) Unwrap() error { return e.Err }

// expressionLine matches a line with the expression of a rule or policy: its indentation, key, and value.
var expressionLine = regexp.MustCompile(`^([ \t]*(?:- +)*)((?:rule|messageExpression|expression|valueExpression):[ \t]+)(.*?)[ \t]*\r?$`)

// unquoted returns err with the expression that has to be quoted, or err itself if quoting does not help.
func unquoted(text []byte, err error) error {
	var out bytes.Buffer
	var first *UnquotedError
	for line := range bytes.Lines(text) {
		m := expressionLine.FindSubmatch(bytes.TrimSuffix(line, []byte("\n")))
		reason := ""
		if m != nil {
			reason = misread(string(m[3]))
		}
		if reason == "" {
			out.Write(line)
			continue
		}
		quoted := string(m[2]) + Quoted(withoutQuotes(string(m[3])))
		fmt.Fprintf(&out, "%s%s\n", m[1], quoted)
		if first == nil {
			first = &UnquotedError{Err: err, Reason: reason, Quoted: quoted}
		}
	}
	var v any
	var typed *yaml2.TypeError
	if first == nil {
		return err
	}
	if again := yaml2.Unmarshal(out.Bytes(), &v); again != nil && !errors.As(again, &typed) {
		return err
	}
	return first
}

// quotesInside matches the beginning of a value in quotes with the same quotes inside, such as "self == "a"",
// which is not an expression.
var quotesInside = regexp.MustCompile(`^(?:"[^"]*"[\w"]|'[^']*'[\w'])`)

// withoutQuotes returns a value without the quotes around it, if it has quotes inside them as well.
func withoutQuotes(value string) string {
	if quotesInside.MatchString(value) && len(value) > 2 && value[len(value)-1] == value[0] {
		return value[1 : len(value)-1]
	}
	return value
}

// Misread returns the expression in line, the key and value of a rule, and the line with the expression in quotes.
// reason describes how YAML misreads the expression without an error: as a tag, or only up to a comment. Otherwise, it
// is "".
func Misread(line string) (expression, quoted, reason string) {
	m := expressionLine.FindStringSubmatch(line)
	if m == nil || m[3] == "" || strings.ContainsRune(`"'|>`, rune(m[3][0])) {
		return "", "", ""
	}
	switch {
	case m[3][0] == '!':
		reason = misreadStart['!']
	case strings.Contains(m[3], " #"):
		reason = "ending before the #, which begins a comment"
	}
	return m[3], m[2] + Quoted(m[3]), reason
}

// misread describes how YAML reads the value of an expression, or returns "" if YAML reads it as written.
func misread(value string) string {
	switch {
	case value == "" || blockHeader.MatchString(value):
		return ""
	case value[0] == '"' || value[0] == '\'':
		if quotedValue.MatchString(value) {
			return ""
		}
		return "a string in quotes with something after it"
	}
	if of := misreadStart[value[0]]; of != "" {
		return of
	}
	switch {
	case strings.Contains(value, ": ") || strings.HasSuffix(value, ":"):
		return "a mapping because of a colon and a space"
	case strings.HasPrefix(value, "- ") || strings.HasPrefix(value, "? "):
		return "a list item or a key"
	}
	return ""
}

var misreadStart = map[byte]string{
	'!': "a tag because of the !", '*': "an alias because of the *", '&': "an anchor because of the &", '[': "a list because of the [", '{': "a mapping because of the {",
	'%': "a directive", '@': "a reserved character", '`': "a reserved character", '|': "a block", '>': "a block",
}

var (
	blockHeader = regexp.MustCompile(`^[|>][-+0-9]*(?:[ \t]+#.*)?$`)
	quotedValue = regexp.MustCompile(`^(?:"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)(?:[ \t]+#.*)?$`)
)

// Quoted returns text, which must be a single line, as a YAML scalar in quotes.
func Quoted(text string) string {
	if !strings.ContainsAny(text, `"\`) {
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Excerpt is a line of a file with the index of the character that is meant.
type Excerpt struct {
	Line  string
	Index int
}

const (
	lineWidth  = 100 // characters of an excerpt
	valueWidth = 120 // characters of a value
	hidden     = "(hidden)"
	ellipsis   = "…"
)

// NewExcerpt cuts a long line around its index and hides secrets.
func NewExcerpt(line string, index int, secrets Secrets) Excerpt {
	runes := []rune(strings.Map(printable, line))
	index = min(index, len(runes))
	if secrets.in(line) {
		// What is before the secret may stay: it is the field's name.
		keep := runes[:index]
		rest := runes[index:]
		if end := slices.Index(rest, ':'); end >= 0 {
			rest = rest[:end+1]
		}
		if text := string(keep) + string(rest); !secrets.in(text) {
			return cut([]rune(text+" "+hidden), index)
		}
		return Excerpt{}
	}
	return cut(runes, index)
}

func printable(r rune) rune {
	if r == '\t' || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
		return ' '
	}
	return r
}

func cut(runes []rune, index int) Excerpt {
	if len(runes) <= lineWidth {
		return Excerpt{strings.TrimRight(string(runes), " "), index}
	}
	from := max(0, min(index-lineWidth/4, len(runes)-lineWidth))
	to := min(len(runes), from+lineWidth)
	text := string(runes[from:to])
	index -= from
	if from > 0 {
		text, index = ellipsis+text, index+1
	}
	if to < len(runes) {
		text += ellipsis
	}
	return Excerpt{text, index}
}

// show writes the line and a caret under it.
func (e Excerpt) show(b *strings.Builder, number int) {
	if e.Line == "" {
		return
	}
	gutter := fmt.Sprintf("%5d", number)
	fmt.Fprintf(b, "%s | %s\n", gutter, e.Line)
	fmt.Fprintf(b, "%s | %s^\n", strings.Repeat(" ", len(gutter)), strings.Repeat(" ", e.Index))
}

// Secrets are the strings of an object that must not be shown.
type Secrets []string

func (s Secrets) in(text string) bool {
	return slices.ContainsFunc(s, func(secret string) bool { return strings.Contains(text, secret) })
}

// Preview is a value as JSON, a long one shortened in the middle; map keys are
// sorted. Strings that hold a secret are hidden.
func Preview(v any, secrets Secrets) string {
	if len(secrets) > 0 {
		v = secrets.hide(v)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "?"
	}
	return Shorten(strings.TrimSuffix(b.String(), "\n"), valueWidth)
}

func (s Secrets) hide(v any) any {
	switch v := v.(type) {
	case string:
		if s.in(v) {
			return hidden
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = s.hide(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, field := range v {
			if s.in(name) {
				name = hidden
			}
			out[name] = s.hide(field)
		}
		return out
	}
	return v
}

// Shorten leaves out the middle of a long text.
func Shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	runes := []rune(text)
	half := (width - 3) / 2
	return string(runes[:half]) + " … " + string(runes[len(runes)-half:])
}

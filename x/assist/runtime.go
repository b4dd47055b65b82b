package assist

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
)

// Failed returns a hint for an expression that compiles but fails with err for an object, or "".
func Failed(src string, err error) string {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "no such key: "); ok {
		return absent(src, name)
	}
	switch {
	case negativeIndex.MatchString(text):
		return "indexes start at 0; the last element of a non-empty list is list[size(list) - 1]"
	case strings.HasPrefix(text, "index out of bounds: "):
		return "test first: size(list) > " + strings.TrimPrefix(text, "index out of bounds: ") + " && …"
	case text == "division by zero" || text == "modulus by zero":
		return "test first: x != 0 && …"
	case strings.HasPrefix(text, "optional.none() dereference"):
		return "use .orValue(…), or test .hasValue() first"
	}
	return ""
}

var negativeIndex = regexp.MustCompile(`^index out of bounds: -\d`)

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

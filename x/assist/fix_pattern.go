package assist

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
)

// lookaround matches the start of a lookahead or lookbehind, which RE2 does not have.
var lookaround = lazy.New(`\(\?<?[=!]`)

// badPattern returns the first pattern after the error, the range of its text, and its error, or nil if it is valid.
func (f *fault) badPattern() (text string, s Span, bad *syntax.Error) {
	for _, t := range f.tokens[min(f.token, len(f.tokens)):] {
		if t.Kind != lex.String || t.Open {
			continue
		}
		quote := strings.IndexAny(t.Text, `'"`)
		inner := strings.Trim(t.Text[quote:], t.Text[quote:quote+1])
		if text = inner; !isRaw(t) {
			text = strings.ReplaceAll(inner, `\\`, `\`)
		}
		start := t.Start + quote + (len(t.Text)-quote-len(inner))/2
		_, err := syntax.Parse(text, syntax.Perl)
		errors.As(err, &bad)
		return text, Span{start, start + len([]rune(inner))}, bad
	}
	return "", Span{}, nil
}

// pattern returns a hint for an invalid pattern of matches.
func (f *fault) pattern() string {
	text, _, bad := f.badPattern()
	if look := lookaround.FindString(text); look != "" {
		return look + " is not supported: combine two matches() with && and !"
	}
	if bad == nil {
		return ""
	}
	return fmt.Sprintf("the pattern is invalid at %s: %s", bad.Expr, bad.Code)
}

func (m *fixer) patternEdits() [][]Edit {
	text, s, bad := m.badPattern()
	if bad == nil || s.End > len(m.src) {
		return nil
	}
	switch inner := m.textOf(s); bad.Code {
	case syntax.ErrMissingBracket:
		return [][]Edit{{{s.End, s.End, "]"}}}
	case syntax.ErrMissingParen:
		return [][]Edit{{{s.End, s.End, ")"}}}
	case syntax.ErrInvalidRepeatOp:
		return [][]Edit{replace(s, strings.Replace(inner, bad.Expr, bad.Expr[:1], 1))}
	case syntax.ErrMissingRepeatArgument: // the pattern of a file name: *.example.com
		if text == inner && !strings.Contains(inner, `\`) {
			glob := strings.NewReplacer("*", ".*", ".", "[.]", "?", ".").Replace(inner)
			return [][]Edit{replace(s, glob)}
		}
	}
	return nil
}

package repl

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/lex"
	"github.com/celadon-cel/celadon/internal/spell"
	"github.com/celadon-cel/celadon/types"
)

// Problem is what is wrong with an expression: its line with a caret, the
// checker's words, and the nearest name that would be right.
func (s *Session) Problem(err error) string {
	var bad *engine.CompileError
	if !errors.As(err, &bad) {
		return "error: " + printable(err.Error()) + "\n"
	}
	text := ""
	if snippet := caret(bad, s.Width); snippet != "" {
		text = snippet + "\n"
	}
	return text + "error: " + summary(bad) + s.hint(bad) + "\n"
}

// summary is the checker's words without its own places.
func summary(bad *engine.CompileError) string {
	text := strings.ReplaceAll(bad.Summary(), " (in container '')", "")
	return printable(selfType.ReplaceAllString(text, "self"))
}

// hint at an unknown name: the version that knows it, or what is like it.
func (s *Session) hint(bad *engine.CompileError) string {
	match := unknownName.FindStringSubmatch(bad.Summary())
	if match == nil {
		return s.forgotten(bad)
	}
	if s.state.kube != "" && strings.HasPrefix(match[0], "undeclared") {
		if err := s.laterFunction(match[1]); err != nil {
			return "; " + err.Error()
		}
	}
	if names := s.meant(bad, match[1]); len(names) > 0 {
		return fmt.Sprintf("; did you mean %s?", strings.Join(names, " or "))
	}
	return ""
}

// forgotten is the method that was written as a field: self.list.size.
func (s *Session) forgotten(bad *engine.CompileError) string {
	lines := strings.Split(bad.Rule, "\n")
	if !strings.Contains(bad.Summary(), "does not support field selection") || bad.Line < 1 || bad.Line > len(lines) {
		return ""
	}
	src := []rune(strings.Join(lines[:bad.Line], "\n"))
	start := len(src) - len([]rune(lines[bad.Line-1])) + bad.Column
	for _, t := range lex.Tokens(src) {
		if t.Start >= start && t.Kind == lex.Ident {
			if slices.Contains(s.names(src[:t.Start]), t.Text) {
				return fmt.Sprintf("; did you mean %s()?", t.Text)
			}
			break
		}
	}
	return ""
}

// caret is the line with a mark below the place. Of a line that is wider than
// the screen it is the part around the place.
func caret(bad *engine.CompileError, width int) string {
	lines := strings.Split(bad.Rule, "\n")
	if bad.Line < 1 || bad.Line > len(lines) || bad.Column < 1 {
		return ""
	}
	line := printable(strings.ReplaceAll(lines[bad.Line-1], "\t", " "))
	before, after := []rune(line), ""
	if at := bad.Column - 1; at < len(before) {
		before, after = before[:at], string(before[at:])
	}
	left := string(before)
	if width > 2 && screen.StringWidth(line) > width {
		room := max(width-min(screen.StringWidth(after), width/2)-2, 1)
		if over := screen.StringWidth(left) - room; over > 0 {
			left = screen.TruncateLeft(left, over+1, "…")
		}
		after = fit(after, width-screen.StringWidth(left))
	}
	return left + after + "\n" + strings.Repeat(" ", screen.StringWidth(left)) + "^"
}

var unknownName = regexp.MustCompile(`^(?:undefined field|undeclared reference to) '([^']+)'`)

// meant are the names nearest to one that does not exist.
func (s *Session) meant(bad *engine.CompileError, name string) []string {
	offset := wordNear([]rune(bad.Rule), bad, name)
	if offset < 0 || len(name) < 2 {
		return nil
	}
	src := []rune(bad.Rule)
	known := s.names(src[:offset])
	if escaped := asWritten(known, string(src[offset:])); escaped != "" {
		return []string{escaped}
	}
	known = slices.DeleteFunc(known, func(candidate string) bool { return candidate == "in" })
	nearest := spell.Near(name, known)
	slices.Sort(nearest)
	return nearest
}

// asWritten is the name that CEL has for a field whose own name the text begins
// with, as namespace or a-b; "" for none.
func asWritten(known []string, text string) (ident string) {
	longest := 0
	for _, candidate := range known {
		name, ok := types.Unescape(candidate)
		if ok && name != candidate && len(name) > longest && strings.HasPrefix(text, name) {
			ident, longest = candidate, len(name)
		}
	}
	return ident
}

// wordNear is where a name stands nearest to the place of an error; -1 where it
// does not.
func wordNear(src []rune, bad *engine.CompileError, name string) int {
	line, start := 1, 0
	for i, r := range src {
		if line == bad.Line {
			start = i
			break
		}
		if r == '\n' {
			line++
		}
	}
	place, best := start+bad.Column-1, -1
	for _, t := range lex.Tokens(src) {
		if t.Kind == lex.Ident && t.Text == name && (best < 0 || abs(t.Start-place) < abs(best-place)) {
			best = t.Start
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

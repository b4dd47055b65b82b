package repl

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/x/assist"
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
	return text + "error: " + summary(bad) + s.hint(bad) + "\n" + hintText(s.advice(bad).Words)
}

// Hint says in words how to mend an expression that does not compile; "" where
// there is nothing to say but what Problem does.
func (s *Session) Hint(bad *engine.CompileError) string {
	advice := s.advice(bad)
	return cmp.Or(printable(advice.Words), strings.TrimPrefix(didYouMean(advice.Names), "; "))
}

// hintText is a hint on a line of its own.
func hintText(words string) string {
	if words == "" {
		return ""
	}
	return "  hint: " + printable(words) + "\n"
}

// summary is the checker's words without its own places.
func summary(bad *engine.CompileError) string {
	text := strings.ReplaceAll(bad.Summary(), " (in container '')", "")
	return printable(selfType.ReplaceAllString(text, "self"))
}

// hint at an unknown name: the version that knows it, or what is like it.
func (s *Session) hint(bad *engine.CompileError) string {
	if match := unknownFunction.FindStringSubmatch(bad.Summary()); match != nil && s.state.kube != "" {
		if err := s.laterFunction(match[1]); err != nil {
			return "; " + err.Error()
		}
	}
	return printable(didYouMean(s.advice(bad).Names))
}

var unknownFunction = regexp.MustCompile(`^undeclared reference to '([^']+)'`)

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", strings.Join(names, " or "))
}

func (s *Session) advice(bad *engine.CompileError) assist.Advice {
	if p := s.helper(); p != nil {
		return assist.Advise(bad, p.Names)
	}
	return assist.Advise(bad, nil)
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
	if width > 2 && termwidth.Width(line) > width {
		room := max(width-min(termwidth.Width(after), width/2)-2, 1)
		if over := termwidth.Width(left) - room; over > 0 {
			left = termwidth.CutLeft(left, over)
		}
		after = fitLine(after, width-termwidth.Width(left))
	}
	return left + after + "\n" + strings.Repeat(" ", termwidth.Width(left)) + "^"
}

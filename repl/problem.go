package repl

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/lex"
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
	best, nearest := apartAtMost(name), []string(nil)
	for _, candidate := range known {
		switch d := apart(name, candidate); {
		case candidate == "in":
		case d < best:
			best, nearest = d, []string{candidate}
		case d == best && !slices.Contains(nearest, candidate):
			nearest = append(nearest, candidate)
		}
	}
	slices.Sort(nearest)
	return nearest[:min(3, len(nearest))]
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

// apart is how far a name is from one that may be meant: one that begins so is
// near.
func apart(name, meant string) int {
	d := distance(name, meant)
	if min(len(name), len(meant)) > 1 && (strings.HasPrefix(meant, name) || strings.HasPrefix(name, meant)) {
		d = min(d, 1)
	}
	return d
}

// apartAtMost is how far a name may be from one that is meant.
func apartAtMost(name string) int { return max(1, len(name)/3) }

// didYouMean ends an error about a name with those that are near it.
func didYouMean(name string, known []string) string {
	var near []string
	for _, candidate := range known {
		if name != "" && apart(name, candidate) <= apartAtMost(name) {
			near = append(near, candidate)
		}
	}
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", strings.Join(near[:min(3, len(near))], " or "))
}

func abs(n int) int { return max(n, -n) }

// distance is how many letters must be changed, added, taken away or swapped to
// make b of a, without regard to case.
func distance(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			change := 1
			if x[i-1] == y[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}

package print

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// How it works. The text reports of all commands share the forms of their lines: a location after an arrow, an excerpt
// after a line number, a caret, a rule, and its values. A Layout recognizes these forms in the finished text, so that a
// command needs no colors or widths while it writes. It adds only colors and line breaks.

// A Layout colors the lines of a text report as compilers do, and folds them at word boundaries. The zero value changes
// nothing.
type Layout struct {
	// Color is set if the output is a terminal with colors. Its Writer must have Colors set as well.
	Color bool
	// Width is the number of columns of the terminal; 0 is unlimited.
	Width int
}

// Text returns the text of a report with colors and line breaks. Excerpts, which are cut to the width, and objects in
// YAML, which users copy, are not folded.
func (l Layout) Text(text string) string {
	if !l.Color && l.Width == 0 {
		return text
	}
	var b strings.Builder
	s := lineState{level: untrusted.Red}
	open := "" // the color at the end of the line
	for line := range strings.Lines(text) {
		body, end := strings.CutSuffix(line, "\n")
		isFolded := s.next(body)
		if l.Color {
			body = open + s.color(body)
			if open = termwidth.OpenColor(body); open != "" {
				body += endColor
			}
		}
		if isFolded && l.Width > 0 {
			body = termwidth.FoldLine(body, l.Width, s.indent(line))
		}
		b.WriteString(body)
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

type lineForm uint8

const (
	otherLine lineForm = iota
	locationLine
	excerptLine
	caretLine
	ruleLine // first or further line of a rule
	valueLine
	changeLine // the old or new form of a rule
	objectLine // of an object in YAML
)

// A lineState holds the form of the current line and the data that the next line depends on.
type lineState struct {
	form   lineForm
	level  untrusted.Color // of the last headline
	rule   int             // indent of further lines of a rule
	object int             // indent of the object
	match  []string
}

var (
	locationForm = lazy.New(`^( *)(-->) ([^:]+(?::\d+){0,2})(.*)$`)
	excerptForm  = lazy.New(`^( *\d+ \|)(.*)$`)
	caretForm    = lazy.New(`^( +\|)( +)(\^+)$`)
	ruleForm     = lazy.New(`^( {8})((?:rule|expression): )(.*)$`)
	changeForm   = lazy.New(`^( {4})([-+] .*)$`)
	valueForm    = lazy.New(`^( {10})(\S.*)$`)
	objectForm   = lazy.New(`^( +)apiVersion: `)
	keyForm      = lazy.New(`^[A-Za-z]+:(?: |$)`)
)

// next sets the form of the next line, and reports whether it may be folded.
func (s *lineState) next(line string) bool {
	before := s.form
	indent := len(line) - len(strings.TrimLeft(line, " "))
	match := func(form *lazy.Regexp) bool {
		s.match = form.FindStringSubmatch(line)
		return s.match != nil
	}
	switch {
	case before == objectLine && (indent > s.object || indent == s.object && keyForm.MatchString(line[indent:])):
		s.form = objectLine
	case match(objectForm):
		s.form, s.object = objectLine, len(s.match[1])
	case match(caretForm):
		s.form = caretLine
	case match(excerptForm):
		s.form = excerptLine
	case match(locationForm):
		s.form = locationLine
	case match(ruleForm):
		s.form, s.rule = ruleLine, len(s.match[1])+len(s.match[2])
	case before == ruleLine && s.rule > 0 && indent >= s.rule:
		s.form, s.match = ruleLine, []string{line, line[:s.rule], "", line[s.rule:]}
	case match(changeForm):
		s.form = changeLine
	case (before == ruleLine || before == valueLine) && match(valueForm):
		s.form = valueLine
	default:
		s.form = otherLine
	}
	s.headline(line)
	return s.form != objectLine && s.form != excerptLine && s.form != caretLine
}

// indent returns the indent of the further lines of the current line.
func (s *lineState) indent(line string) int {
	switch s.form {
	case ruleLine:
		return s.rule + 2
	case locationLine:
		return len(s.match[1]) + len("--> ")
	}
	return len(line) - len(strings.TrimLeft(line, " ")) + 2
}

// headline remembers the color of a line that a command has colored.
func (s *lineState) headline(line string) {
	switch at := strings.Index(line, "\x1b["); {
	case at < 0 || s.form != otherLine:
	case strings.HasPrefix(line[at:], string(untrusted.Red)):
		s.level = untrusted.Red
	case strings.HasPrefix(line[at:], string(untrusted.Yellow)):
		s.level = untrusted.Yellow
	}
}

func (s *lineState) color(line string) string {
	m := s.match
	switch s.form {
	case locationLine:
		return m[1] + paint(untrusted.Blue, m[2]) + " " + paint(untrusted.Cyan, m[3]) + m[4]
	case excerptLine:
		return paint(untrusted.Blue, m[1]) + m[2]
	case caretLine:
		return paint(untrusted.Blue, m[1]) + m[2] + paint(s.level, m[3])
	case ruleLine:
		return m[1] + paint(untrusted.Blue, m[2]) + paint(untrusted.Bold, m[3])
	case changeLine:
		if m[2][0] == '-' {
			return m[1] + paint(untrusted.Red, m[2])
		}
		return m[1] + paint(untrusted.Green, m[2])
	case valueLine:
		if at := valueAt(m[2]); at > 0 {
			return m[1] + m[2][:at] + paint(untrusted.Magenta, m[2][at:])
		}
	}
	return line
}

func paint(c untrusted.Color, text string) string {
	if text == "" {
		return ""
	}
	return string(untrusted.Paint(c, untrusted.Safe(text)))
}

const endColor = "\x1b[0m"

// valueAt returns the index of the value in, for example, the line "self.a ? b : c: 1", or 0. The colon before it is
// the first that is not in a string, in brackets, or part of a conditional expression.
func valueAt(line string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0 && c == '\\':
			i++
		case c == quote:
			quote = 0
		case quote != 0:
		case c == '\'' || c == '"':
			quote = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == ':' && depth == 0 && i > 0 && line[i-1] != ' ' && strings.HasPrefix(line[i:], ": "):
			return i + 2
		}
	}
	return 0
}

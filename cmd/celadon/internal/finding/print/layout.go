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
	// Color is set if the output is a terminal with colors. The untrusted.Writer of the output must have Colors
	// set as well.
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
		s.next(body)
		if l.Color {
			body = open + s.color(body)
			if open = termwidth.OpenColor(body); open != "" {
				body += endColor
			}
		}
		if l.Width > 0 && (s.form == nil || !s.form.isWhole) {
			body = termwidth.FoldLine(body, l.Width, s.hang)
		}
		b.WriteString(body)
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// A form is a kind of line. The groups of its pattern, which divide the line, have these colors; "" is for text without color.
type form struct {
	pattern *lazy.Regexp
	colors  []untrusted.Color
	isWhole bool // the line is not folded
}

// headlineColor is replaced by the color of the last headline.
const headlineColor untrusted.Color = "headline"

var (
	objectForm   = &form{pattern: lazy.New(`^ +apiVersion: `), isWhole: true}
	caretForm    = &form{lazy.New(`^( +\|)( +)(\^+)$`), []untrusted.Color{untrusted.Blue, "", headlineColor}, true}
	excerptForm  = &form{lazy.New(`^( *\d+ \|)(.*)$`), []untrusted.Color{untrusted.Blue, ""}, true}
	locationForm = &form{
		lazy.New(`^( *)(-->)( )([^:]+(?::\d+){0,2})(.*)$`), []untrusted.Color{"", untrusted.Blue, "", untrusted.Cyan, ""}, false,
	}
	ruleForm    = &form{lazy.New(`^( {8})((?:rule|expression): )(.*)$`), []untrusted.Color{"", untrusted.Blue, untrusted.Bold}, false}
	removedForm = &form{lazy.New(`^( {4})(- .*)$`), []untrusted.Color{"", untrusted.Red}, false}
	addedForm   = &form{lazy.New(`^( {4})(\+ .*)$`), []untrusted.Color{"", untrusted.Green}, false}
	valueForm   = &form{lazy.New(`^( {10}\S.*)$`), []untrusted.Color{"", untrusted.Magenta}, false}

	forms = []*form{objectForm, caretForm, excerptForm, locationForm, ruleForm, removedForm, addedForm, valueForm}
	// entryForm is a line that has the indent of an object and belongs to it.
	entryForm = lazy.New(`^(?:- |[A-Za-z][\w-]*:(?: |$))`)
)

type lineState struct {
	form   *form // nil for other lines
	groups []string
	hang   int             // indent of the line after a fold
	level  untrusted.Color // of the last headline
	rule   int             // indent of further lines of a rule
	object int             // indent of the object
}

func (s *lineState) next(line string) {
	before, indent := s.form, len(line)-len(strings.TrimLeft(line, " "))
	s.hang = indent + 2
	switch {
	case before == objectForm && (indent > s.object || indent == len(line)),
		before == objectForm && indent == s.object && entryForm.MatchString(line[indent:]):
		return // the form goes on
	case before == ruleForm && indent >= s.rule:
		s.groups, s.hang = []string{line[:s.rule], "", line[s.rule:]}, s.rule+2
		return
	}
	s.form, s.groups = nil, nil
	for _, f := range forms {
		m := f.pattern.FindStringSubmatch(line)
		if m != nil && (f != valueForm || before == ruleForm || before == valueForm) {
			s.form, s.groups = f, m[1:]
			break
		}
	}
	switch s.form {
	case nil:
		s.headline(line)
	case objectForm:
		s.object = indent
	case locationForm:
		s.hang = indent + len("--> ")
	case ruleForm:
		s.rule = indent + len(s.groups[1])
		s.hang = s.rule + 2
	case valueForm:
		if at := valueAt(line); at > 0 {
			s.groups = []string{line[:at], line[at:]}
		}
	}
}

func (s *lineState) headline(line string) {
	switch at := strings.Index(line, "\x1b["); {
	case at < 0:
	case strings.HasPrefix(line[at:], string(untrusted.Red)):
		s.level = untrusted.Red
	case strings.HasPrefix(line[at:], string(untrusted.Yellow)):
		s.level = untrusted.Yellow
	}
}

func (s *lineState) color(line string) string {
	if len(s.groups) == 0 {
		return line
	}
	var b strings.Builder
	for i, text := range s.groups {
		switch c := s.form.colors[i]; c {
		case "":
			b.WriteString(text)
		case headlineColor:
			b.WriteString(paint(s.level, text))
		default:
			b.WriteString(paint(c, text))
		}
	}
	return b.String()
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

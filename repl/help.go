package repl

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/assist"
)

type commandGroup struct {
	title    string
	commands []command
}

func (c *command) usage() string { return strings.TrimSpace(":" + c.name + " " + c.args) }

func help(ctx context.Context, s *Session, arg string) (string, error) {
	if arg == "" {
		return s.overview(), nil
	}
	name := strings.TrimPrefix(arg, ":")
	if cmd, ok := findCommand(name); ok {
		return s.commandHelp(&cmd), nil
	}
	if arg == name && isFunction(name) {
		return funcs(ctx, s, arg)
	}
	return "", noCommand(name)
}

const (
	overviewHead = "Enter an expression to print its value, type, and cost, or a command:\n"
	overviewFoot = ":help COMMAND describes a command, :funcs lists the functions, and NAME? explains a field, a function, or a command.\n"
)

func (s *Session) overview() string {
	var b strings.Builder
	b.WriteString(termwidth.Fold(overviewHead, s.Width, 0))
	for _, group := range commandGroups() {
		b.WriteString("\n" + group.title + "\n")
		var rows [][]string
		for _, c := range group.commands {
			if s.Width <= 0 {
				rows = append(rows, []string{c.usage(), c.help})
				continue
			}
			writeLine(&b, c.usage(), s.Width)
			b.WriteString(termwidth.Fold("    "+c.help+"\n", s.Width, 0))
		}
		b.WriteString(table(rows, 0))
	}
	return b.String() + "\n" + termwidth.Fold(overviewFoot, s.Width, 0)
}

func (s *Session) commandHelp(cmd *command) string {
	text := termwidth.Fold(cmd.usage()+"\n", s.Width, 4)
	paragraph, example := commandDetails(cmd.name)
	text += termwidth.Fold("\n"+paragraph+"\n", s.Width, 0)
	if example != "" {
		text += termwidth.Fold("\nFor example: "+example+"\n", s.Width, 4)
	}
	return text
}

// helpTexts has a block of lines for each command: its name, a paragraph, and often an example after a tab. A blank
// line follows each block but the last.
//
//go:embed help_commands.txt
var helpTexts string

func commandDetails(name string) (paragraph, example string) {
	_, rest, _ := strings.Cut("\n\n"+helpTexts, "\n\n"+name+"\n")
	block, _, _ := strings.Cut(rest, "\n\n")
	paragraph, example, _ = strings.Cut(block, "\n\t")
	return strings.Join(strings.Fields(paragraph), " "), strings.TrimSpace(example)
}

// isFunction reports whether name is a function or a group of functions, in any version.
func isFunction(name string) bool {
	if _, ok := assist.FindFunction(name); ok {
		return true
	}
	_, ok := groupNamed(name)
	return ok
}

func completeHelp(_ *Session, arg string) assist.Completion {
	var c assist.Completion
	for _, cmd := range commands() {
		c.Candidates = append(c.Candidates, assist.Candidate{Text: cmd.name, Hint: cmd.help})
	}
	return c.Only(arg)
}

// maxQuestion limits the length of NAME?, in bytes.
const maxQuestion = 1000

// question matches NAME?: a command after a colon, a function, or a path of names and indexes, or ? alone. A
// conditional that continues in the next line has a space before its ?, or is not a path.
var question = regexp.MustCompile(`^(:?\w*|\w+(\.\w+|\[\d+\]|\['[^']*'\]|\["[^"]*"\])*)(\(\))?\?$`)

func isQuestion(line string) bool { return len(line) <= maxQuestion && question.MatchString(line) }

// explain implements NAME?.
func (s *Session) explain(ctx context.Context, name string) (string, error) {
	if name == "" || name[0] == ':' {
		return help(ctx, s, name)
	}
	if name = strings.TrimSuffix(name, "()"); isFunction(name) {
		return funcs(ctx, s, name)
	}
	src := name
	if first, _, _ := strings.Cut(name, "."); s.state.location != nil {
		if _, ok := s.state.location.decl().ByIdent(first); ok {
			src = types.Self + "." + name
		}
	}
	if s.state.policy != "" {
		return s.fieldHelp(s.policyHelper().Hover(src, lastName(src)))
	}
	if _, err := s.compile(src, false); err != nil {
		if last := name[strings.LastIndexByte(name, '.')+1:]; isFunction(last) { // a method
			return funcs(ctx, s, last)
		}
		return "", err
	}
	return s.fieldHelp(s.helper().Hover(src, lastName(src)))
}

// lastName returns the position of the last name or index in a path, in code points.
func lastName(src string) int {
	at := 0
	for _, t := range lex.Tokens([]rune(src)) {
		if t.Kind == lex.Ident || t.Text == "[" {
			at = t.Start
		}
	}
	return at
}

func (s *Session) fieldHelp(h *assist.Hover) (string, error) {
	if h == nil || h.Type+h.Description+h.Bounds == "" {
		return "", errors.New("nothing is known about this name (:help lists the commands, :funcs the functions)")
	}
	facts := h.Text
	if h.Type != "" {
		facts += ": " + h.Type
	}
	if h.InObject {
		facts += s.presence(h.Path)
	}
	if h.Bounds != "" {
		facts += "; " + h.Bounds
	}
	text := termwidth.Fold(printable(facts)+"\n", s.Width, 2)
	if h.Description != "" {
		text += termwidth.Fold("  "+termwidth.Cut(printable(h.Description), maxDescription)+"\n", s.Width, 0)
	}
	if h.Schema == nil {
		return text, nil
	}
	var rows [][]string
	for i, rule := range h.Schema.XValidations {
		rows = append(rows, []string{fmt.Sprintf("  rule %d", i), printable(lex.Flat(rule.Rule))})
	}
	if len(rows) > maxFieldRules {
		more := len(rows) - maxFieldRules
		rows = append(rows[:maxFieldRules], []string{"", "… and " + phrase.Count(more, "more rule")})
	}
	return text + table(rows, s.Width), nil
}

const (
	// maxDescription limits the columns of a description.
	maxDescription = 2000
	maxFieldRules  = 20
)

func (s *Session) presence(path string) string {
	steps, err := engine.ParsePath(path)
	if err != nil || len(steps) == 0 || s.state.location == nil {
		return ""
	}
	d := declAt(s.state.location.root, steps[:len(steps)-1])
	if d == nil {
		return ""
	}
	switch f := d.Fields[steps[len(steps)-1].Name]; {
	case f == nil:
		return ""
	case f.Required:
		return ", required"
	}
	return ", optional"
}

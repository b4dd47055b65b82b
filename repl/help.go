package repl

import (
	"context"
	_ "embed"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/x/assist"
)

type commandGroup struct {
	title    string
	commands []command
}

func (c *command) usage() string { return strings.TrimSpace(":" + c.name + " " + c.args) }

// help implements :help. It prints an overview of all commands, or describes one. It also accepts
// the names of functions and groups of functions.
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
		var rows [][2]string
		for _, c := range group.commands {
			rows = append(rows, [2]string{c.usage(), c.help})
		}
		b.WriteString(definitions(rows, s.Width))
	}
	return b.String() + "\n" + termwidth.Fold(overviewFoot, s.Width, 0)
}

// commandHelp describes a command: its usage, a paragraph, and an example.
func (s *Session) commandHelp(cmd *command) string {
	text := termwidth.Fold(cmd.usage()+"\n", s.Width, 4)
	paragraph, example := commandDetails(cmd.name)
	text += termwidth.Fold("\n"+paragraph+"\n", s.Width, 0)
	if example != "" {
		text += termwidth.Fold("\nFor example: "+example+"\n", s.Width, 4)
	}
	return text
}

// helpTexts has a block of lines for each command: its name, a paragraph of two to five sentences, and often an
// example after a tab. A blank line follows each block but the last.
//
//go:embed help_commands.txt
var helpTexts string

// commandDetails returns the paragraph of a command, and its example or "".
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

// completeHelp completes the names of commands.
func completeHelp(_ *Session, arg string) assist.Completion {
	var c assist.Completion
	for _, cmd := range commands() {
		c.Candidates = append(c.Candidates, assist.Candidate{Text: cmd.name, Hint: cmd.help})
	}
	return c.Only(arg)
}

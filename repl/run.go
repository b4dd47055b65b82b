package repl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// A Reply is the session's reply to a line.
type Reply struct {
	// Text is empty or ends with a line break.
	Text string
	// Failed is set if Text is an error or the warning of unsaved rules.
	Failed bool
	// Quit is set if the session should end.
	Quit bool
	// Draft is the initial content of the next line on a terminal.
	Draft string
}

// Run executes lines until :quit, the end of input, or the end of ctx. At the end of input it
// evaluates an unfinished expression and warns of unsaved rules. It returns an error only if
// reading or writing fails.
func Run(ctx context.Context, s *Session, in LineReader, out io.Writer) error {
	evaluation, _ := in.(evaluator)
	if evaluation != nil {
		defer func() { evaluation.end(s.history) }()
		if _, err := io.WriteString(out, termwidth.Fold(greeting, evaluation.width(), 0)); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		s.fit(evaluation)
		line, err := in.ReadLine(printable(s.Prompt()))
		eof := errors.Is(err, io.EOF)
		switch {
		case errors.Is(err, errLineCanceled):
			s.partial = ""
			continue
		case err != nil && !eof:
			return err
		}
		run, done := ctx, func() {}
		if evaluation != nil {
			run, done = evaluation.evaluating(ctx)
			s.fit(evaluation) // the width may have changed meanwhile
		}
		var reply Reply
		if eof {
			reply = s.End(run)
		} else {
			reply = s.Do(run, line)
		}
		done()
		reply.Text = printable(reply.Text)
		if evaluation != nil {
			if reply.Draft != "" {
				evaluation.draft(printable(reply.Draft))
				continue
			}
			reply.Text = evaluation.style(reply)
		}
		if _, err := io.WriteString(out, reply.Text); err != nil || reply.Quit {
			return err
		}
	}
	return nil
}

func (s *Session) fit(e evaluator) {
	if e != nil {
		s.Width = e.width()
	}
}

// An evaluator is a LineReader on a terminal.
type evaluator interface {
	// evaluating returns a context that is canceled by Ctrl-C until done is called.
	evaluating(context.Context) (ctx context.Context, done func())
	width() int
	style(Reply) string
	// draft sets the initial content of the next line.
	draft(line string)
	// end receives the entries of the session when it ends.
	end(entries []string)
}

const greeting = "Enter an expression to print its value, type, and cost; :help lists commands.\n"

// End handles the end of input. It evaluates an unfinished expression, if any. Otherwise it quits, or warns if there
// are unsaved rules and it has not just warned.
func (s *Session) End(ctx context.Context) Reply {
	if s.partial != "" {
		line := s.partial
		s.partial = ""
		return s.finished(ctx, line)
	}
	return s.quit()
}

func (s *Session) quit() Reply {
	if !s.losesRules() || s.warned {
		return Reply{Quit: true}
	}
	s.warned = true
	return Reply{Text: "there are unsaved rules: run :save, or quit again to discard them\n", Failed: true}
}

// maxPartial limits the bytes of an expression of several lines.
const maxPartial = 64 << 10

// Do executes a line: an expression, a command, or part of an expression that spans several lines. If the line ends
// with a tab, Do lists its completions.
func (s *Session) Do(ctx context.Context, line string) (reply Reply) {
	defer func() {
		if p := recover(); p != nil {
			reply = Reply{Text: fmt.Sprintf("internal error in celadon (please report it): %v\n", p), Failed: true}
		}
	}()
	if !utf8.ValidString(line) {
		return Reply{Text: "error: the line is not UTF-8\n", Failed: true}
	}
	if before, ok := strings.CutSuffix(line, "\t"); ok && strings.TrimSpace(before) != "" || line == "\t" {
		return Reply{Text: s.completions(before)}
	}
	if s.partial != "" {
		if isCommand(line) && !s.progress.InString() {
			first := s.End(ctx) // evaluates the unfinished expression
			reply := s.Do(ctx, line)
			reply.Text = first.Text + reply.Text
			return reply
		}
		whole := s.partial + "\n" + line
		s.partial = ""
		if len(whole) > maxPartial {
			return s.failed(fmt.Errorf("the expression has over %d KiB", maxPartial>>10))
		}
		if strings.TrimSpace(line) != "" && s.progress.Add(line) {
			s.partial = whole
			return Reply{}
		}
		return s.finished(ctx, whole)
	}
	line = strings.TrimRight(line, " \t")
	switch trimmed := strings.TrimSpace(line); {
	case trimmed == "" || strings.HasPrefix(trimmed, "//"):
		return Reply{}
	case isQuestion(trimmed):
		return s.finished(ctx, trimmed)
	case s.begins(trimmed):
		s.partial = trimmed
		return Reply{}
	case s.last.text != "" && lex.Continues(trimmed):
		return s.continued(ctx, line)
	default:
		return s.finished(ctx, trimmed)
	}
}

// isCommand reports whether line begins with a colon and the full name of a command, and so is not the last
// part of a conditional such as ": x".
func isCommand(line string) bool {
	name, _, _ := strings.Cut(strings.TrimRight(line, " \t"), " ")
	if len(name) < 2 || name[0] != ':' {
		return false
	}
	cmd, ok := findCommand(name[1:])
	return ok && cmd.name == name[1:]
}

// begins reports whether line continues in the next line, and sets s.progress. In a long string, even a line
// that looks like a command is a part of the string: pasted text may come from an untrusted author.
func (s *Session) begins(line string) bool {
	s.progress = lex.Progress{}
	if !strings.HasPrefix(line, ":") {
		return s.progress.Add(line)
	}
	name, arg, _ := strings.Cut(line[1:], " ")
	cmd, ok := findCommand(name)
	if words := strings.Fields(arg); cmd.removes && len(words) <= 2 && strings.HasSuffix(arg, "-") {
		return false
	}
	return ok && cmd.expression && s.progress.Add(arg)
}

// A lastLine is an expression or command that the next line may continue, with the states of the session before and
// after it. text is empty if the line cannot be continued.
type lastLine struct {
	text   string
	before undoPoint
	after  *state
}

func (s *Session) finished(ctx context.Context, line string) Reply {
	line = strings.TrimSpace(line)
	s.history = append(s.history, line)
	before := s.undoPoint()
	s.last = lastLine{before: before}
	defer func() { s.last.after = s.state }()
	return s.withNote(s.answered(ctx, line))
}

func (s *Session) answered(ctx context.Context, line string) Reply {
	corrected := s.corrected
	s.corrected = ""
	switch {
	case line == ":fix" && corrected != "":
		reply := s.answered(ctx, corrected)
		reply.Text = termwidth.Fold("runs "+printable(lex.OneLine(corrected))+"\n", s.Width, 5) + reply.Text
		return reply
	case isQuestion(line):
		return s.replyTo(s.explain(ctx, strings.TrimSuffix(line, "?")))
	case strings.HasPrefix(line, ":"):
		return s.command(ctx, line)
	case line == "exit":
		return s.command(ctx, ":quit")
	case isBareCommand(line):
		return s.command(ctx, ":"+line)
	}
	s.warned = false
	s.last.text = line
	if s.state.policy != "" {
		return s.evalInPolicy(ctx, line)
	}
	a, err := s.Eval(ctx, line)
	if err != nil {
		return s.failed(err)
	}
	reply := Reply{Text: a.text(s.Width), Failed: a.Err != nil}
	if a.Type == "boolean" && comparesText(line) {
		reply.Text += s.lintNotes(ctx, apiextensionsv1.ValidationRule{Rule: line}, "", textLints...)
	}
	return reply
}

// continued executes the last line again with line appended to it. It first undoes the changes of the last line, such
// as an added rule.
func (s *Session) continued(ctx context.Context, line string) Reply {
	last, now := s.last, s.undoPoint()
	if s.state == last.after {
		s.restore(last.before)
	}
	s.history = slices.Delete(s.history, len(s.history)-1, len(s.history)) // both lines form a single entry
	reply := s.finished(ctx, last.text+"\n"+line)
	if reply.Failed {
		s.restore(now)
	}
	return reply
}

func (s *Session) command(ctx context.Context, line string) Reply {
	name, arg, _ := strings.Cut(line[1:], " ")
	arg = strings.TrimSpace(arg)
	cmd, ok := findCommand(name)
	switch {
	case !ok:
		return s.failed(noCommand(name))
	case cmd.args == "" && arg != "":
		return s.failed(fmt.Errorf(":%s %s: :%s takes no arguments", cmd.name, termwidth.Cut(arg, maxValue), cmd.name))
	case arg == "" && cmd.args != "" && cmd.args[0] != '[':
		return s.failed(fmt.Errorf("no argument given: use :%s %s", cmd.name, cmd.args))
	case cmd.name == "quit":
		return s.quit()
	case cmd.expression:
		s.last.text = line
	}
	s.warned = false
	s.doing = line
	defer func() { s.doing = "" }()
	if err := s.lacks(cmd.needs); err != nil {
		return s.failed(err)
	}
	return s.replyTo(cmd.run(ctx, s, arg))
}

func (s *Session) replyTo(text string, err error) Reply {
	if err != nil {
		return s.failed(err)
	}
	return Reply{Text: text}
}

func (s *Session) failed(err error) Reply {
	reply := Reply{Text: s.Problem(err), Failed: true}
	var bad *engine.CompileError
	if errors.As(err, &bad) {
		s.corrected = s.correctedLine(bad)
		reply.Text += s.fieldsHint(bad)
	}
	var incomplete *incompleteError
	if errors.As(err, &incomplete) {
		reply.Draft = incomplete.draft
	}
	return reply
}

// An incompleteError reports a missing argument. draft is the line to offer for editing, or "".
type incompleteError struct{ text, draft string }

func (e *incompleteError) Error() string { return e.text }

func (s *Session) completions(line string) string {
	var rows [][]string
	for _, c := range s.Complete(line, len([]rune(line))).Candidates {
		rows = append(rows, []string{c.Text, c.Hint})
	}
	return table(rows, s.Width)
}

// LineReader reads lines. ReadLine returns the next line without its line terminator, or io.EOF
// after the last line.
type LineReader interface {
	ReadLine(prompt string) (string, error)
}

// errLineCanceled is returned by a LineReader on Ctrl-C. The line is discarded.
var errLineCanceled = errors.New("line cancelled")

// Lines returns a LineReader for a pipe or a file. It displays no prompt.
func Lines(r io.Reader) LineReader { return EchoLines(r, io.Discard) }

// EchoLines is like Lines, but also writes the prompt and each line to out, so that a piped session
// reads like a session on a terminal.
func EchoLines(r io.Reader, out io.Writer) LineReader { return &lines{bufio.NewReader(r), out} }

type lines struct {
	r   *bufio.Reader
	out io.Writer
}

func (l *lines) ReadLine(prompt string) (string, error) {
	line, err := l.r.ReadString('\n')
	if err != nil && (err != io.EOF || line == "") {
		return line, err
	}
	line = strings.TrimRight(line, "\r\n")
	parts := strings.Split(line, "\t") // a tab requests completions
	for i, part := range parts {
		parts[i] = printable(part)
	}
	_, err = fmt.Fprintf(l.out, "%s%s\n", prompt, strings.Join(parts, "\t"))
	return line, err
}

//go:build !js

package repl

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chzyer/readline"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/repl/internal/lineedit"
)

// TerminalConfig configures a terminal. The zero value has no colors and no history of earlier
// sessions.
type TerminalConfig struct {
	Color bool
	// Plain turns off previews and bracketed paste, for terminals with few capabilities.
	Plain bool
	// History holds the entries of earlier sessions, oldest first. Remember, if it is not nil, is called with each new
	// entry. An entry can span several lines.
	History  []string
	Remember func(entry string)
}

const (
	colorError    = "\x1b[31m"
	colorDim      = "\x1b[2m"
	colorDimError = "\x1b[2;31m"
	colorStrong   = "\x1b[1m"
	colorSelected = "\x1b[7m"
	colorReset    = "\x1b[0m"
)

const maxHistory = 1000

// Terminal is a LineReader that edits lines on a terminal with readline keys.
type Terminal struct {
	rl      *readline.Instance
	in, out *os.File
	config  TerminalConfig
	keys    *lineedit.Keys
	screen  *lineedit.Screen
	editor  *lineedit.Editor
	// lines are the entries of the up key, oldest first. remembered is the number of entries passed to Remember.
	lines      []string
	remembered int
	begun      string // initial content of the next line
	mode       rawMode
	line       editedLine
	pause      time.Duration // previewPause, except in tests

	// use is held by the goroutine that uses the session. The goroutine that runs lines releases it only
	// while it reads a line.
	use     sync.Mutex
	session *Session
}

// OpenTerminal takes control of the terminal until Close is called. It returns an error if in or out is not a terminal.
// From then on, only the goroutine that calls ReadLine may use s.
func OpenTerminal(in, out *os.File, s *Session, cfg TerminalConfig) (*Terminal, error) {
	if !readline.IsTerminal(int(in.Fd())) || !readline.IsTerminal(int(out.Fd())) {
		return nil, errors.New("not a terminal")
	}
	t := &Terminal{in: in, out: out, config: cfg, session: s, pause: previewPause}
	t.keys = lineedit.NewKeys(in)
	t.screen = lineedit.NewScreen(out, t.size)
	t.editor = lineedit.NewEditor(source{t})
	t.mode = rawMode{in: in, out: out, paste: !cfg.Plain}
	t.use.Lock()
	rl, err := readline.NewEx(&readline.Config{
		Stdin: readline.NewCancelableStdin(t.keys), Stdout: t.screen, Stderr: t.screen,
		HistoryLimit:           maxHistory,
		DisableAutoSaveHistory: true,
		FuncIsTerminal:         func() bool { return false }, // so that readline does not paint
		FuncGetWidth:           func() int { return readlineWidth },
		FuncMakeRaw:            t.mode.enter,
		FuncExitRaw:            t.mode.exit,
		FuncOnWidthChanged:     func(func()) { readline.DefaultOnWidthChanged(t.refresh) },
		FuncFilterInputRune:    t.filter,
		Listener:               listener{t},
	})
	if err != nil {
		return nil, err
	}
	t.rl = rl
	return t, nil
}

// readlineWidth is the width that readline assumes. It does not matter, because readline does not paint.
const readlineWidth = 1 << 20

// ReadLine implements LineReader.
func (t *Terminal) ReadLine(prompt string) (string, error) {
	if t.keys.Gone.Load() {
		return "", io.EOF
	}
	if err := t.recall(t.session.history); err != nil {
		return "", err
	}
	begun := t.begun
	t.begun = ""
	t.beginLine(prompt, begun)
	t.use.Unlock()
	line, err := t.rl.ReadlineWithDefault(begun)
	t.endLine()
	t.use.Lock()
	switch {
	case errors.Is(err, readline.ErrInterrupt):
		return "", errLineCanceled
	case errors.Is(err, io.EOF):
		return "", io.EOF
	}
	return strings.ReplaceAll(line, shownBreak, "\n"), err
}

func (t *Terminal) draft(line string) { t.begun = line }

// Close restores the terminal.
func (t *Terminal) Close() error {
	t.endLine()
	return t.rl.Close()
}

// evaluating returns a context that Ctrl-C cancels. While a line is edited, readline handles
// Ctrl-C.
func (t *Terminal) evaluating(ctx context.Context) (context.Context, func()) {
	return signal.NotifyContext(ctx, os.Interrupt)
}

func (t *Terminal) width() int {
	width, _ := t.size()
	return width
}

func (t *Terminal) size() (width, height int) {
	width, height, err := readline.GetSize(int(t.out.Fd()))
	if err != nil || width < 0 {
		return 0, 0
	}
	return width, height
}

func (t *Terminal) style(r Reply) string {
	if !t.config.Color || !r.Failed {
		return r.Text
	}
	lines := strings.SplitAfter(r.Text, "\n")
	for i, line := range lines {
		if text, ok := strings.CutSuffix(line, "\n"); ok && (strings.HasPrefix(text, "error:") || strings.TrimLeft(text, " ") == "^") {
			lines[i] = colorError + text + colorReset + "\n"
		}
	}
	return strings.Join(lines, "")
}

type rawMode struct {
	in, out *os.File
	paste   bool

	mu     sync.Mutex
	before *readline.State // nil in the mode of lines
}

func (m *rawMode) enter() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	state, err := readline.MakeRaw(int(m.in.Fd()))
	if err != nil {
		return err
	}
	m.before = state
	if m.paste {
		_, err = io.WriteString(m.out, "\x1b[?2004h")
	}
	return err
}

func (m *rawMode) exit() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before == nil {
		return nil
	}
	before := m.before
	m.before = nil
	if m.paste {
		_, _ = io.WriteString(m.out, "\x1b[?2004l")
	}
	return readline.Restore(int(m.in.Fd()), before)
}

// How it works: input that was typed or pasted over several lines is one history entry, and the up
// key must recall it as a whole. The line editor supports only single lines, so it holds each entry
// on one line, with line breaks in strings shown as ⏎ and restored when the line is read. The last
// entry may still continue in the next line. It is therefore reported to Remember only when the
// next entry begins or the session ends.

const shownBreak = "⏎"

// recall sets the entries of the up key. It rebuilds the history, because an editor that is positioned at an older
// entry would keep that entry instead of a new entry.
func (t *Terminal) recall(entries []string) error {
	t.end(entries[:max(0, len(entries)-1)])
	t.rl.ResetHistory()
	all := slices.Concat(t.config.History, entries)
	t.lines = nil
	for _, entry := range all[max(0, len(all)-maxHistory):] {
		line := asLine(entry)
		t.lines = append(t.lines, line)
		if err := t.rl.SaveHistory(line); err != nil {
			return err
		}
	}
	return nil
}

func (t *Terminal) end(entries []string) {
	for ; t.remembered < len(entries); t.remembered++ {
		if t.config.Remember != nil {
			t.config.Remember(entries[t.remembered])
		}
	}
}

func asLine(entry string) string {
	if !strings.Contains(entry, "\n") {
		return entry
	}
	if line, ok := lex.Join(entry); ok {
		return line
	}
	return strings.ReplaceAll(entry, "\n", shownBreak)
}

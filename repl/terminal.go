package repl

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/chzyer/readline"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// TerminalConfig configures a terminal. The zero value has no colors and no history of earlier
// sessions.
type TerminalConfig struct {
	Color bool
	// History holds the entries of earlier sessions, oldest first. Remember is called with each new
	// entry. An entry can span several lines.
	History  []string
	Remember func(entry string)
	// Pager is the command that displays long replies. If empty, no pager is used.
	Pager []string
}

// maxHistory limits the number of entries that the up key recalls.
const maxHistory = 1000

// Terminal is a LineReader that edits lines on a terminal with readline keys.
type Terminal struct {
	rl      *readline.Instance
	out     *os.File
	config  TerminalConfig
	session *Session
	keys    *keys
	begun   string // initial content of the next line
	history editorHistory
}

// keys reads the user's input. A Ctrl-D that arrives while no line is being edited looks like the
// end of input, and readline would stop reading. keys therefore converts it to the Ctrl-D
// character. It also drops NUL, which readline takes for the end of input too: Ctrl-Space sends it,
// and so does a terminal for a Ctrl-D that waits when line editing begins. After that, readline
// would hang when it is closed.
type keys struct {
	in   io.Reader
	ends int
	gone atomic.Bool
}

func (k *keys) Read(p []byte) (int, error) {
	n, err := k.readKeys(p)
	switch {
	case n > 0:
		k.ends = 0
	case errors.Is(err, io.EOF) && k.ends < maxEnds && len(p) > 0:
		k.ends++
		p[0] = readline.CharDelete
		return 1, nil
	case err != nil:
		k.gone.Store(true)
	}
	return n, err
}

// readKeys reads at least one byte other than NUL, unless it returns an error or p is empty.
func (k *keys) readKeys(p []byte) (int, error) {
	for {
		n, err := k.in.Read(p)
		if kept := len(slices.DeleteFunc(p[:n], func(b byte) bool { return b == 0 })); kept > 0 || n == 0 || err != nil {
			return kept, err
		}
	}
}

// maxEnds limits how many consecutive ends of input are treated as a key.
const maxEnds = 3

// OpenTerminal takes control of the terminal until Close is called. It returns an error if in or
// out is not a terminal.
func OpenTerminal(in, out *os.File, s *Session, cfg TerminalConfig) (*Terminal, error) {
	if !readline.IsTerminal(int(in.Fd())) || !readline.IsTerminal(int(out.Fd())) {
		return nil, errors.New("not a terminal")
	}
	t := &Terminal{out: out, config: cfg, session: s}
	t.keys = &keys{in: in}
	rc := &readline.Config{
		Stdin: readline.NewCancelableStdin(t.keys), Stdout: out, Stderr: out,
		AutoComplete:           completer{t},
		HistoryLimit:           maxHistory,
		DisableAutoSaveHistory: true,
		FuncGetWidth:           t.width,
	}
	if cfg.Color {
		rc.Painter = painter{}
	}
	rl, err := readline.NewEx(rc)
	if err != nil {
		return nil, err
	}
	t.rl = rl
	t.history = editorHistory{old: cfg.History, remember: cfg.Remember, rl: rl}
	return t, t.history.fill(nil)
}

// ReadLine implements LineReader.
func (t *Terminal) ReadLine(prompt string) (string, error) {
	if t.config.Color {
		prompt = "\x1b[1m" + prompt + colorReset
	}
	if t.keys.gone.Load() {
		return "", io.EOF
	}
	if err := t.history.take(t.session.history); err != nil {
		return "", err
	}
	t.rl.SetPrompt(prompt)
	begun := t.begun
	t.begun = ""
	line, err := t.rl.ReadlineWithDefault(begun)
	switch {
	case errors.Is(err, readline.ErrInterrupt):
		return "", errLineCanceled
	case errors.Is(err, io.EOF):
		return "", io.EOF
	}
	return strings.ReplaceAll(line, shownBreak, "\n"), err
}

// draft sets the initial content of the next line.
func (t *Terminal) draft(line string) { t.begun = line }

// Close restores the terminal.
func (t *Terminal) Close() error { return t.rl.Close() }

// evaluating returns a context that Ctrl-C cancels. While a line is edited, readline handles
// Ctrl-C.
func (t *Terminal) evaluating(ctx context.Context) (context.Context, func()) {
	return signal.NotifyContext(ctx, os.Interrupt)
}

// width returns the number of columns of the terminal, or 0 if unknown.
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

// style colors error messages.
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

// A completer implements readline's AutoCompleter.
type completer struct{ *Terminal }

// Do implements readline's AutoCompleter. It returns the rest of each candidate after the cursor,
// and how many characters of the candidates are already typed.
func (t completer) Do(line []rune, pos int) (rest [][]rune, typed int) {
	c := t.session.Complete(string(line), pos)
	typed = pos - c.Start
	prefix := string(line[c.Start:pos])
	for _, candidate := range c.Candidates {
		if after, ok := strings.CutPrefix(candidate.Text, prefix); ok && printable(after) == after {
			rest = append(rest, []rune(after))
		}
	}
	return t.fitScreen(rest, typed), typed
}

// fitScreen returns the candidates that fit on the screen. If a candidate is wider than the screen,
// only the prefix that all candidates share is returned.
func (t *Terminal) fitScreen(rest [][]rune, typed int) [][]rune {
	width, height := t.size()
	if width <= 0 || height <= 0 || len(rest) < 2 {
		return rest
	}
	widest := 0
	for _, r := range rest {
		widest = max(widest, termwidth.Width(string(r))+typed+1)
	}
	perLine := (width - 1) / widest
	if perLine == 0 {
		if shared := sharedPrefix(rest); len(shared) > 0 {
			return [][]rune{shared}
		}
		return nil
	}
	return rest[:min(len(rest), perLine*max(1, height-2))]
}

func sharedPrefix(texts [][]rune) []rune {
	shared := texts[0]
	for _, text := range texts[1:] {
		n := 0
		for n < len(shared) && n < len(text) && shared[n] == text[n] {
			n++
		}
		shared = shared[:n]
	}
	return shared
}

type painter struct{}

// Paint implements readline's Painter.
func (painter) Paint(line []rune, pos int) []rune { return []rune(highlight(line, pos)) }

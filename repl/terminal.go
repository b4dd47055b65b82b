package repl

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"

	"github.com/chzyer/readline"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// TerminalConfig is how a terminal behaves. The zero value has no colours and
// no history of earlier sessions.
type TerminalConfig struct {
	Colour bool
	// History are the entries of earlier sessions, the oldest first; Remember is
	// called with each new one. An entry is what was answered as one: it may go
	// over several lines.
	History  []string
	Remember func(entry string)
	// Pager is the command that long answers are shown with; none is none.
	Pager []string
}

// maxHistory bounds the lines that the up key finds.
const maxHistory = 1000

// Terminal edits lines on a terminal, with the keys of readline.
type Terminal struct {
	rl      *readline.Instance
	out     *os.File
	config  TerminalConfig
	session *Session
	keys    *keys
	begun   string // of the next line
	recall  recall
}

// keys are what is typed. A Ctrl-D that comes while no line is edited reads as
// the end of input, after which readline would never read again: it is made the
// key that it was.
type keys struct {
	in   io.Reader
	ends int
	gone atomic.Bool
}

func (k *keys) Read(p []byte) (int, error) {
	n, err := k.in.Read(p)
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

// maxEnds bounds how often in a row an end can be a key.
const maxEnds = 3

// OpenTerminal takes over the terminal until Close. It fails where in or out is
// none.
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
	if cfg.Colour {
		rc.Painter = painter{}
	}
	rl, err := readline.NewEx(rc)
	if err != nil {
		return nil, err
	}
	t.rl = rl
	t.recall = recall{old: cfg.History, remember: cfg.Remember, rl: rl}
	return t, t.recall.fill(nil)
}

// ReadLine implements LineReader.
func (t *Terminal) ReadLine(prompt string) (string, error) {
	if t.config.Colour {
		prompt = "\x1b[1m" + prompt + colourNone
	}
	if t.keys.gone.Load() {
		return "", io.EOF
	}
	if err := t.recall.take(t.session.history); err != nil {
		return "", err
	}
	t.rl.SetPrompt(prompt)
	begun := t.begun
	t.begun = ""
	line, err := t.rl.ReadlineWithDefault(begun)
	switch {
	case errors.Is(err, readline.ErrInterrupt):
		return "", errLineCancelled
	case errors.Is(err, io.EOF):
		return "", io.EOF
	}
	return strings.ReplaceAll(line, shownBreak, "\n"), err
}

// draft begins the next line.
func (t *Terminal) draft(line string) { t.begun = line }

// Close gives the terminal back.
func (t *Terminal) Close() error { return t.rl.Close() }

// evaluating gives a context that Ctrl-C ends. While a line is edited the key
// is readline's.
func (t *Terminal) evaluating(ctx context.Context) (context.Context, func()) {
	return signal.NotifyContext(ctx, os.Interrupt)
}

// width is how many columns the terminal has; 0 when it does not say.
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

// style colours what is wrong.
func (t *Terminal) style(r Reply) string {
	if !t.config.Colour || !r.Failed {
		return r.Text
	}
	lines := strings.SplitAfter(r.Text, "\n")
	for i, line := range lines {
		if text, ok := strings.CutSuffix(line, "\n"); ok && (strings.HasPrefix(text, "error:") || strings.TrimLeft(text, " ") == "^") {
			lines[i] = colourError + text + colourNone + "\n"
		}
	}
	return strings.Join(lines, "")
}

// completer is the terminal as readline's AutoCompleter.
type completer struct{ *Terminal }

// Do implements readline's AutoCompleter: what follows the cursor for each
// candidate, and how much of them is there already.
func (t completer) Do(line []rune, pos int) (rest [][]rune, typed int) {
	c := t.session.Complete(string(line), pos)
	typed = pos - c.Start
	prefix := string(line[c.Start:pos])
	for _, candidate := range c.Candidates {
		if after, ok := strings.CutPrefix(candidate.Text, prefix); ok && printable(after) == after {
			rest = append(rest, []rune(after))
		}
	}
	return t.fitting(rest, typed), typed
}

// fitting keeps the candidates that the screen has room for. Where one is wider
// than the screen, only what all share can be completed.
func (t *Terminal) fitting(rest [][]rune, typed int) [][]rune {
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

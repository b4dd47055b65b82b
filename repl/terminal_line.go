//go:build !js

package repl

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/chzyer/readline"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/repl/internal/lineedit"
)

// How it works: readline paints nothing. It calls filter with each key, changes the line, and calls the
// listener, which paints. The editor handles the keys that readline does not. A key also cancels the
// preview; the listener schedules the next one, which is computed in a goroutine of its own after a pause
// and painted then. It must not be painted after the line was entered, so it is painted only if no key
// was pressed meanwhile.

type editedLine struct {
	// mu is held while the state changes and while the screen is painted. No goroutine waits for the session while it
	// holds mu.
	mu sync.Mutex
	// active is set until the line is entered or canceled.
	active   bool
	prompt   string
	text     []rune
	pos      int
	style    lineedit.Style
	color    bool
	previews bool
	preview  typedPreview
	// replaced is the action that the listener carries out, or nil.
	replaced *lineedit.Action
	// version changes with each key. A preview is shown only if the version has not changed.
	version int
	cancel  context.CancelFunc
	timer   *time.Timer
	// pause is previewPause, except in tests.
	pause time.Duration
}

const (
	previewPause   = 80 * time.Millisecond
	minPreviewRows = 6
)

// beginLine prepares for editing a line that begins with text. The caller holds use.
func (t *Terminal) beginLine(prompt, text string) {
	t.editor.Begin()
	l := &t.line
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prompt, l.text, l.preview, l.pause = prompt, []rune(text), typedPreview{}, t.pause
	l.pos = len(l.text)
	l.previews = !t.session.noPreview && !t.config.Plain
	l.color, l.style = t.config.Color, lineedit.Style{}
	if l.color {
		l.style = lineedit.Style{Dim: colorDim, Selected: colorSelected, Strong: colorStrong, Error: colorDimError, Reset: colorReset}
	}
}

// endLine outdates the preview, so that nothing is painted until the next line.
func (t *Terminal) endLine() {
	t.line.mu.Lock()
	defer t.line.mu.Unlock()
	t.line.outdate(true)
}

// outdate cancels the preview. If end is set, the editing of the line ends. The caller holds mu.
func (l *editedLine) outdate(end bool) {
	l.version++
	l.preview = typedPreview{}
	if l.cancel != nil {
		l.cancel()
		l.cancel = nil
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	l.active = l.active && !end
}

// filter implements readline's FuncFilterInputRune. It returns the key for readline.
func (t *Terminal) filter(r rune) (rune, bool) {
	l := &t.line
	if r != 0 {
		t.keys.Take()
	}
	l.mu.Lock()
	l.outdate(false)
	text, pos := l.text, l.pos
	l.mu.Unlock()

	a := t.editor.Key(r, text, pos)
	if a.Bell {
		_ = t.screen.Bell()
	}
	switch a.Key {
	case lineedit.KeyEnter, lineedit.KeyNewline:
		t.enter("")
	case lineedit.KeyInterrupt:
		t.enter("^C")
	case lineedit.KeyEOF:
		if len(text) == 0 {
			t.enter("^D")
		}
	case 0:
		t.endLine()
	case lineedit.KeySuspend:
		t.screen.Clear()
	}
	if stopsReading(r) && !stopsReading(a.Key) {
		t.rl.Terminal.KickRead()
	}
	if a.Replace {
		l.mu.Lock()
		l.replaced = &a
		l.mu.Unlock()
	}
	if key, ok := wordKeys[a.Key]; ok {
		return key, true
	}
	return a.Key, true
}

func (t *Terminal) enter(mark string) {
	l := &t.line
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outdate(true)
	l.text = append(l.text, []rune(mark)...)
	l.pos = len(l.text)
	t.paint(true)
}

// stopsReading reports whether readline reads no further keys after r until KickRead is called.
func stopsReading(r rune) bool {
	return r == lineedit.KeyEnter || r == lineedit.KeyNewline || r == lineedit.KeyInterrupt || r == lineedit.KeyEOF
}

// wordKeys maps keys to keys of readline, which have no encoding in UTF-8.
var wordKeys = map[rune]rune{
	lineedit.KeyWordLeft: readline.MetaBackward, lineedit.KeyWordRight: readline.MetaForward,
	lineedit.KeyWordDelete: readline.MetaDelete, lineedit.KeyWordErase: readline.MetaBackspace,
}

// A listener implements readline's Listener.
type listener struct{ *Terminal }

// OnChange is called with key 0 before a line is edited, and after each key.
func (t listener) OnChange(text []rune, pos int, key rune) (newText []rune, newPos int, ok bool) {
	if key == 0 && text == nil {
		t.line.mu.Lock()
		defer t.line.mu.Unlock()
		t.line.active = true
		t.paint(false)
		t.schedule()
		return nil, 0, false
	}
	if key != lineedit.KeyEOF && stopsReading(key) { // the next line may have begun
		return nil, 0, false
	}
	l := &t.line
	l.mu.Lock()
	a, active := l.replaced, l.active
	l.replaced = nil
	l.mu.Unlock()
	if !active {
		return nil, 0, false
	}
	if a != nil {
		text, pos = a.Line, a.Pos
	}
	t.editor.Changed(text, pos)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text, l.pos = slices.Clone(text), pos
	if !t.keys.Waiting() {
		t.paint(false)
		t.schedule()
	}
	return text, pos, a != nil
}

// schedule computes the preview of the line after a pause. The caller holds mu.
func (t *Terminal) schedule() {
	_, height := t.size()
	l := &t.line
	if !l.active || !l.previews || height < minPreviewRows || len(l.text) == 0 || t.editor.Open() {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	version, text, pos := l.version, string(l.text), l.pos
	l.cancel = cancel
	l.timer = time.AfterFunc(l.pause, func() { t.showPreview(ctx, version, text, pos) })
}

func (t *Terminal) showPreview(ctx context.Context, version int, text string, pos int) {
	t.use.Lock()
	var p typedPreview
	if ctx.Err() == nil {
		p = t.session.preview(ctx, text, pos)
	}
	t.use.Unlock()
	l := &t.line
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.version == version && l.active && p != (typedPreview{}) {
		l.preview = p
		t.paint(false)
	}
}

func (t *Terminal) refresh() {
	t.line.mu.Lock()
	defer t.line.mu.Unlock()
	if t.line.active {
		t.paint(false)
	}
}

// withSession runs f while no other goroutine uses the session. It waits for a line that is being
// executed. Commands must not call it.
func (t *Terminal) withSession(f func()) {
	t.use.Lock()
	defer t.use.Unlock()
	f()
}

// paint paints the line. The caller holds mu.
func (t *Terminal) paint(entered bool) {
	l := &t.line
	shown := make([]rune, len(l.text))
	for i, r := range l.text {
		if shown[i] = r; r < ' ' || r >= 0x7f && r < 0xa0 {
			shown[i] = '\ufffd'
		}
	}
	t.screen.Paint(lineedit.Frame{Prompt: l.prompt, Bold: l.color, Text: string(shown), Pos: l.pos, Entered: entered, Below: t.below(l.style, l.preview)})
}

func (t *Terminal) below(style lineedit.Style, p typedPreview) func(width, height int) []string {
	return func(width, height int) []string {
		if lines := t.editor.Below(style, width, height); lines != nil {
			return lines
		}
		var lines []string
		if p.call != "" {
			lines = append(lines, callText(style, p, width))
		}
		if p.text != "" && width > 2 {
			color := style.Dim
			if p.failed {
				color = style.Error
			}
			lines = append(lines, color+"  "+termwidth.Cut(p.text, width-2)+style.Reset)
		}
		return lines[:min(len(lines), height)]
	}
}

func callText(style lineedit.Style, p typedPreview, width int) string {
	if width <= 2 {
		return ""
	}
	text := termwidth.Cut(p.call, width-2)
	from, to := p.argument.Start, p.argument.End
	if from < to && to <= len(text) && text[:to] == p.call[:to] && style.Strong != "" {
		text = text[:from] + style.Reset + style.Strong + text[from:to] + style.Reset + style.Dim + text[to:]
	}
	return style.Dim + "  " + text + style.Reset
}

type source struct{ *Terminal }

// Complete implements lineedit.Source. Candidates that cannot be printed are omitted.
func (t source) Complete(line []rune, pos int) (c lineedit.Completion) {
	t.withSession(func() {
		found := t.session.Complete(string(line), pos)
		c.Start = found.Start
		for _, candidate := range found.Candidates {
			if printable(candidate.Text) == candidate.Text {
				c.Items = append(c.Items, lineedit.Item{Text: candidate.Text, Hint: printable(candidate.Hint)})
			}
		}
	})
	return c
}

// Describe implements lineedit.Source.
func (t source) Describe(line []rune, start int, item lineedit.Item) (text string) {
	t.withSession(func() { text = t.session.describeCandidate(string(line), start, item.Text) })
	return text
}

// History implements lineedit.Source.
func (t source) History() []string { return t.lines }

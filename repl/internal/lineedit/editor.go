package lineedit

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// A Source provides the data that an Editor offers. Positions and lengths count characters.
type Source interface {
	// Complete returns the candidates for the text before pos.
	Complete(line []rune, pos int) Completion
	// Describe returns the documentation of a candidate, or "".
	Describe(line []rune, start int, item Item) string
	// History returns the earlier lines, oldest first.
	History() []string
}

// A Completion holds the candidates for the text from Start to the cursor.
type Completion struct {
	Start int
	Items []Item
}

// An Item is a candidate: the text to insert, and its type or kind.
type Item struct{ Text, Hint string }

// An Editor processes keys before readline does. Key and Changed must be called by one goroutine.
// Below is safe for concurrent use.
type Editor struct {
	source Source
	menu   *menu
	search *search
	below  atomic.Pointer[panel] // a copy of the menu or of the search, or nil
}

type panel interface {
	lines(style Style, width, height int) []string
}

// An Action is the effect of a key.
type Action struct {
	// Key is the key for readline.
	Key rune
	// If Replace is set, Line and Pos replace the line and the cursor after readline processed Key.
	Replace bool
	Line    []rune
	Pos     int
	// Bell is set if the bell of the terminal should ring.
	Bell bool
}

// NewEditor returns an Editor that offers what source provides.
func NewEditor(source Source) *Editor { return &Editor{source: source} }

// Begin prepares the editor for a new line.
func (e *Editor) Begin() {
	e.close()
	e.publish()
}

// Key returns the action of a key in a line.
func (e *Editor) Key(r rune, line []rune, pos int) Action {
	pos = max(0, min(pos, len(line)))
	a := e.key(r, line, pos)
	switch a.Key {
	case 0, KeyEnter, KeyNewline, KeyInterrupt:
		e.close()
	case KeyEOF:
		if len(line) == 0 {
			e.close()
		}
	}
	e.publish()
	return a
}

func (e *Editor) close() { e.menu, e.search = nil, nil }

func (e *Editor) publish() {
	var shown panel
	switch {
	case e.menu != nil:
		menu := *e.menu
		shown = &menu
	case e.search != nil:
		search := *e.search
		shown = &search
	default:
		e.below.Store(nil)
		return
	}
	e.below.Store(&shown)
}

// Below returns the lines of the open menu or search, or nil. No line is wider than width columns.
func (e *Editor) Below(style Style, width, height int) []string {
	if shown := e.below.Load(); shown != nil {
		return (*shown).lines(style, width, height)
	}
	return nil
}

// Open reports whether a menu or a search is open.
func (e *Editor) Open() bool { return e.below.Load() != nil }

func (e *Editor) key(r rune, line []rune, pos int) Action {
	switch {
	case e.search != nil:
		return e.searchKey(r, line, pos)
	case e.menu != nil:
		if a, ok := e.menuKey(r, line, pos); ok {
			return a
		}
	}
	switch r {
	case KeyTab:
		return e.complete(line, pos)
	case KeySearch:
		e.search = &search{line: slices.Clone(line), pos: pos}
	case KeyDelete:
		if pos < len(line) {
			return replace(slices.Delete(slices.Clone(line), pos, pos+1), pos)
		}
		return Action{Key: KeyNone, Bell: true}
	case KeyEscape, KeyBackTab, KeyPaste:
	default:
		return Action{Key: r}
	}
	return Action{Key: KeyNone}
}

func replace(line []rune, pos int) Action {
	return Action{Key: KeyNone, Replace: true, Line: line, Pos: max(0, min(pos, len(line)))}
}

// Changed updates the menu after readline processed a key.
func (e *Editor) Changed(line []rune, pos int) {
	if e.menu == nil {
		return
	}
	before := e.menu.selected
	if !e.menu.filter(line, pos) {
		e.menu = nil
	} else if e.menu.selected != before || e.menu.text == "" {
		e.describe(line)
	}
	e.publish()
}

// A search looks for a text in the history, as Ctrl-R does in readline.
type search struct {
	text    string
	at      int // index in the history from its end, counted from 1; 0 is the line itself
	failing bool
	// line and pos are the line before the search.
	line []rune
	pos  int
}

func (e *Editor) searchKey(r rune, line []rune, pos int) Action {
	s := e.search
	switch {
	case r == KeySearch:
		return e.find(s.at + 1)
	case r == KeyBackspace || r == KeyErase:
		if s.text != "" {
			text := []rune(s.text)
			s.text = string(text[:len(text)-1])
		}
		return e.find(0)
	case r >= ' ' && (r < keyFirst || r > keyLast):
		s.text += string(r)
		return e.find(s.at)
	case r == KeyCancel || r == KeyEscape:
		e.search = nil
		return replace(s.line, s.pos)
	}
	e.search = nil
	return e.key(r, line, pos)
}

// find shows the latest entry that contains the text, searching backwards from the index at; see search.at.
func (e *Editor) find(at int) Action {
	s := e.search
	s.failing = false
	if s.text == "" {
		s.at = max(0, at)
		return replace(s.line, s.pos)
	}
	entries := e.source.History()
	for i := at; i <= len(entries); i++ {
		entry := s.line
		if i > 0 {
			entry = []rune(entries[len(entries)-i])
		}
		if found := strings.Index(string(entry), s.text); found >= 0 {
			s.at = i
			return replace(slices.Clone(entry), len([]rune(string(entry)[:found])))
		}
	}
	s.failing = true
	return Action{Key: KeyNone, Bell: true}
}

func (s *search) lines(style Style, width, _ int) []string {
	text := "bck-i-search: "
	if s.failing {
		text = "failing " + text
	}
	return []string{style.Dim + termwidth.Cut(text+s.text+"_", width) + style.Reset}
}

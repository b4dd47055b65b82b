package lineedit

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// A search looks for a text in the history, as Ctrl-R does in readline.
type search struct {
	text    string
	at      int // index in the history from its end, counted from 1; 0 is the line itself
	failing bool
	forward bool
	// line and pos are the line before the search.
	line []rune
	pos  int
}

func (e *Editor) searchKey(r rune, line []rune, pos int) Action {
	s := e.search
	switch {
	case r == KeySearch:
		return e.find(s.at+1, false)
	case r == KeyForward:
		return e.find(s.at-1, true)
	case r == KeyBackspace || r == KeyErase:
		if s.text != "" {
			text := []rune(s.text)
			s.text = string(text[:len(text)-1])
		}
		return e.find(0, false)
	case r >= ' ' && (r < keyFirst || r > keyLast):
		s.text += string(r)
		return e.find(s.at, s.forward)
	case r == KeyCancel || r == KeyEscape:
		e.search = nil
		return replace(s.line, s.pos)
	}
	e.search = nil
	return e.key(r, line, pos)
}

// find shows the first entry with the text, from the entry at on.
func (e *Editor) find(at int, forward bool) Action {
	s := e.search
	s.failing, s.forward = false, forward
	if s.text == "" {
		s.at = max(0, at)
		return replace(s.line, s.pos)
	}
	entries := e.source.History()
	step := 1
	if forward {
		step = -1
	}
	for i := at; i >= 0 && i <= len(entries); i += step {
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
	if s.forward {
		text = "fwd-i-search: "
	}
	if s.failing {
		text = "failing " + text
	}
	return []string{style.Dim + termwidth.Cut(text+s.text+"_", width) + style.Reset}
}

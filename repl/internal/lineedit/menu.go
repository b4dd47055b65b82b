package lineedit

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

const (
	maxMenuRows  = 8
	minMenuRows  = 1
	maxHelpRows  = 2
	maxNameShare = 2 // names may always have half of the width
	maxItems     = 10_000
	itemMark     = "> "
	noMark       = "  "
	betweenParts = "  "
)

// A Style holds the color sequences of the lines below an edited line. The zero value has no colors.
type Style struct{ Dim, Selected, Strong, Error, Reset string }

type menu struct {
	all, items []Item
	// start is where the candidates begin in the line; opened is the cursor when the menu was opened.
	start, opened int
	// typed is the text before the cursor that the items complete.
	typed    string
	selected int
	text     string // the documentation of the selected item
}

func (e *Editor) complete(line []rune, pos int) Action {
	c := e.source.Complete(line, pos)
	if c.Start < 0 || c.Start > pos || len(c.Items) == 0 {
		return Action{Key: KeyNone, Bell: true}
	}
	items := c.Items[:min(len(c.Items), maxItems)]
	if len(items) == 1 {
		return insert(line, c.Start, pos, items[0].Text)
	}
	a := Action{Key: KeyNone}
	prefix := []rune(sharedPrefix(items))
	if len(prefix) > pos-c.Start {
		line = slices.Concat(line[:c.Start], prefix, line[pos:])
		pos = c.Start + len(prefix)
		a = replace(line, pos)
	}
	e.menu = &menu{all: items, items: items, start: c.Start, opened: pos}
	e.menu.typed = string(line[c.Start:pos])
	e.describe(line)
	return a
}

func sharedPrefix(items []Item) string {
	shared := []rune(items[0].Text)
	for _, item := range items[1:] {
		n := 0
		for _, r := range item.Text {
			if n == len(shared) || shared[n] != r {
				break
			}
			n++
		}
		shared = shared[:n]
	}
	return string(shared)
}

// insert replaces the text from start to pos by text. Closing quotes and brackets at the end of text are
// not repeated if they follow already.
func insert(line []rune, start, pos int, text string) Action {
	with := []rune(text)
	rest := line[pos:]
	for n := min(len(with), len(rest)); n > 0; n-- {
		if slices.Equal(with[len(with)-n:], rest[:n]) && !strings.ContainsFunc(string(rest[:n]), inName) {
			rest = rest[n:]
			break
		}
	}
	return replace(slices.Concat(line[:start], with, rest), start+len(with))
}

func inName(r rune) bool {
	return r == '_' || r == ' ' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func (e *Editor) describe(line []rune) {
	m := e.menu
	m.text = e.source.Describe(line, m.start, m.items[m.selected])
}

// menuKey returns the action of a key while a menu is open. If it returns false, the menu is closed and
// the key has its usual action.
func (e *Editor) menuKey(r rune, line []rune, pos int) (Action, bool) {
	m := e.menu
	switch r {
	case KeyTab, KeyDown:
		return e.move(line, 1), true
	case KeyBackTab, KeyUp:
		return e.move(line, -1), true
	case KeyEnter, KeyNewline, KeyRight:
		e.menu = nil
		return insert(line, m.start, pos, m.items[m.selected].Text), true
	case KeyCancel, KeyEscape:
		e.menu = nil
		return Action{Key: KeyNone}, true
	case KeyBackspace, KeyErase:
		if pos > m.opened {
			return Action{Key: r}, true
		}
	default:
		if r >= ' ' && (r < keyFirst || r > keyLast) {
			return Action{Key: r}, true
		}
	}
	e.menu = nil
	return Action{}, false
}

func (e *Editor) move(line []rune, by int) Action {
	m := e.menu
	m.selected = (m.selected + by + len(m.items)) % len(m.items)
	e.describe(line)
	return Action{Key: KeyNone}
}

// filter keeps the items that begin with the text before the cursor, ignoring case if no item matches
// exactly. It returns false if the menu should be closed.
func (m *menu) filter(line []rune, pos int) bool {
	if pos < m.opened || pos > len(line) {
		return false
	}
	typed := string(line[m.start:pos])
	if typed == m.typed {
		return true
	}
	old := m.items[m.selected]
	var items, folded []Item
	for _, item := range m.all {
		switch n := len(typed); {
		case strings.HasPrefix(item.Text, typed):
			items = append(items, item)
		case len(item.Text) >= n && strings.EqualFold(item.Text[:n], typed):
			folded = append(folded, item)
		}
	}
	if len(items) == 0 {
		items = folded
	}
	if len(items) == 0 || len(items) == 1 && items[0].Text == typed {
		return false
	}
	m.typed, m.items, m.text = typed, items, ""
	m.selected = max(0, slices.Index(items, old))
	return true
}

func (m *menu) lines(style Style, width, height int) []string {
	help := wrap(m.text, width-len(noMark), min(maxHelpRows, max(0, height-2)))
	rows := min(maxMenuRows, len(m.items), max(minMenuRows, height-len(help)))
	more := ""
	if rows < len(m.items) && rows > 2 {
		rows = min(rows, max(minMenuRows, height-len(help)-1))
		more = fmt.Sprintf("%d of %d", m.selected+1, len(m.items))
	}
	first := max(0, min(m.selected-rows/2, len(m.items)-rows))
	names := 0
	for _, item := range m.items[first : first+rows] {
		names = max(names, termwidth.Width(item.Text))
	}
	names = max(1, min(names, max(width/maxNameShare, width-len(noMark)-len(betweenParts)-maxHintShown)))
	var out []string
	for i := first; i < first+rows; i++ {
		out = append(out, m.row(style, i, names, width))
	}
	if more != "" {
		help = append(help, more)
	}
	for _, text := range help[:min(len(help), max(0, height-rows))] {
		out = append(out, style.Dim+termwidth.Cut(noMark+text, width)+style.Reset)
	}
	return out
}

// maxHintShown is the width that names leave for types.
const maxHintShown = 24

func (m *menu) row(style Style, i, names, width int) string {
	item := m.items[i]
	name := termwidth.Cut(item.Text, names)
	name += strings.Repeat(" ", max(0, names-termwidth.Width(name)))
	mark, color := noMark, ""
	if i == m.selected {
		mark, color = itemMark, style.Selected
	}
	name = termwidth.Cut(mark+name, width)
	hint := ""
	if left := width - termwidth.Width(name); item.Hint != "" && left > len(betweenParts) {
		hint = style.Dim + termwidth.Cut(betweenParts+item.Hint, left) + style.Reset
	}
	if color != "" {
		name = color + name + style.Reset
	}
	return name + hint
}

func wrap(text string, width, lines int) []string {
	if width < 1 || lines < 1 || text == "" {
		return nil
	}
	out := strings.Split(termwidth.Fold(strings.Join(strings.Fields(text), " "), width, 0), "\n")
	if len(out) > lines {
		out = append(out[:lines-1], strings.Join(out[lines-1:], " "))
	}
	for i := range out {
		out[i] = termwidth.Cut(out[i], width)
	}
	return out
}

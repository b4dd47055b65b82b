package lsp

import (
	"bytes"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
)

// written is the word before the cursor in block YAML, which the user is typing.
type written struct {
	from  int
	steps []engine.Step // path of the mapping that gets the key, or of the value
	value bool
	// otherKeys holds the other keys of the mapping.
	otherKeys map[string]bool
}

// A line is a parsed line of block YAML: item indicators, followed by a key or other text.
type line struct {
	dashes  []int // columns
	column  int   // column of the text after them
	key     string
	isKey   bool
	rest    string // after the key
	nothing bool
}

// wordAt parses the document up to offset by indentation alone. It returns nil if the cursor is
// neither in a key nor in a value.
func wordAt(text []byte, offset int) *written {
	begin := bytes.LastIndexByte(text[:offset], '\n') + 1
	here := lineOf(text[begin:offset])
	w := &written{otherKeys: map[string]bool{}}
	var key []engine.Step
	switch {
	case here.isKey && !strings.ContainsAny(strings.TrimSpace(here.rest), " {}[]\"'#&*|>"):
		w.value = true
		w.from = offset - len(strings.TrimLeft(here.rest, " "))
		if here.rest == "" {
			return nil // immediately after the colon
		}
		key = []engine.Step{{Name: here.key}}
	case !here.isKey && !strings.ContainsAny(here.rest, " :{}[]\"'#&*|>"):
		w.from = offset - len(here.rest)
	default:
		return nil
	}
	up := ancestry{text: text[:begin], column: here.column, otherKeys: w.otherKeys}
	w.steps = append(up.steps(here.dashes), key...)
	if next := bytes.IndexByte(text[offset:], '\n'); next >= 0 {
		collectKeys(text[offset+next+1:], here.column, w.otherKeys)
	}
	return w
}

// collectKeys adds the keys of the mapping that continues after a line.
func collectKeys(text []byte, column int, keys map[string]bool) {
	for l := range bytes.Lines(text) {
		if decode.Separator(l) {
			return
		}
		is := lineOf(l)
		if is.nothing || is.column > column && len(is.dashes) == 0 {
			continue
		}
		if is.column < column || len(is.dashes) > 0 && is.dashes[0] < column {
			return
		}
		if is.isKey && is.column == column {
			keys[is.key] = true
		}
	}
}

func lineOf(text []byte) (l line) {
	s := strings.TrimRight(string(text), "\r\n")
	for {
		trimmed := strings.TrimLeft(s[l.column:], " ")
		l.column = len(s) - len(trimmed)
		if !strings.HasPrefix(trimmed, "- ") && trimmed != "-" {
			break
		}
		l.dashes = append(l.dashes, l.column)
		l.column++
		if trimmed == "-" {
			break
		}
	}
	l.rest = s[l.column:]
	if l.rest == "" && len(l.dashes) == 0 || strings.HasPrefix(l.rest, "#") {
		l.nothing = true
		return l
	}
	key, rest, ok := strings.Cut(l.rest, ":")
	if ok && (rest == "" || rest[0] == ' ') && !strings.ContainsAny(key, "{}[]#&*") {
		l.isKey, l.key, l.rest = true, strings.Trim(key, `"' `), rest
	}
	return l
}

// An ancestry goes from a line up to the top of its document.
type ancestry struct {
	text      []byte // above
	column    int    // of the mapping that contains the line
	otherKeys map[string]bool
	found     []engine.Step // innermost first
}

// steps returns the path from the root to the mapping. Dashes are the columns of the item indicators
// before the mapping on its line.
func (c *ancestry) steps(dashes []int) []engine.Step {
	first := true
	inList := c.items(dashes)
	for len(c.text) > 0 && c.column > 0 || inList {
		begin := bytes.LastIndexByte(bytes.TrimSuffix(c.text, []byte("\n")), '\n') + 1
		if len(c.text) == 0 {
			break
		}
		l := lineOf(c.text[begin:])
		c.text = c.text[:begin]
		if l.nothing {
			continue
		}
		switch at := l.column; {
		case inList && len(l.dashes) > 0 && l.dashes[len(l.dashes)-1] >= c.column:
		case inList && l.isKey && at <= c.column && (len(l.dashes) == 0 || l.dashes[0] < c.column):
			c.found = append(c.found, engine.Step{Name: l.key})
			c.column, inList, first = at, c.itemsAt(l.dashes, at), false
		case !inList && at == c.column:
			if first && l.isKey {
				c.otherKeys[l.key] = true
			}
			if len(l.dashes) > 0 {
				inList = c.items(l.dashes)
				first = false
			}
		case !inList && at < c.column && l.isKey:
			c.found = append(c.found, engine.Step{Name: l.key})
			c.column, first = at, false
			inList = c.itemsAt(l.dashes, at)
		}
	}
	if c.column == 0 && first {
		c.top()
	}
	slices.Reverse(c.found)
	return c.found
}

// top adds the keys of the root that are above.
func (c *ancestry) top() {
	for l := range bytes.Lines(c.text) {
		if is := lineOf(l); is.isKey && is.column == 0 {
			c.otherKeys[is.key] = true
		}
	}
}

func (c *ancestry) itemsAt(dashes []int, column int) bool {
	c.column = column
	return c.items(dashes)
}

// items adds a step for each dash of a line. It reports whether there are dashes; then the search
// continues with the list of the first dash.
func (c *ancestry) items(dashes []int) bool {
	for range dashes {
		c.found = append(c.found, engine.Step{Item: true})
	}
	if len(dashes) == 0 {
		return false
	}
	c.column = dashes[0]
	return true
}

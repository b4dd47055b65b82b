package lsp

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// written is the word before the cursor in block YAML, which the user is typing.
type written struct {
	from      int
	steps     []engine.Step // path of the mapping that gets the key, or of the value
	value     bool
	otherKeys map[string]bool
}

// unfinished matches a line up to the cursor: item indicators, perhaps a key, and the word.
var unfinished = regexp.MustCompile(`^ *(?:- +)*([^ {}\[\]#&*][^{}\[\]#&*]*?: +)?([^ :{}\[\]"'#&*|>]*)$`)

// placeholder replaces the word, so that the text around it is YAML.
const placeholder = "celadon-cursor"

// wordAt returns the word of the document before the cursor, which is at offset. It returns nil if the cursor is
// neither in a key nor in a value.
func wordAt(text []byte, offset int) *written {
	begin := bytes.LastIndexByte(text[:offset], '\n') + 1
	found := unfinished.FindSubmatchIndex(text[begin:offset])
	if found == nil || string(text[begin+found[4]:offset]) == "-" {
		return nil
	}
	w := &written{from: begin + found[4], value: found[2] >= 0, otherKeys: map[string]bool{}}
	word := placeholder + ":\n"
	if w.value {
		word = placeholder + "\n"
	}
	_, rest, _ := bytes.Cut(text[offset:], []byte("\n"))
	tree := position.ParseTolerant(slices.Concat(text[:w.from], []byte(word), rest))
	spot := tree.At(w.from)
	if spot.Node == nil || spot.Node.Value != placeholder || spot.Key == w.value {
		return nil
	}
	path := spot.Path
	if !w.value {
		path = path[:len(path)-1]
	}
	w.steps = stepsOf(path)
	if _, mapping := tree.Find(path); mapping != nil && !w.value {
		for _, key := range mapping.Keys {
			w.otherKeys[key.Value] = true
		}
	}
	return w
}

package lsp

import (
	"bytes"
	"iter"
	"sync"

	"github.com/celadon-cel/celadon/internal/yaml/decode"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// trees are what stands where in the documents of a file, as it is being written. The
// tree of a document that has not changed is that of the text before, and one that is
// no YAML is understood by the tree that it had lately.
type trees struct {
	mu    sync.Mutex
	known []piece
}

// piece is one document of a file.
type piece struct {
	start, index int
	bytes        []byte
	tree         *position.Document
	good         *position.Document // the last that was YAML
}

// at is the document around an offset, and the offset in it.
func (t *trees) at(of *text, offset int) (p piece, within int) {
	if len(of.bytes) > maxText {
		return piece{tree: position.Loose(nil, nil)}, 0
	}
	start, end, index := decode.Around(of.bytes, offset)
	p = t.of(of, start, end, index)
	return p, max(0, min(offset, end)-start)
}

// all are the documents of a text that hold a word.
func (t *trees) all(of *text, word string) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		if len(of.bytes) > maxText {
			return
		}
		for start, index := 0, 0; start < len(of.bytes) && index < maxParts; index++ {
			end, next := len(of.bytes), len(of.bytes)
			for at := start; at < len(of.bytes); {
				line := of.bytes[at:]
				if n := bytes.IndexByte(line, '\n'); n >= 0 {
					line = line[:n+1]
				}
				if decode.Separator(line) {
					end, next = at, at+len(line)
					break
				}
				at += len(line)
			}
			if index == 0 && bytes.HasPrefix(of.bytes, bom) {
				start = len(bom)
			}
			if bytes.Contains(of.bytes[start:max(start, end)], []byte(word)) && !yield(t.of(of, start, end, index)) {
				return
			}
			start = next
		}
	}
}

// of is the document between two offsets.
func (t *trees) of(of *text, start, end, index int) (p piece) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.known) <= index && index < maxParts {
		t.known = append(t.known, piece{})
	}
	if index >= maxParts {
		return piece{start: start, index: index, tree: position.Loose(nil, nil)}
	}
	before := t.known[index]
	p = piece{start: start, index: index, bytes: of.bytes[start:end], tree: before.tree, good: before.good}
	if before.tree == nil || !bytes.Equal(p.bytes, before.bytes) {
		p.tree = position.Loose(p.bytes, p.good)
		if p.tree.Broken() == nil {
			p.good = p.tree
		}
	}
	t.known[index] = p
	return p
}

package editor

import (
	"bytes"
	"sync"

	"github.com/celadon-cel/celadon/internal/yaml/decode"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

const (
	// MaxText is the size in bytes of the largest text that is parsed.
	MaxText = 16 << 20
	// MaxParts limits the documents of a text that are parsed.
	MaxParts = 10_000
)

// Trees holds the trees of the documents of a text that is being edited. A document keeps its tree until its
// text or its index changes. Trees is safe for concurrent use. The zero value is ready to use.
type Trees struct {
	mu    sync.Mutex
	known map[int]Piece // by index
}

// A Piece is a document in a text.
type Piece struct {
	Start, Index int // offset of its first byte, and index of the document
	Bytes        []byte
	Tree         *position.Document
}

// At returns the document around an offset of the text, and the offset in that document. The document is
// empty if it is beyond the limits.
func (t *Trees) At(text []byte, offset int) (p Piece, within int) {
	if len(text) > MaxText {
		return Piece{Tree: position.ParseTolerant(nil)}, 0
	}
	start, end, index := decode.Around(text, offset)
	p = t.of(text, start, end, index)
	return p, max(0, min(offset, end)-start)
}

func (t *Trees) of(text []byte, start, end, index int) (p Piece) {
	if index >= MaxParts {
		return Piece{Start: start, Index: index, Tree: position.ParseTolerant(nil)}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.known[index]
	p = Piece{Start: start, Index: index, Bytes: text[start:end], Tree: before.Tree}
	if before.Tree == nil || !bytes.Equal(p.Bytes, before.Bytes) {
		p.Tree = position.ParseTolerant(p.Bytes)
	}
	if t.known == nil {
		t.known = map[int]Piece{}
	}
	t.known[index] = p
	return p
}

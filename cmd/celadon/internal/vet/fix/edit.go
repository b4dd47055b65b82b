package fix

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/crdedit"
)

// Text returns text with its CRDs fixed. docs must be in the order of the text.
func Text(text []byte, docs []*input.Document, vetted []*Vetted) ([]byte, error) {
	e := edit{text: text}
	for i, doc := range docs {
		if err := e.follow(crd{doc, vetted[i]}); err != nil {
			return nil, err
		}
	}
	return e.result()
}

// Each returns text with the source of each document replaced by the result of change.
func Each(text []byte, docs []*input.Document, change func(i int, source []byte) ([]byte, error)) ([]byte, error) {
	e := edit{text: text}
	for i, doc := range docs {
		p, err := e.piece(doc)
		if err == nil {
			p.after, err = change(i, p.after)
		}
		if err != nil {
			return nil, err
		}
	}
	return e.result()
}

// edit is a file's text with pending changes.
type edit struct {
	text   []byte
	pieces []piece
	bounds int
	rules  int
	fixed  int // CRDs
}

// piece is a document of the file: a CRD, or a List of them.
type piece struct {
	start  int // in the file
	before []byte
	after  []byte
}

// follow applies a CRD's advice and rewrites.
func (e *edit) follow(c crd) error {
	p, err := e.piece(c.doc)
	if err != nil {
		return err
	}
	_, _, inList := c.doc.Source()
	text, err := crdedit.Parse(p.after, inList, c.doc.Item)
	if err != nil {
		return err
	}
	after, n, err := text.Follow(c.Report, c.Rules...)
	if err != nil {
		return err
	}
	p.after = after
	e.bounds += n
	e.rules += len(c.Rules)
	e.fixed++
	return nil
}

// piece returns the document that contains a CRD. The CRDs of a YAML List share a document.
func (e *edit) piece(doc *input.Document) (*piece, error) {
	source, line, inList := doc.Source()
	if source == nil {
		return nil, errors.New("its source is unknown")
	}
	start := outfile.LineStart(e.text, line)
	if last := len(e.pieces) - 1; last >= 0 {
		p := &e.pieces[last]
		if inList && doc.Item > 0 && p.start >= start && bytes.Equal(p.before, source) {
			return p, nil
		}
		start = max(start, p.start+len(p.before))
	}
	at := bytes.Index(e.text[start:], source)
	if at < 0 {
		return nil, outfile.ErrChanged
	}
	e.pieces = append(e.pieces, piece{start + at, source, source})
	return &e.pieces[len(e.pieces)-1], nil
}

// result returns the text with all changes.
func (e *edit) result() ([]byte, error) {
	var out []byte
	done := 0
	for _, p := range e.pieces {
		if p.start < done {
			return nil, outfile.ErrChanged
		}
		out = append(append(out, e.text[done:p.start]...), p.after...)
		done = p.start + len(p.before)
	}
	return append(out, e.text[done:]...), nil
}

// done returns a summary of the changes.
func (e *edit) done(dry bool) untrusted.Safe {
	set, changed := "set", "changed"
	if dry {
		set, changed = "to set", "to change"
	}
	var parts []string
	if e.bounds > 0 {
		parts = append(parts, fmt.Sprintf("bounds %s: %d", set, e.bounds))
	}
	if e.rules > 0 {
		parts = append(parts, fmt.Sprintf("rules %s: %d", changed, e.rules))
	}
	return untrusted.Safe(strings.Join(parts, "; "))
}

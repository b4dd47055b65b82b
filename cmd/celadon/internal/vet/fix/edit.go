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

type edit struct {
	text   []byte
	pieces []piece
	counts counts
}

type counts struct{ crds, keys, bounds, rules int }

type piece struct {
	start  int // in the file
	before []byte
	after  []byte
}

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
	after, keys, err := text.CorrectKeys(c.Keys)
	if err != nil {
		return err
	}
	if keys > 0 { // no path of a bound or rule contains an unknown key
		if text, err = crdedit.Parse(after, inList, c.doc.Item); err != nil {
			return err
		}
	}
	after, bounds, err := text.Follow(c.Report, c.Rules...)
	if err != nil {
		return err
	}
	p.after = after
	n := &e.counts
	n.crds, n.keys, n.bounds, n.rules = n.crds+1, n.keys+keys, n.bounds+bounds, n.rules+len(c.Rules)
	return nil
}

// The CRDs of a YAML List share a piece.
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

func (c counts) summary(dry bool) untrusted.Safe {
	set, changed, corrected := "set", "changed", "corrected"
	if dry {
		set, changed, corrected = "to set", "to change", "to correct"
	}
	var parts []string
	for _, of := range []struct {
		text string
		n    int
	}{{"keys " + corrected, c.keys}, {"bounds " + set, c.bounds}, {"rules " + changed, c.rules}} {
		if of.n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", of.text, of.n))
		}
	}
	return untrusted.Safe(strings.Join(parts, "; "))
}

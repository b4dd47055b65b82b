// Package excerpt locates the fields of a report in a document. It returns lines, columns, and the
// text of the line with secrets hidden.
package excerpt

import (
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/secret"
)

// Excerpts returns lines of a document with secrets hidden.
type Excerpts struct {
	Doc   *input.Document
	Texts secret.Texts
	width int
	spans []input.Span
}

// NewExcerpts returns the Excerpts of doc. They cut off the values at the paths in s, and are empty for lines that
// contain a secret string, from s or more. width is the width of the report; 0 is the default.
func NewExcerpts(doc *input.Document, width int, s *secret.Secrets, more secret.Texts) *Excerpts {
	return &Excerpts{doc, slices.Concat(s.Texts, more), width, doc.Spans(s.Paths)}
}

// Locate adds the positions of causes in the document. The first Shown of them also get excerpts.
func (e *Excerpts) Locate(causes []finding.Cause, places []input.Position) {
	for i, at := range places {
		if at.Line == 0 {
			continue
		}
		c := &causes[i]
		if c.File, c.Line, c.Column = e.Doc.File, at.Line, at.Column; i < Shown {
			c.Excerpt = e.At(at)
		}
	}
}

// At returns the line at a position. The excerpt is empty if the line is unknown or inside a secret.
func (e *Excerpts) At(position input.Position) finding.Excerpt {
	line, index, ok := e.Doc.SourceLine(position)
	if !ok {
		return finding.Excerpt{}
	}
	hide := len(line)
	for _, s := range e.spans {
		switch {
		case s.Line == position.Line:
			hide = min(hide, index+s.Column-position.Column)
		case s.Line < position.Line && position.Line <= s.Last:
			return finding.Excerpt{}
		}
	}
	return finding.NewExcerpt(line, index, hide, e.width, e.Texts)
}

// Shown limits the number of causes per object that have an excerpt and values. An object can have
// half a million causes.
const Shown = 100

// Strict returns the locations of fields that strict decoding rejects. Fields without a name or a known position are
// omitted.
func Strict(doc *input.Document, strict []engine.StrictError, excerpts *Excerpts) []finding.Location {
	fields := make([]string, len(strict))
	for i, e := range strict {
		fields[i] = e.Field
	}
	locations := make([]finding.Location, 0, len(strict))
	for i, at := range doc.Locate(fields) {
		if at.Line == 0 || fields[i] == "" {
			continue
		}
		location := finding.Location{File: doc.File, Line: at.Line, Column: at.Column, Field: fields[i], Message: strict[i].Message}
		if i < Shown {
			location.Excerpt = excerpts.At(at)
		}
		locations = append(locations, location)
	}
	return locations
}

// Duplicates returns the locations of duplicate keys.
func Duplicates(doc *input.Document, excerpts *Excerpts) []finding.Location {
	var locations []finding.Location
	for i, key := range doc.DuplicateKeys() {
		location := finding.Location{File: doc.File, Line: key.Line, Column: key.Column, Field: key.Key, Message: key.Complaint, Hint: "the mapping has this key twice: remove one of them"}
		// No excerpt if the document has secrets, because the secrets do not include the values that duplicate keys
		// overwrote. Keys of a List are reported for each item, and their lines may be long.
		if i < Shown && !key.Around && len(excerpts.Texts) == 0 {
			location.Excerpt = excerpts.At(key.Position)
		}
		locations = append(locations, location)
	}
	return locations
}

// Package excerpt finds in a document what a report is about: lines, columns, and
// the text that stands there, without what is secret.
package excerpt

import (
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/x/secret"
)

// Excerpts are lines of a document, without the secrets that stand on them.
type Excerpts struct {
	Doc   *input.Document
	Texts secret.Texts
	width int
	spans []input.Span
}

// NewExcerpts hides the secrets, and more of them where they are part of a line. Width
// is how wide an excerpt is, 0 the usual.
func NewExcerpts(doc *input.Document, width int, s *secret.Secrets, more secret.Texts) *Excerpts {
	return &Excerpts{doc, slices.Concat(s.Texts, more), width, doc.Spans(s.Paths)}
}

// At is the line of a place.
func (e *Excerpts) At(place input.Position) finding.Excerpt {
	line, index, ok := e.Doc.SourceLine(place)
	if !ok {
		return finding.Excerpt{}
	}
	hide := len(line)
	for _, s := range e.spans {
		switch {
		case s.Line == place.Line:
			hide = min(hide, index+s.Column-place.Column)
		case s.Line < place.Line && place.Line <= s.Last:
			return finding.Excerpt{}
		}
	}
	return finding.NewExcerpt(line, index, hide, e.width, e.Texts)
}

package excerpt

import (
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
)

// Shown limits the number of causes per object that have an excerpt and values. An object can have
// half a million causes.
const Shown = 100

// Strict returns the locations of fields that strict decoding rejects; these have no causes. Fields
// without a name, or that are not found, are omitted.
func Strict(doc *input.Document, strict []engine.StrictError, excerpts *Excerpts) []finding.Place {
	fields := make([]string, len(strict))
	for i, e := range strict {
		fields[i] = e.Field
	}
	places := make([]finding.Place, 0, len(strict))
	for i, at := range doc.Locate(fields) {
		if at.Line == 0 || fields[i] == "" {
			continue
		}
		place := finding.Place{File: doc.File, Line: at.Line, Column: at.Column, Field: fields[i], Message: strict[i].Message}
		if i < Shown {
			place.Excerpt = excerpts.At(at)
		}
		places = append(places, place)
	}
	return places
}

// Duplicates returns the locations of duplicate keys.
func Duplicates(doc *input.Document, excerpts *Excerpts) []finding.Place {
	var places []finding.Place
	for i, key := range doc.DuplicateKeys() {
		place := finding.Place{File: doc.File, Line: key.Line, Column: key.Column, Field: key.Key, Message: key.Complaint}
		// No excerpt if the document has secrets, because the secrets do not include the values
		// that duplicate keys overwrote. Keys of a List are reported for each item, and their lines
		// may be long.
		if i < Shown && !key.Around && len(excerpts.Texts) == 0 {
			place.Excerpt = excerpts.At(key.Position)
		}
		places = append(places, place)
	}
	return places
}

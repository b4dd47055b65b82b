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
		location := finding.Location{File: doc.File, Line: key.Line, Column: key.Column, Field: key.Key, Message: key.Complaint, Hint: "this key stands there twice: remove one of them"}
		// No excerpt if the document has secrets, because the secrets do not include the values
		// that duplicate keys overwrote. Keys of a List are reported for each item, and their lines
		// may be long.
		if i < Shown && !key.Around && len(excerpts.Texts) == 0 {
			location.Excerpt = excerpts.At(key.Position)
		}
		locations = append(locations, location)
	}
	return locations
}

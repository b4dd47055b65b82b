package excerpt

import (
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
)

// Shown is how many causes of one object come with the line that they are about
// and the values in it: an object may have half a million.
const Shown = 100

// Strict finds the fields that strict decoding refuses; there are no causes for
// them. One that is not found, or has no name, is left out.
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

// Duplicates finds the keys that stand twice.
func Duplicates(doc *input.Document, excerpts *Excerpts) []finding.Place {
	var places []finding.Place
	for i, key := range doc.DuplicateKeys() {
		place := finding.Place{File: doc.File, Line: key.Line, Column: key.Column, Field: key.Key, Message: key.Complaint}
		// Of a secret the key's other value is not known. A List's own keys are told
		// with each of its items, and their line may be long.
		if i < Shown && !key.Around && len(excerpts.Texts) == 0 {
			place.Excerpt = excerpts.At(key.Position)
		}
		places = append(places, place)
	}
	return places
}

package where

import (
	"regexp"
	"strconv"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
)

// Shown is how many causes of one object come with the line that they are about
// and the values in it: an object may have half a million.
const Shown = 100

var strictField = regexp.MustCompile(`(?:unknown|duplicate) field "([^"]*)"`)

// Strict finds the fields that strict decoding names in its text; there
// are no causes for them.
func Strict(doc *input.Document, message string, excerpts *Excerpts) []report.Place {
	var fields, messages []string
	for _, match := range strictField.FindAllStringSubmatch(message, -1) {
		fields, messages = append(fields, match[1]), append(messages, match[0])
	}
	return Fields(doc, fields, messages, excerpts)
}

// Fields finds fields in a document, each with the message about it.
func Fields(doc *input.Document, fields, messages []string, excerpts *Excerpts) []report.Place {
	var places []report.Place
	for i, at := range doc.Locate(fields) {
		if at.Line == 0 {
			continue
		}
		place := report.Place{File: doc.File, Line: at.Line, Column: at.Column, Field: fields[i], Message: messages[i]}
		if i < Shown {
			place.Excerpt = excerpts.At(at)
		}
		places = append(places, place)
	}
	return places
}

var duplicateKey = regexp.MustCompile(`line (\d+): key ("(?:[^"\\]|\\.)*") already set`)

// Duplicates finds the keys that the YAML decoder's complaint names.
func Duplicates(doc *input.Document, excerpts *Excerpts) []report.Place {
	var places []report.Place
	for _, match := range duplicateKey.FindAllStringSubmatch(doc.Duplicate.Error(), -1) {
		line, err1 := strconv.Atoi(match[1])
		key, err2 := strconv.Unquote(match[2])
		at, ok := doc.KeyOnLine(line, key)
		if err1 == nil && err2 == nil && ok {
			place := report.Place{File: doc.File, Line: at.Line, Column: at.Column, Field: key, Message: match[0]}
			if len(excerpts.Texts) == 0 { // the key's other value is not known
				place.Excerpt = excerpts.At(at)
			}
			places = append(places, place)
		}
	}
	return places
}

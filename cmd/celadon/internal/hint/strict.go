package hint

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint/table"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// Strict returns the locations of the keys of a CRD that strict decoding rejects, with hints.
func Strict(strict []engine.StrictError, excerpts *excerpt.Excerpts) []finding.Location {
	locations := excerpt.Strict(excerpts.Doc, strict, excerpts)
	for i := range locations {
		locations[i].Hint = Key(locations[i].Field)
	}
	return locations
}

// Key returns what to write instead of an unknown key of a CRD, or of the metadata of an object, at a path. It returns "" if
// that is unknown.
func Key(path string) string {
	near := vet.NearestKey(path)
	if near != "" {
		near = "did you mean " + near + "?"
	}
	return cmp.Or(table.Key("key", path[strings.LastIndexByte(path, '.')+1:]), near)
}

// Mistyped returns the locations, with hints, of the values that keep a server from decoding an object.
func Mistyped(excerpts *excerpt.Excerpts) []finding.Location {
	return locate(excerpts, vet.FindMistyped(excerpts.Doc.Object))
}

// MistypedAs is Mistyped for an object of a Go type.
func MistypedAs(excerpts *excerpt.Excerpts, t reflect.Type) []finding.Location {
	return locate(excerpts, vet.FindMistypedAs(excerpts.Doc.Object, t))
}

func locate(excerpts *excerpt.Excerpts, mistyped []vet.Mistyped) (locations []finding.Location) {
	doc := excerpts.Doc
	if doc.Original != nil {
		return nil
	}
	for _, bad := range mistyped {
		at, n := doc.Locate([]string{bad.Path})[0], doc.Value(bad.Path)
		if at.Line == 0 || n == nil {
			continue
		}
		location := finding.Location{File: doc.File, Line: at.Line, Column: at.Column, Field: bad.Path, Message: "want " + bad.Want, Excerpt: excerpts.At(at)}
		m := mistake{Subject: &Subject{Excerpts: excerpts}, path: bad.Path}
		shown := n.Kind == position.Scalar && strings.Contains(location.Excerpt.Line, n.Value)
		switch location.Hint = m.placeholder(); {
		case location.Hint != "":
		case strings.HasSuffix(bad.Path, ".type") && n.Kind == position.Sequence:
			location.Hint = `a schema has one type: write it without [ ], and in place of "null" nullable: true`
		case bad.Want == "date-time" && shown:
			location.Hint = date(n.Value)
		default:
			location.Hint = typed(bad.Want, n, shown)
		}
		locations = append(locations, location)
	}
	return locations
}

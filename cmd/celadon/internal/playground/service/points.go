package service

import (
	"bytes"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// pointsOf returns the reasons in the causes of a CRD. A reason is "" if the editor leaves out the error, because
// another error has the same cause.
func pointsOf(causes []finding.Cause) []string {
	errors := make([]editor.CRDError, len(causes))
	for i, c := range causes {
		errors[i] = editor.CRDError{Line: c.Line, Column: c.Column, Field: c.Field, Message: c.Message, Kind: c.Kind}
	}
	points := make([]string, len(causes))
	for i, repeats := range editor.Repeats(errors) {
		if !repeats {
			points[i] = editor.Point(causes[i].Field, causes[i].Message)
		}
	}
	return points
}

// located moves problems after the end of the text, where the parser of YAML finds that something is missing, to the last
// line.
func located(problems []crdProblem, text string) []crdProblem {
	last := 1 + strings.Count(strings.TrimRight(text, " \t\r\n"), "\n")
	for i := range problems {
		problems[i].Line = max(1, min(problems[i].Line, last))
	}
	return problems
}

const noRules = "this CRD has no validation rules: add x-kubernetes-validations next to a type in its schema"

// withoutRules returns a note for each CRD in the text that has a schema but no rules.
func (r *Service) withoutRules(text string) []crdProblem {
	notes := []crdProblem{}
	for p := range r.trees.All([]byte(text), "CustomResourceDefinition") {
		if bytes.Contains(p.Bytes, []byte("x-kubernetes-validations")) || p.Tree.Broken() != nil {
			continue
		}
		_, kind := p.Tree.Find(position.Path{position.Key("kind")})
		_, versions := p.Tree.Find(position.Path{position.Key("spec"), position.Key("versions")})
		if kind == nil || kind.Value != "CustomResourceDefinition" || versions == nil || len(versions.Resolve().Items) == 0 {
			continue
		}
		at := versions.Resolve().Items[0].Start
		if _, schema := versions.Resolve().Items[0].Get("schema"); schema != nil {
			if key, _ := schema.Get("openAPIV3Schema"); key != nil {
				at = key.Start
			}
		}
		notes = append(notes, crdProblem{Message: noRules, Line: 1 + strings.Count(text[:p.Start+at], "\n")})
	}
	return notes
}

package main

import (
	"context"
	"regexp"
	"strconv"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/engine"
)

// shown is how many causes of one object come with the line that they are about
// and the values in it: an object may have half a million.
const shown = 100

// refuse tells of a refused object what the server says, and where and why.
func (c *checker) refuse(ctx context.Context, def *definition, req engine.Request, doc *input.Document, res *engine.Result, rep *report.Object) {
	rep.Verdict = report.Invalid
	rep.Status = &report.Status{Code: res.Failure.Code, Reason: string(res.Failure.Reason), Message: res.Failure.Message}
	secrets := def.secrets(doc.Object)
	excerpts := secrets.excerpts(doc, c.width, def.secrets(req.OldObject).texts)
	places := c.locate(doc, res.Causes)
	for i, cause := range res.Causes {
		r := report.Cause{Reason: string(cause.Reason), Field: cause.Field, Message: cause.Message, Ref: cause.Rule}
		if cause.Rule != nil {
			r.Rule = cause.Rule.Rule
		}
		if places[i].Line > 0 {
			r.File, r.Line, r.Column = doc.File, places[i].Line, places[i].Column
			if i < shown {
				r.Excerpt = excerpts.at(places[i])
			}
		}
		rep.Causes = append(rep.Causes, r)
	}
	if c.options.explains() {
		explain(ctx, def, req, res.Causes[:min(shown, len(res.Causes))], rep.Causes, excerpts.texts)
	}
	if len(res.Causes) == 0 && c.options.locates() {
		rep.Strict = strictPlaces(doc, rep.Status.Message, excerpts)
	}
}

func (c *checker) locate(doc *input.Document, causes []engine.Cause) []input.Position {
	if !c.options.locates() {
		return make([]input.Position, len(causes))
	}
	fields := make([]string, len(causes))
	for i, cause := range causes {
		fields[i] = cause.Field
	}
	return doc.Locate(fields)
}

// explain adds the values in the rules that failed.
func explain(ctx context.Context, def *definition, req engine.Request, causes []engine.Cause, to []report.Cause, secrets report.Secrets) {
	for i, why := range def.explainer.Why(ctx, req, causes) {
		for _, v := range why {
			to[i].Values = append(to[i].Values, report.Value{Expr: v.Expr, Text: report.Preview(v.Value, secrets)})
		}
	}
}

// strictPlaces finds the fields that strict decoding names in its text; there
// are no causes for them.
func strictPlaces(doc *input.Document, message string, excerpts *excerpts) []report.Place {
	fields := input.StrictFields(message)
	var places []report.Place
	for i, at := range doc.Locate(fields) {
		if at.Line == 0 {
			continue
		}
		place := report.Place{File: doc.File, Line: at.Line, Column: at.Column, Field: fields[i]}
		if i < shown {
			place.Excerpt = excerpts.at(at)
		}
		places = append(places, place)
	}
	return places
}

var duplicateKey = regexp.MustCompile(`line (\d+): key ("(?:[^"\\]|\\.)*") already set`)

// duplicatePlaces finds the keys that the YAML decoder's complaint names.
func duplicatePlaces(doc *input.Document, excerpts *excerpts) []report.Place {
	var places []report.Place
	for _, match := range duplicateKey.FindAllStringSubmatch(doc.Duplicate.Error(), -1) {
		line, err1 := strconv.Atoi(match[1])
		key, err2 := strconv.Unquote(match[2])
		at, ok := doc.KeyOnLine(line, key)
		if err1 == nil && err2 == nil && ok {
			place := report.Place{File: doc.File, Line: at.Line, Column: at.Column, Field: key}
			if len(excerpts.texts) == 0 { // the key's other value is not known
				place.Excerpt = excerpts.at(at)
			}
			places = append(places, place)
		}
	}
	return places
}

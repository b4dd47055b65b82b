package verdict

import (
	"bytes"
	"context"
	"errors"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/trace"
)

// One checks an object and returns the text report. The write is an update if old is not nil; a write to a
// subresource needs old. Nothing in the report is hidden as secret, because the user has the object open.
func One(ctx context.Context, e *engine.Engine, doc *input.Document, old map[string]any, subresource string) (string, error) {
	decider := New(Config{Validation: "Strict", Locate: true, Explain: true}, nil)
	def := &Definition{engine: e, explainer: trace.NewExplainer(e)}
	d := &decision{Decider: decider, doc: doc, report: newReport(doc), def: def}
	r := d.report
	r.Identity, r.Operation, r.Subresource = doc.Identity(), Create, subresource
	if old != nil {
		r.Operation = Update
	}
	out := d.write(ctx, engine.Request{
		Object: doc.Object, OldObject: old, FieldValidation: d.Validation, DuplicateKeys: doc.Duplicate,
		Subresource: subresource,
	})
	if d.describe(ctx, &out); r.Bug != nil {
		return "", r.Bug
	}
	var b bytes.Buffer
	p, err := print.New("text", &b, print.Options{StrictKinds: true})
	if err != nil {
		return "", err
	}
	var s finding.Summary
	s.Count(r)
	err = errors.Join(p.Object(r), p.End(&s))
	return b.String(), err
}

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
	def := &Definition{engine: e, explainer: trace.NewExplainer(e)}
	c := &Decider{Config: Config{Validation: "Strict", Locate: true, Explain: true}}
	rep := newReport(doc)
	rep.Identity = doc.Identity()
	req := engine.Request{Object: doc.Object, FieldValidation: "Strict", OldObject: old, Subresource: subresource, DuplicateKeys: doc.Duplicate}
	rep.Operation, rep.Subresource = "create", subresource
	if old != nil {
		rep.Operation = "update"
	}
	c.request(ctx, def, req, doc, rep)
	if rep.Bug != nil {
		return "", rep.Bug
	}
	var b bytes.Buffer
	p, err := print.New("text", &b, print.Options{StrictKinds: true})
	if err != nil {
		return "", err
	}
	var s finding.Summary
	s.Count(rep)
	err = errors.Join(p.Object(rep), p.End(&s))
	return b.String(), err
}

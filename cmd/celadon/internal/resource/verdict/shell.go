package verdict

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/trace"
)

// One checks an object and returns the text report. The write is an update if old is not nil; a write to a
// subresource needs old. e validates custom resources. It is nil for an object of a built-in kind, which server
// validates. Nothing in the report is hidden as secret, because the user has the object open, except for the data of
// Secrets.
func One(
	ctx context.Context, e *engine.Engine, server policyrequest.Server, doc *input.Document, old map[string]any, subresource string,
) (string, error) {
	crds, olds := newCRDs(engine.Config{}, &resource.Filter{}), NewOlds()
	if old != nil {
		olds.byKey[crds.key(doc.Identity())] = &oldObject{object: old}
	}
	decider := New(Config{Validation: "Strict", Subresource: subresource, Olds: olds, Server: server, Locate: true, Explain: true}, crds)
	d := &decision{Decider: decider, doc: doc, report: newReport(doc)}
	r := d.report
	r.Identity, r.Operation, r.Subresource = doc.Identity(), Create, subresource
	if old != nil {
		r.Operation = Update
	}
	var out outcome
	if e == nil {
		kind := schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
		var err error
		if d.builtin, err = d.builtins.Kind(kind, engine.Config{}); err != nil || d.builtin == nil {
			return "", cmp.Or(err, fmt.Errorf("no built-in kind %s", kind))
		}
		out = d.decideBuiltin(ctx)
	} else {
		d.def = &Definition{engine: e, explainer: trace.NewExplainer(e)}
		out = d.write(ctx, engine.Request{
			Object: doc.Object, OldObject: old, FieldValidation: d.Validation, DuplicateKeys: doc.Duplicate,
			Subresource: subresource,
		})
	}
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

package verdict

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/apply"
)

// kindOfWrite returns how a tool writes the object to an old one, or the zero Write for a replacement.
func (d *decision) kindOfWrite(old map[string]any) apply.Write {
	if d.Subresource != "" || d.report.Operation == Delete || old != nil && d.before == nil {
		return apply.Write{}
	}
	if old == nil {
		return d.kindOfCreate()
	}
	w := apply.Choose(d.doc.Object, old)
	if d.Apply.Kind != "" {
		w = apply.Write{Kind: d.Apply.Kind, Manager: apply.Kubectl}
	}
	if d.Apply.Manager != "" {
		w.Manager = d.Apply.Manager
	}
	w.Force = w.Force || d.Apply.Force
	tracked := apply.Annotation(old, apply.LastApplied) != "" || len(apply.Managed(old)) > 0
	switch {
	case tracked || w.Kind == apply.None:
	case d.before.file != "": // a manifest in git: with the last applied configuration, each kind of write is a replacement
		w.Kind = apply.Replace
	case (w.Kind == apply.Server || w.Unknown) && input.Metadata(old)["uid"] != nil: // a server's object without its traces
		d.untracked.Store(true)
	}
	if w.Kind == apply.Replace {
		return apply.Write{Recreate: w.Recreate}
	}
	d.report.Apply = string(w.Kind)
	return w
}

// kindOfCreate returns how a tool creates the object, or the zero Write for a plain create.
func (d *decision) kindOfCreate() apply.Write {
	w := d.Apply
	if w.Kind != apply.Client && w.Kind != apply.Server {
		return apply.Write{}
	}
	w.Manager = cmp.Or(w.Manager, apply.Kubectl)
	d.report.Apply = string(w.Kind)
	return w
}

// apply returns the verdict on the write that a tool such as kubectl apply makes of the request.
func (d *decision) apply(ctx context.Context, req engine.Request) outcome {
	w := d.kindOfWrite(req.OldObject)
	out := d.applied(ctx, req, w)
	if w.Recreate && out.refused() {
		d.recreates()
		req.OldObject = nil
		return d.write(ctx, req)
	}
	return out
}

func (d *decision) applied(ctx context.Context, req engine.Request, w apply.Write) outcome {
	if w.Kind == "" {
		return d.write(ctx, req)
	}
	req.Object, req.Namespace = d.doc.Object, d.report.Namespace
	sent, err := d.def.writer.Request(ctx, req, w)
	var limit *engine.WorkLimitError
	switch {
	case errors.As(err, &limit):
		return outcome{verdict: finding.Undecided, problem: err.Error(), limit: limit}
	case err != nil:
		return failed(err)
	case sent.Result != nil && sent.Result.Allowed:
		return unsent(req, sent.Result)
	case sent.Result != nil:
		return denied(sent.Result.Failure, "")
	}
	out := d.write(ctx, sent.Request)
	if out.verdict == finding.Valid && out.result != nil {
		if out.result, err = d.def.writer.Migrate(ctx, &sent, out.result); err != nil {
			return failed(err)
		}
		out.processed = out.result.Object
	}
	if out.result != nil {
		if status := sent.Rejection(out.result); status != nil {
			refused := denied(status, "")
			out.status, out.causes = refused.status, refused.causes
		}
	}
	return out
}

// recreates makes the write a create.
func (d *decision) recreates() {
	d.report.Operation, d.report.Apply, d.report.Warnings = Create, "", []string{}
	d.report.Mutations, d.report.Webhooks = nil, nil
}

// refused reports whether the rejection makes tools recreate the object, if they can.
func (o *outcome) refused() bool {
	return o.status != nil && (o.status.Code == http.StatusUnprocessableEntity || o.status.Code == http.StatusConflict)
}

// unsent returns the outcome of an apply that changes nothing, so that the tool sends nothing.
func unsent(req engine.Request, res *engine.Result) outcome {
	return outcome{verdict: finding.Valid, request: req, result: res, processed: res.Object}
}

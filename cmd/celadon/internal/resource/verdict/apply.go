package verdict

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

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

// kindOfCreate returns how a tool creates the object, or the zero Write for a create without more.
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
	sent, patched, out := d.applied(ctx, req, w)
	if out.verdict == "" {
		out = d.write(ctx, sent)
		out.refusePatch(patched, d.doc)
	}
	if w.Recreate && out.refused() {
		d.recreates()
		req.OldObject = nil
		return d.write(ctx, req)
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

// applied returns the request with the object that an apply results in. patched returns its JSON if a patch is sent. Without
// a verdict, the object is written.
func (d *decision) applied(ctx context.Context, req engine.Request, w apply.Write) (_ engine.Request, patched func() ([]byte, error), out outcome) {
	if w.Kind == "" {
		return req, nil, outcome{}
	}
	version, object := d.report.Version(), d.sentObject()
	var live map[string]any
	var err error
	if req.OldObject != nil {
		if live, err = d.def.engine.Convert(ctx, req.OldObject, version); err != nil {
			return req, nil, outcome{} // the write cannot be decided for the same reason
		}
	} else if w.Kind == apply.Client {
		if object, err = apply.Created(object); err != nil {
			return req, nil, noPatch(err)
		}
		req.Object, req.Raw = object, nil
		return req, nil, outcome{}
	}
	switch w.Kind {
	case apply.None:
		return req, nil, unsent(req, live)
	case apply.Server:
		merged, status, err := d.def.managers.Merged(live, object, version, w)
		if limit := new(engine.WorkLimitError); errors.As(err, &limit) {
			return req, nil, outcome{verdict: finding.Undecided, problem: err.Error(), limit: limit}
		}
		if err != nil {
			return req, nil, failed(err)
		}
		if status != nil {
			return req, nil, denied(status, "")
		}
		req.Object, req.Raw, req.Merged = merged, nil, true
		return req, nil, outcome{}
	}
	written, patched, err := apply.Applied(live, object)
	switch {
	case err != nil:
		return req, nil, noPatch(err)
	case written == nil:
		return req, nil, unsent(req, live)
	}
	req.Object = written
	req.Raw, req.Patched = nil, true
	return req, patched, outcome{}
}

// sentObject returns the object of the document as kubectl sends it: with its namespace.
func (d *decision) sentObject() map[string]any {
	meta, ok := d.doc.Object["metadata"].(map[string]any)
	if !ok || !d.def.engine.Info().Namespaced {
		return d.doc.Object
	}
	object, meta := maps.Clone(d.doc.Object), maps.Clone(meta)
	object["metadata"], meta["namespace"] = meta, d.report.Namespace
	return object
}

// unsent returns the outcome of an apply that changes nothing, so that the tool sends nothing.
func unsent(req engine.Request, live map[string]any) outcome {
	meta := maps.Clone(input.Metadata(live))
	delete(meta, "managedFields")
	live = withField(live, "metadata", meta)
	return outcome{verdict: finding.Valid, request: req, result: &engine.Result{Allowed: true, Object: live, Stored: live}, processed: live}
}

// noPatch returns the outcome of an apply whose patch kubectl cannot compute.
func noPatch(err error) outcome {
	return outcome{verdict: finding.Invalid, status: &finding.Status{
		Code: http.StatusBadRequest, Reason: string(metav1.StatusReasonBadRequest), Message: err.Error(),
	}}
}

// refusePatch replaces the rejection of an object that the server cannot decode by the server's error for a patch.
func (o *outcome) refusePatch(patched func() ([]byte, error), doc *input.Document) {
	res := o.result
	if patched == nil || res == nil || res.Failure == nil || res.Failure.Code != http.StatusBadRequest || doc.Duplicate != nil {
		return
	}
	var why string
	switch {
	case res.Unread != nil:
		why = res.Unread.Error()
	case len(res.Strict) > 0:
		errs := make([]error, len(res.Strict))
		for i, e := range res.Strict {
			errs[i] = e
		}
		why = runtime.NewStrictDecodingError(errs).Error()
	default:
		return
	}
	data, err := patched()
	if err != nil {
		return
	}
	status := apply.InvalidPatch(data, why)
	refused := denied(&status, "")
	o.status, o.causes = refused.status, refused.causes
}

// mergesBuiltin returns the outcome of a write of a built-in kind that ends before a request is sent.
func mergesBuiltin(err error) (outcome, bool) {
	if patch := new(apply.PatchError); errors.As(err, &patch) {
		return noPatch(err), true
	}
	return outcome{}, false
}

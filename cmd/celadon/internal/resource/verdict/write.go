package verdict

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

func (d *decision) decide(ctx context.Context) outcome {
	if problem := d.unsendable(); problem != "" {
		return outcome{verdict: finding.Skipped, problem: problem}
	}
	switch {
	case d.builtin != nil:
		return d.decideBuiltin(ctx)
	case d.subresource != nil:
		return d.decideSubresource(ctx)
	}
	if d.typed && d.Before != nil {
		return d.upgrade(ctx)
	}
	if d.typed {
		if out := d.def.unserved(d.report.Identity); out.verdict != "" {
			return out
		}
	}
	if d.typed && d.Admission.operation() == Delete {
		return d.delete(ctx)
	}
	d.report.Operation, d.report.Subresource = Create, d.Subresource
	if out := d.def.noSubresource(d.doc.Object, d.Subresource); out.verdict != "" {
		return out
	}
	req := engine.Request{
		Object: d.doc.Object, FieldValidation: d.Validation, Subresource: d.Subresource, DuplicateKeys: d.doc.Duplicate,
		Trace: d.Trace, Observe: d.Observe, Ratcheted: d.Locate,
	}
	if d.doc.Raw != nil {
		req.Object, req.Raw = nil, d.doc.Raw
	}
	if req.OldObject = d.old(); req.OldObject != nil {
		d.report.Operation = Update
	} else if d.Subresource != "" {
		return outcome{verdict: finding.Skipped, problem: "no old object for a " + d.Subresource + " update"}
	}
	return d.apply(ctx, req)
}

func (d *decision) write(ctx context.Context, req engine.Request) outcome {
	review := d.review()
	req, out := d.mutate(ctx, review, req)
	if out.verdict != "" {
		return out
	}
	out = validate(ctx, d.def.engine, req)
	res := out.result
	if res == nil {
		return out
	}
	d.report.Cost, d.report.Rules = res.Cost, res.Rules
	d.report.Warnings = append(d.report.Warnings, res.Warnings...)
	if !res.Allowed {
		if res.Prepared != nil {
			out.processed = res.Prepared.Self
		}
		return out
	}
	if couldBeTooLarge(d.doc) {
		d.report.Warnings = append(d.report.Warnings, tooLarge(d.doc.JSON, res)...)
	}
	out.processed = res.Object
	if admitted := d.admitWrite(ctx, review, req, res.Object); admitted.verdict != "" {
		return admitted
	}
	return out
}

// The outcome has a result if the CRD accepts or rejects the object.
func validate(ctx context.Context, e *engine.Engine, req engine.Request) outcome {
	res, err := e.Validate(ctx, req)
	if err != nil {
		return failed(err)
	}
	out := outcome{verdict: finding.Valid, request: req, result: res}
	if !res.Allowed {
		out.verdict, out.status = finding.Invalid, statusOf(res.Failure)
	}
	return out
}

func statusOf(status *metav1.Status) *finding.Status {
	return &finding.Status{Code: status.Code, Reason: string(status.Reason), Message: status.Message}
}

// kindOfWrite returns how a tool creates the object, or writes it to an old one. A Write without a Kind is a plain
// create or a replacement.
func (d *decision) kindOfWrite(old map[string]any) apply.Write {
	if d.Subresource != "" || d.report.Operation == Delete || old != nil && d.before == nil {
		return apply.Write{}
	}
	if old == nil {
		w := d.Apply
		if w.Kind != apply.Client && w.Kind != apply.Server {
			return apply.Write{}
		}
		w.Manager = cmp.Or(w.Manager, apply.Kubectl)
		d.report.Apply = string(w.Kind)
		return w
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
	switch {
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

func (d *decision) routeSubresource() {
	if d.Admission == nil {
		return
	}
	d.subresource = d.builtins.Subresource(schema.FromAPIVersionAndKind(d.report.APIVersion, d.report.Kind))
	if d.subresource != nil && d.report.Namespace == "" && d.subresource.Of.Namespaced {
		d.report.Namespace = metav1.NamespaceDefault
	}
}

// unsendable returns the reason why no request of the requested operation or subresource has the object, or "".
func (d *decision) unsendable() string {
	operation := ""
	if d.Admission != nil {
		operation = d.Admission.Operation
	}
	switch s := d.subresource; {
	case s == nil && operation == Connect:
		return "no request connects to it: want an object such as PodExecOptions"
	case s == nil && slices.Contains(policyrequest.Sent, d.Subresource):
		return "not an object of requests to " + d.Subresource
	case s == nil:
		return ""
	case d.Subresource != "" && d.Subresource != s.Name:
		return fmt.Sprintf("an object of requests to %s, not to %s", s.Name, d.Subresource)
	case operation != "" && operation != lower(s.Operation()):
		return fmt.Sprintf("its requests have the operation %s, not %s", lower(s.Operation()), operation)
	}
	return ""
}

func lower(operation policy.Operation) string { return strings.ToLower(string(operation)) }

func (d *decision) decideSubresource(ctx context.Context) outcome {
	s := d.subresource
	d.report.Operation, d.report.Subresource = lower(s.Operation()), s.Name
	review, to := d.review(), s.Subject()
	err := review.WriteSubresource(ctx, s, &to, d.doc.Object)
	if out := d.reviewed(ctx, review, &to, err); out.verdict != "" {
		return out
	}
	return outcome{verdict: finding.Valid}
}

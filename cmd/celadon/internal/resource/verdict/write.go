package verdict

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
)

// decide validates the write of an object whose CRD or built-in kind is known. Its outcome always has a verdict, unless
// the context is canceled.
func (d *decision) decide(ctx context.Context) outcome {
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

// write returns the verdict on a create, or on an update if the request has an old object.
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

// validate returns the outcome of a request: with the result if the CRD accepts or rejects the object, and otherwise
// with the reason.
func validate(ctx context.Context, e *engine.Engine, req engine.Request) outcome {
	res, err := e.Validate(ctx, req)
	var limit *engine.WorkLimitError
	var notChecked *engine.NotCheckedError
	var converter *conversion.Error
	switch {
	case errors.As(err, &limit):
		return outcome{verdict: finding.Undecided, problem: err.Error(), limit: limit}
	case errors.As(err, &converter): // the converter that the user named does not respond
		return outcome{verdict: finding.Undecided, problem: "not checked: " + err.Error()}
	case errors.As(err, &notChecked):
		return outcome{verdict: finding.Skipped, problem: notChecked.Error()}
	case err != nil:
		return failed(err)
	}
	out := outcome{verdict: finding.Valid, request: req, result: res}
	if !res.Allowed {
		out.verdict, out.status = finding.Invalid, statusOf(res.Failure)
	}
	return out
}

// statusOf returns the server's response to a rejected object.
func statusOf(status *metav1.Status) *finding.Status {
	return &finding.Status{Code: status.Code, Reason: string(status.Reason), Message: status.Message}
}

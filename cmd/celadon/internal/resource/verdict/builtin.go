package verdict

import (
	"context"
	"errors"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine"
)

// decideBuiltin decides an object of a built-in kind by its structure and the policies.
func (d *decision) decideBuiltin(ctx context.Context) outcome {
	old := d.old()
	to := d.builtin.Subject(d.doc.Object, old)
	object, deleted := map[string]any(nil), d.Admission.operation() == Delete
	switch {
	case deleted && old == nil:
		d.report.Operation, old = Delete, d.doc.Object
	case deleted:
		d.report.Operation = Delete
	case old != nil:
		d.report.Operation = Update
	default:
		d.report.Operation = Create
	}
	if !deleted {
		var out outcome
		if object, out = d.structured(ctx, old); out.verdict != "" {
			return out
		}
		if d.Admission.Policies.Mutates() {
			if object, _, out = d.mutated(ctx, subject{to, d.mergeables.of(d.builtin)}, object, old); out.verdict != "" {
				return out
			}
		}
	}
	if out := d.admit(ctx, to, object, old); out.verdict != "" {
		return out
	}
	return outcome{verdict: finding.Valid}
}

// structured returns an object of a built-in kind with defaults, or the outcome if it is not accepted. old is nil for a
// create.
func (d *decision) structured(ctx context.Context, old map[string]any) (map[string]any, outcome) {
	res, err := d.builtin.Write(ctx, engine.Request{
		Object: d.doc.Object, OldObject: old, FieldValidation: d.Validation, DuplicateKeys: d.doc.Duplicate,
	}, d.report.Name)
	var limit *engine.WorkLimitError
	switch {
	case errors.As(err, &limit):
		return nil, outcome{verdict: finding.Undecided, problem: err.Error(), limit: limit}
	case err != nil:
		return nil, failed(err)
	}
	d.report.Warnings = append(d.report.Warnings, res.Warnings...)
	if res.Allowed {
		return res.Object, outcome{}
	}
	out := outcome{verdict: finding.Invalid, status: statusOf(res.Failure)}
	for _, c := range res.Causes {
		out.causes = append(out.causes, finding.Cause{Reason: string(c.Reason), Field: c.Field, Message: c.Message})
	}
	d.report.Duplicate = d.doc.Duplicate != nil && len(res.Strict) > 0
	if d.Locate { // without excerpts, because the schemas of built-in kinds do not mark secrets
		for i, at := range d.doc.Locate(fieldsOf(out.causes)) {
			if at.Line > 0 {
				out.causes[i].File, out.causes[i].Line, out.causes[i].Column = d.doc.File, at.Line, at.Column
			}
		}
	}
	return nil, out
}

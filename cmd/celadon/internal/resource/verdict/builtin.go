package verdict

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

func (d *decision) decideBuiltin(ctx context.Context) outcome {
	old := d.old()
	to := d.builtin.Subject(d.doc.Object, old)
	w := policyrequest.Write{
		Object: d.doc.Object, OldObject: old, Raw: d.doc.Raw, DuplicateKeys: d.doc.Duplicate, Subresource: d.Subresource,
		KubeMinor: d.minor(), Name: d.report.Name, Namespace: d.report.Namespace, FieldValidation: d.Validation, Assume: d.assume,
		NoObject: !d.Persisted && !d.Diff && !d.Row && d.Selector == nil,
	}
	if w.Raw == nil {
		w.Raw = d.doc.FromJSON()
	}
	switch d.report.Subresource = d.Subresource; {
	case d.Subresource != "" && !d.builtin.Exact():
		problem := "is undecided: the subresource " + d.Subresource + " of built-in kinds is not supported"
		return outcome{verdict: finding.Undecided, problem: problem}
	case d.Subresource != "" && old == nil:
		return outcome{verdict: finding.Skipped, problem: "no old object for a " + d.Subresource + " update"}
	case d.Admission.operation() == Delete:
		d.report.Operation = Delete
		if w.Object, w.Raw, w.DuplicateKeys = nil, nil, nil; old == nil {
			w.OldObject = d.doc.Object
		}
	case old != nil:
		d.report.Operation = Update
	default:
		d.report.Operation = Create
	}
	if w.Apply = d.kindOfWrite(old); w.Apply.Kind == apply.None {
		return unsent(engine.Request{OldObject: old}, apply.Unsent(old))
	}
	review := d.review()
	res, err := review.WriteBuiltin(ctx, d.builtin, w, false)
	if err == nil && w.Apply.Recreate && !res.Allowed && review.Denied == nil && review.Undecided == "" {
		if out := (outcome{status: statusOf(res.Failure)}); out.refused() {
			d.recreates()
			w.OldObject, w.Apply = nil, apply.Write{}
			review = d.review()
			res, err = review.WriteBuiltin(ctx, d.builtin, w, false)
		}
	}
	var limit *engine.WorkLimitError
	var bug *engine.InternalError
	switch {
	case errors.As(err, &limit), errors.As(err, &bug):
		return failed(err)
	case err != nil: // no server can have stored the old object
		return outcome{verdict: finding.Undecided, problem: "is undecided: " + err.Error()}
	}
	if !res.Allowed && res.Failure != nil && d.Among && isCRD(d.report.Identity) {
		return outcome{verdict: finding.Ignored, problem: "a definition, which is rejected as such"}
	}
	d.report.Warnings = append(append([]string{}, res.Warnings...), d.report.Warnings...)
	if out := d.reviewed(ctx, review, &to, nil); out.verdict != "" {
		return out
	}
	out := outcome{verdict: finding.Valid, result: res, processed: res.Object}
	out.request.OldObject, out.request.FieldValidation = w.OldObject, d.Validation
	if !res.Allowed {
		out.verdict, out.status = finding.Invalid, statusOf(res.Failure)
	}
	return out
}

func (d *decision) assume(object string) {
	if !slices.Contains(d.report.Assumed, object) {
		d.report.Assumed = append(d.report.Assumed, object)
	}
	d.assumed.Store(object, true)
}

func (d *decision) builtinRow(ctx context.Context, object map[string]any) (*finding.Row, error) {
	meta := input.Metadata(object)
	text, _ := meta["creationTimestamp"].(string)
	if created, err := time.Parse(time.RFC3339, text); err == nil { // the server's code knows only the current time
		created = created.Add(time.Since(d.now()))
		object = withField(object, "metadata", withField(meta, "creationTimestamp", created.UTC().Format(time.RFC3339)))
	}
	columns, cells, err := d.Server.Row(ctx, object)
	if err != nil {
		return nil, err
	}
	if i := slices.Index(columns, "Created At"); i >= 0 && i < len(cells) {
		cells[i] = text
	}
	kind := d.builtin.GroupVersionKind
	table, _ := d.tables.LoadOrStore(kind, &finding.Table{Kind: kind, Namespaced: d.builtin.Namespaced, Columns: columns})
	return &finding.Row{Table: table.(*finding.Table), Namespace: d.report.Namespace, Name: d.report.Name, Cells: cells}, nil
}

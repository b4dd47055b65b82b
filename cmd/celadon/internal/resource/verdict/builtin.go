package verdict

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/internal/text/linediff"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/crdcopy"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/secret"
)

// decideBuiltin validates an object of a built-in kind, and evaluates the policies.
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
		if d.Subresource == policyrequest.ScaleName {
			w.Object, w.Raw, w.DuplicateKeys = d.scaled(), nil, nil
		}
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
	case err != nil: // the old object cannot be one of a server
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

// scaled returns the Scale that kubectl scale would send for the replicas of the object.
func (d *decision) scaled() map[string]any {
	object := runtime.DeepCopyJSON(d.doc.Object)
	d.Server.SetDefaults(d.builtin.GroupVersionKind, object)
	replicas, _, _ := unstructured.NestedFieldNoCopy(object, "spec", "replicas")
	return map[string]any{
		"apiVersion": "autoscaling/v1", "kind": "Scale",
		"metadata": map[string]any{"name": d.report.Name, "namespace": d.builtin.Namespace(d.report.Namespace, d.report.Name)},
		"spec":     map[string]any{"replicas": replicas},
	}
}

// assume records an object that was not given.
func (d *decision) assume(object string) {
	if !slices.Contains(d.report.Assumed, object) {
		d.report.Assumed = append(d.report.Assumed, object)
	}
	d.assumed.Store(object, true)
}

// describeBuiltin adds what describe adds about an object of a CRD: positions, hints, and the persisted object.
func (d *decision) describeBuiltin(ctx context.Context, out *outcome) {
	res, r := out.result, d.report
	texts := d.builtin.Subject(d.doc.Object, out.request.OldObject).Secrets
	if res.Allowed && res.Object == nil { // a deletion, or NoObject
		return
	}
	if res.Allowed {
		shown, _ := texts.Hide(res.Object).(map[string]any)
		if d.Persisted {
			r.Persisted = shown
		}
		if d.Diff {
			given, _ := texts.Hide(d.doc.Object).(map[string]any)
			r.Diff, r.Bug = linediff.Persisted(d.doc.Location(), given, d.withoutApplied(shown))
		}
		if d.Row && d.builtin.Exact() {
			r.Row, r.Bug = d.builtinRow(ctx, aged(res.Object, d.now(), d.doc.Object, out.request.OldObject))
		}
		return
	}
	excerpts := excerpt.NewExcerpts(d.doc, d.Width, &secret.Secrets{}, texts)
	r.Causes = finding.NewCauses(res.Causes)
	r.Duplicate = d.doc.Duplicate != nil && out.request.FieldValidation == "Strict" && len(res.Strict) > 0
	if !d.Locate {
		return
	}
	locate(excerpts, r.Causes)
	if r.Duplicate {
		r.Strict = excerpt.Duplicates(d.doc, excerpts)
	}
	props := d.builtinSchema()
	switch {
	case len(res.Causes) > 0:
		s := hint.Subject{Excerpts: excerpts, Path: func(field string) string { return field }, Schema: props}
		s.Outside(r.Causes)
	case len(res.Strict) > 0:
		r.Strict = append(r.Strict, excerpt.Strict(d.doc, res.Strict, excerpts)...)
		d.builtinHints()
	case d.builtin.Type != nil:
		r.Strict = hint.MistypedAs(excerpts, d.builtin.Type)
	}
}

func (d *decision) builtinHints() {
	props := d.builtinSchema()
	for i := range d.report.Strict {
		at := &d.report.Strict[i]
		if at.Hint == "" {
			at.Hint = builtinHint(props, at.Field)
		}
		if d.builtin.Exact() {
			if minor := d.Server.FieldIntroduced(d.builtin.GroupVersionKind, at.Field); minor > d.minor() {
				at.Hint = fmt.Sprintf("it needs Kubernetes 1.%d", minor)
			}
		}
	}
}

// builtinRow returns the row of an object that has a creationTimestamp.
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

// builtinSchema returns the newest schema of the object's kind, or an empty schema if there is none.
func (d *decision) builtinSchema() *apiextensionsv1.JSONSchemaProps {
	if catalog, err := builtin.Newest(); err == nil {
		if props, err := catalog.Schema(d.builtin.GroupVersionKind); err == nil {
			if metadata, err := catalog.Metadata(); err == nil && props.Properties != nil {
				props.Properties["metadata"] = *metadata
			}
			return props
		}
	}
	return &apiextensionsv1.JSONSchemaProps{}
}

// builtinHint returns a hint on an unknown field, or "".
func builtinHint(props *apiextensionsv1.JSONSchemaProps, field string) string {
	steps, err := engine.ParsePath(field)
	if err != nil || len(steps) == 0 {
		return ""
	}
	if props = crdcopy.At(props, steps[:len(steps)-1]...); props == nil {
		return ""
	}
	names := slices.Sorted(maps.Keys(props.Properties))
	name := steps[len(steps)-1].Name
	if words := hint.Invisible(name); words != "" {
		return words
	}
	if near := spell.Nearest(name, names); near != "" && near != name {
		return "did you mean " + near + "?"
	}
	return ""
}

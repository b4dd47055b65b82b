package verdict

import (
	"context"
	"maps"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/internal/text/linediff"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/crdfields"
	"github.com/celadon-cel/celadon/x/secret"
)

type view struct {
	*apiextensionsv1.CustomResourceDefinitionVersion
	parsed func() *parsedView
}

type parsedView struct {
	table         *finding.Table
	columns       *crdfields.Columns
	selectable    *crdfields.Selectable
	errSelectable error
}

func newViews(crd *apiextensionsv1.CustomResourceDefinition) map[string]*view {
	views := map[string]*view{}
	isNamespaced := crd.Spec.Scope == apiextensionsv1.NamespaceScoped
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		kind := schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}
		views[v.Name] = &view{v, sync.OnceValue(func() *parsedView {
			p := &parsedView{}
			p.columns, _ = crdfields.ColumnsOf(v) // like the server, it stops at the first column that cannot be parsed
			p.table = &finding.Table{Kind: kind, Namespaced: isNamespaced, Columns: p.columns.Names()}
			p.selectable, p.errSelectable = crdfields.SelectableOf(v, isNamespaced)
			return p
		})}
	}
	return views
}

func (def *Definition) view(obj map[string]any) *view {
	return def.views[input.Identify(obj).Version()]
}

func (d *decision) describePersisted(ctx context.Context, out *outcome) {
	object, old, r := out.result.Object, out.request.OldObject, d.report
	if object == nil { // a deletion, or Write.NoObject
		return
	}
	var v *view
	if d.def != nil {
		if v = d.def.view(object); v == nil {
			return
		}
	}
	selects := v != nil && len(v.SelectableFields) > 0 && d.Selectable
	if !selects && !d.Persisted && !d.Diff && !d.Row {
		return
	}
	hide := d.masked(v, old, object)
	shown := hide(object)
	if selects && v.parsed().errSelectable == nil {
		set, _ := v.parsed().selectable.Values(shown) // nil if a field cannot be read
		r.SelectableFields = set
	}
	if d.Persisted {
		r.Persisted = shown
	}
	if d.Diff {
		r.Diff, r.Bug = linediff.Persisted(d.doc.Location(), hide(d.doc.Object), d.withoutApplied(shown))
	}
	switch now := d.now(); {
	case !d.Row:
	case v != nil:
		p := v.parsed()
		cells := p.columns.Cells(aged(shown, now, d.doc.Object, old), now)
		r.Row = &finding.Row{Table: p.table, Namespace: r.Namespace, Name: r.Name, Cells: cells}
	case d.builtin.Exact():
		r.Row, r.Bug = d.builtinRow(ctx, aged(object, now, d.doc.Object, old))
	}
}

// v is nil for built-in kinds.
func (d *decision) masked(v *view, old, object map[string]any) func(map[string]any) map[string]any {
	if v != nil {
		return secret.MaskOf(d.def.CRD.ForEngine(), d.doc.Object, old, object).Object
	}
	texts := d.builtin.Subject(d.doc.Object, old).Secrets
	return func(obj map[string]any) map[string]any { return texts.Hide(obj).(map[string]any) }
}

// withoutApplied returns the persisted object of an apply without the annotation of kubectl, unless the document
// has it.
func (d *decision) withoutApplied(object map[string]any) map[string]any {
	if d.report.Apply == "" || apply.Annotation(object, apply.LastApplied) == "" || apply.Annotation(d.doc.Object, apply.LastApplied) != "" {
		return object
	}
	meta := input.Metadata(object)
	annotations := maps.Clone(meta["annotations"].(map[string]any))
	delete(annotations, apply.LastApplied)
	if meta = withField(meta, "annotations", annotations); len(annotations) == 0 {
		delete(meta, "annotations")
	}
	return withField(object, "metadata", meta)
}

func (d *Decider) now() time.Time {
	if d.Now.IsZero() {
		return time.Now()
	}
	return d.Now
}

// aged returns an object with a creation time. If it has none, the time is taken from its other forms, for example the
// old object, or else it is now.
func aged(obj map[string]any, now time.Time, forms ...map[string]any) map[string]any {
	meta := input.Metadata(obj)
	if meta["creationTimestamp"] != nil {
		return obj
	}
	created := any(now.UTC().Format(time.RFC3339))
	for _, form := range forms {
		if given := input.Metadata(form)["creationTimestamp"]; given != nil {
			created = given
		}
	}
	return withField(obj, "metadata", withField(meta, "creationTimestamp", created))
}

func withField(obj map[string]any, name string, value any) map[string]any {
	out := maps.Clone(obj)
	if out == nil {
		out = map[string]any{}
	}
	out[name] = value
	return out
}

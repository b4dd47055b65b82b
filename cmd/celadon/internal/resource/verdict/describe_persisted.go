package verdict

import (
	"maps"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/internal/text/linediff"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/crdfields"
	"github.com/celadon-cel/celadon/x/secret"
)

// A view is a version of a CRD, with its printer columns and selectable fields, whose paths are parsed when they are
// needed.
type view struct {
	*apiextensionsv1.CustomResourceDefinitionVersion
	parsed func() *parsedView
}

type parsedView struct {
	table         *finding.Table // of kubectl get
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

// view returns the view for an object's version, or nil if the CRD does not have that version.
func (def *Definition) view(obj map[string]any) *view {
	return def.views[input.Identify(obj).Version()]
}

// describePersisted adds the requested data about an accepted object.
func (d *decision) describePersisted(out *outcome) {
	object, old, r := out.result.Object, out.request.OldObject, d.report
	v := d.def.view(object)
	selects := v != nil && len(v.SelectableFields) > 0 && d.Selectable
	if v == nil || !selects && !d.Persisted && !d.Diff && !d.Row {
		return
	}
	mask := secret.MaskOf(d.def.CRD.ForEngine(), d.doc.Object, old, object)
	shown := mask.Object(object)
	if selects {
		r.SelectableFields = selected(v, shown)
	}
	if d.Persisted {
		r.Persisted = shown
	}
	if d.Diff {
		r.Diff, r.Bug = linediff.Persisted(d.doc.Location(), mask.Object(d.doc.Object), d.withoutApplied(shown))
	}
	if d.Row {
		now, p := d.now(), v.parsed()
		cells := p.columns.Cells(aged(shown, now, d.doc.Object, old), now)
		r.Row = &finding.Row{Table: p.table, Namespace: r.Namespace, Name: r.Name, Cells: cells}
	}
}

// withoutApplied returns a persisted object without the annotation of kubectl apply, unless the document has it.
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

// selected returns the values of an object's selectable fields, or nil if they cannot be read. A
// field without a value has the empty string.
func selected(v *view, obj map[string]any) map[string]string {
	p := v.parsed()
	if p.errSelectable != nil {
		return nil
	}
	set, err := p.selectable.Values(obj)
	if err != nil {
		return nil
	}
	return set
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

// withField returns a copy of obj with the named field set to value.
func withField(obj map[string]any, name string, value any) map[string]any {
	out := maps.Clone(obj)
	if out == nil {
		out = map[string]any{}
	}
	out[name] = value
	return out
}

func (v *view) chooses(selector fields.Selector, obj map[string]any, id input.Identity) (bool, error) {
	p := v.parsed()
	if err := p.errSelectable; err != nil {
		return false, err
	}
	if err := p.selectable.Check(selector); err != nil {
		return false, err
	}
	return p.selectable.Matches(selector, obj, id.Namespace, id.Name)
}

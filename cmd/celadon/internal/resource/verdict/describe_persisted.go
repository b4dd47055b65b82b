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

// A view holds the printer columns and the selectable fields of a version of a CRD. Their paths are
// parsed when they are needed.
type view struct {
	table      func() table
	selectable func() (*crdfields.Selectable, error)
	// selects is set if the version declares selectable fields.
	selects bool
	// subresources lists the subresources of the version.
	subresources []string
}

// A table describes the columns of kubectl get for a version.
type table struct {
	*finding.Table
	columns *crdfields.Columns
}

func newViews(crd *apiextensionsv1.CustomResourceDefinition) map[string]*view {
	views := map[string]*view{}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		one := &view{
			table: sync.OnceValue(func() table { return tableOf(crd, v) }),
			selectable: sync.OnceValues(func() (*crdfields.Selectable, error) {
				return crdfields.SelectableOf(v, crd.Spec.Scope == apiextensionsv1.NamespaceScoped)
			}),
			selects: len(v.SelectableFields) > 0,
		}
		if s := v.Subresources; s != nil && s.Status != nil {
			one.subresources = append(one.subresources, "status")
		}
		if s := v.Subresources; s != nil && s.Scale != nil {
			one.subresources = append(one.subresources, "scale")
		}
		views[v.Name] = one
	}
	return views
}

// tableOf returns the table of a version. Like the server, it stops at the first column that cannot
// be parsed.
func tableOf(crd *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion) table {
	columns, _ := crdfields.ColumnsOf(v)
	return table{columns: columns, Table: &finding.Table{
		Kind:       schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind},
		Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		Columns:    columns.Names(),
	}}
}

// view returns the view for an object's version, or nil if the CRD does not have that version.
func (def *Definition) view(obj map[string]any) *view {
	return def.views[input.Identify(obj).Version()]
}

// describePersisted adds the requested data about an accepted object.
func (d *decision) describePersisted(out *outcome) {
	object, old, r := out.result.Object, out.request.OldObject, d.report
	v := d.def.view(object)
	selects := v != nil && v.selects && d.Selectable
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
		now, t := d.now(), v.table()
		cells := t.columns.Cells(aged(shown, now, d.doc.Object, old), now)
		r.Row = &finding.Row{Table: t.Table, Namespace: r.Namespace, Name: r.Name, Cells: cells}
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
	s, err := v.selectable()
	if err != nil {
		return nil
	}
	set, err := s.Values(obj)
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
	s, err := v.selectable()
	if err != nil {
		return false, err
	}
	if err := s.Check(selector); err != nil {
		return false, err
	}
	return s.Matches(selector, obj, id.Namespace, id.Name)
}

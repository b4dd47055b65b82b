package verdict

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/linediff"
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

// newViews returns the views of a CRD by version.
func newViews(crd *apiextensionsv1.CustomResourceDefinition) map[string]*view {
	if crd == nil {
		return nil
	}
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
	apiVersion, _ := obj["apiVersion"].(string)
	_, version, _ := strings.Cut(apiVersion, "/")
	return def.views[version]
}

// show adds the requested data about an accepted object to the report.
func (c *Decider) show(def *Definition, req engine.Request, doc *input.Document, res *engine.Result, rep *finding.Object) {
	v := def.view(res.Object)
	selects := v != nil && v.selects && c.Selectable
	if v == nil || !selects && !c.Persisted && !c.Diff && !c.Row {
		return
	}
	mask := secret.MaskOf(def.CRD.ForEngine(), doc.Object, req.OldObject, res.Object)
	shown := mask.Object(res.Object)
	if selects {
		rep.SelectableFields = selected(v, shown)
	}
	if c.Persisted {
		rep.Persisted = shown
	}
	if c.Diff {
		rep.Diff, rep.Bug = linediff.Persisted(doc.Location(), mask.Object(doc.Object), shown)
	}
	if c.Row {
		rep.Row = c.row(v, rep.Identity, shown, doc.Object, req.OldObject)
	}
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

// row returns the row of kubectl get. If the object has no creation time, the time is taken from its
// other forms, for example the old object, or else from the clock.
func (c *Decider) row(v *view, id input.Identity, obj map[string]any, forms ...map[string]any) *finding.Row {
	now, t := c.now(), v.table()
	return &finding.Row{Table: t.Table, Namespace: id.Namespace, Name: id.Name, Cells: t.columns.Cells(aged(obj, now, forms), now)}
}

// now returns the time of requests.
func (c *Decider) now() time.Time {
	if c.Now.IsZero() {
		return time.Now()
	}
	return c.Now
}

// aged returns an object with a creation time.
func aged(obj map[string]any, now time.Time, forms []map[string]any) map[string]any {
	meta, _ := obj["metadata"].(map[string]any)
	if meta["creationTimestamp"] != nil {
		return obj
	}
	created := any(now.UTC().Format(time.RFC3339))
	for _, form := range forms {
		if given, _ := form["metadata"].(map[string]any); given["creationTimestamp"] != nil {
			created = given["creationTimestamp"]
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

// choose marks the object as not selected if --field-selector does not match seen, which is the
// object as stored, or as it would be stored. If the object's CRD does not declare a field of the
// selector, the object is reported as unreadable.
func (c *Decider) choose(def *Definition, seen map[string]any, rep *finding.Object) {
	selector := c.Selector
	if selector == nil {
		return
	}
	v := def.view(seen)
	if v == nil {
		return // an unknown version is reported elsewhere
	}
	chosen, err := v.chooses(selector, seen, rep.Identity)
	switch {
	case err != nil:
		*rep = finding.Object{Key: rep.Key, File: rep.File, Document: rep.Document, Item: rep.Item, Line: rep.Line, Identity: rep.Identity,
			Verdict: finding.Unreadable, Problem: fmt.Sprintf("--field-selector: %v", err), Warnings: []string{}, Causes: []finding.Cause{}}
	case !chosen:
		rep.Verdict = finding.Unselected
	}
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

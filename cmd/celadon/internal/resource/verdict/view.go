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

// view is what of objects of one version is shown, and chosen by. The paths of a
// CRD are read where they are asked for.
type view struct {
	table      func() table
	selectable func() (*crdfields.Selectable, error)
	// selects: the version declares selectable fields.
	selects bool
	// subresources are those that the version has.
	subresources []string
}

// table is what kubectl get shows of a version.
type table struct {
	*finding.Table
	columns *crdfields.Columns
}

// newViews are those of a CRD by version.
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

// tableOf has the columns up to one that cannot be read, as in a server.
func tableOf(crd *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion) table {
	columns, _ := crdfields.ColumnsOf(v)
	return table{columns: columns, Table: &finding.Table{
		Kind:       schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind},
		Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		Columns:    columns.Names(),
	}}
}

// view is nil for an object of no version of the CRD.
func (def *Definition) view(obj map[string]any) *view {
	_, version, _ := strings.Cut(input.Identify(obj).APIVersion, "/")
	return def.views[version]
}

// show adds to the report what is asked for of an accepted object.
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
		rep.Diff, rep.Bug = linediff.Persisted(doc.Place(), mask.Object(doc.Object), shown)
	}
	if c.Row {
		rep.Row = c.row(v, shown, doc.Object, req.OldObject)
	}
}

// selected are the values of an object's selectable fields; nil where they cannot
// be read. One without a value is the empty text.
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

// row is what kubectl get shows. An object is as old as it says, or as the one
// that it replaces: what a file has is there already; else it is new.
func (c *Decider) row(v *view, obj map[string]any, forms ...map[string]any) *finding.Row {
	now := c.Now
	if now.IsZero() {
		now = time.Now()
	}
	id, t := input.Identify(obj), v.table()
	return &finding.Row{Table: t.Table, Namespace: id.Namespace, Name: id.Name, Cells: t.columns.Cells(aged(obj, now, forms), now)}
}

// aged is an object with the time of its creation.
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

// withField is an object with one more field.
func withField(obj map[string]any, name string, value any) map[string]any {
	out := maps.Clone(obj)
	if out == nil {
		out = map[string]any{}
	}
	out[name] = value
	return out
}

// choose takes an object that --field-selector does not choose out of the report.
// What is stored is asked, or, of what is not, what would be. The selector may
// name what some CRDs have and others have not: then the object is not chosen,
// and that is told.
func (c *Decider) choose(def *Definition, seen map[string]any, rep *finding.Object) {
	selector := c.Selector
	if selector == nil {
		return
	}
	v := def.view(seen)
	if v == nil {
		return // no such version, which is told
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
